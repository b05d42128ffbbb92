// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.api.common.state.StateTtlConfig;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.StateBackend;
import org.apache.flink.runtime.state.hashmap.HashMapStateBackend;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.lavakv.LavaDB;
import org.lavakv.ScanOptions;
import org.lavakv.ScanPage;
import org.lavakv.TableHandle;
import org.lavakv.TableInfo;
import org.lavakv.flink.engine.ListSegments;
import org.lavakv.flink.testing.BackendFixture;

/** Records that the engine itself drops when they expire, however the state was written. */
@Timeout(120)
class NativeTtlTest {

    private static final int KEYS = 200;
    private static final StateTtlConfig TTL =
            StateTtlConfig.newBuilder(Duration.ofSeconds(100)).build();

    @TempDir Path root;

    private final AtomicLong now = new AtomicLong(1_000_000_000L);
    private BackendFixture fixture;

    @BeforeEach
    void open() throws Exception {
        fixture = new BackendFixture(root).useTime(now::get);
    }

    @AfterEach
    void close() throws Exception {
        fixture.close();
    }

    private static <D extends StateDescriptor<?, ?>> D withTtl(D descriptor) {
        descriptor.enableTimeToLive(TTL);
        return descriptor;
    }

    private static ValueState<String> value(AbstractKeyedStateBackend<?> backend) {
        return BackendFixture.state(
                backend, withTtl(new ValueStateDescriptor<>("value", StringSerializer.INSTANCE)));
    }

    private static ListState<String> list(AbstractKeyedStateBackend<?> backend) {
        return BackendFixture.state(
                backend, withTtl(new ListStateDescriptor<>("list", StringSerializer.INSTANCE)));
    }

    private static MapState<Integer, String> map(AbstractKeyedStateBackend<?> backend) {
        return BackendFixture.state(
                backend,
                withTtl(
                        new MapStateDescriptor<>(
                                "map", IntSerializer.INSTANCE, StringSerializer.INSTANCE)));
    }

    /** Two elements of each list and one of two entries expire 60 s before the rest. */
    private void fill(AbstractKeyedStateBackend<Integer> backend) throws Exception {
        for (int key = 0; key < KEYS; key++) {
            backend.setCurrentKey(key);
            value(backend).update("value " + key);
            // Elements contain delimiters, so that only the serializer can find the boundaries.
            list(backend).addAll(Arrays.asList("early,", ",,"));
            map(backend).put(1, "early");
            if (key % 2 == 0) {
                map(backend).put(3, null);
            }
        }
        now.addAndGet(60_000);
        for (int key = 0; key < KEYS; key++) {
            backend.setCurrentKey(key);
            list(backend).add("late");
            map(backend).put(2, "late");
        }
    }

    @Test
    void lavasOwnStateExpiresInTheEngine() throws Exception {
        AbstractKeyedStateBackend<Integer> backend = fixture.create(BackendFixture.ALL);
        fill(backend);
        checkExpiry((LavaKeyedStateBackend<Integer>) backend);
    }

    @Test
    void stateOfALavaSavepointExpiresInTheEngine() throws Exception {
        checkExpiryAfterSavepointOf(fixture.newLava(true));
    }

    @Test
    void stateOfAHeapSavepointExpiresInTheEngine() throws Exception {
        checkExpiryAfterSavepointOf(new HashMapStateBackend());
    }

    private void checkExpiryAfterSavepointOf(StateBackend origin) throws Exception {
        AbstractKeyedStateBackend<Integer> before = fixture.use(origin).create(BackendFixture.ALL);
        fill(before);
        fixture.use(fixture.newLava(true));
        checkExpiry(
                (LavaKeyedStateBackend<Integer>)
                        fixture.create(BackendFixture.ALL, BackendFixture.savepoint(before)));
    }

    private void checkExpiry(LavaKeyedStateBackend<Integer> backend) throws Exception {
        value(backend);
        list(backend);
        map(backend);
        backend.compact();
        assertThat(records(backend, "value")).isEqualTo(KEYS);
        assertThat(elements(backend)).isEqualTo(3 * KEYS);
        assertThat(records(backend, "map")).isEqualTo(2 * KEYS + KEYS / 2);

        now.addAndGet(50_000);
        backend.compact();
        assertThat(records(backend, "value")).isZero();
        assertThat(elements(backend)).isEqualTo(KEYS);
        assertThat(records(backend, "map")).isEqualTo(KEYS);
        backend.setCurrentKey(8);
        assertThat(list(backend).get()).containsExactly("late");
        assertThat(map(backend).keys()).containsExactly(2);

        now.addAndGet(60_000);
        backend.compact();
        assertThat(elements(backend)).isZero();
        assertThat(backend.numKeyValueStateEntries()).isZero();
    }

    @Test
    void stateThatTheJobDoesNotRegisterStays() throws Exception {
        AbstractKeyedStateBackend<Integer> before = fixture.create(BackendFixture.ALL);
        fill(before);
        LavaKeyedStateBackend<Integer> after =
                (LavaKeyedStateBackend<Integer>)
                        fixture.create(BackendFixture.ALL, BackendFixture.savepoint(before));
        now.addAndGet(1_000_000);
        after.compact();
        assertThat(elements(after)).isEqualTo(3 * KEYS);
        assertThat(records(after, "value")).isEqualTo(KEYS);
    }

    private static long records(LavaKeyedStateBackend<?> backend, String state) throws Exception {
        long records = 0;
        ScanPage page = new ScanPage();
        for (Scan scan = new Scan(backend, state); scan.next(page); ) {
            records += page.count();
        }
        return records;
    }

    private static long elements(LavaKeyedStateBackend<?> backend) throws Exception {
        long elements = 0;
        ScanPage page = new ScanPage();
        ListSegments segments = new ListSegments();
        for (Scan scan = new Scan(backend, "list"); scan.next(page); ) {
            while (page.next()) {
                segments.reset(page.buffer(), page.valueOffset(), page.valueLength());
                while (segments.next()) {
                    assertThat(segments.kind()).isEqualTo(ListSegments.ELEMENT);
                    elements++;
                }
            }
        }
        return elements;
    }

    /** Reads the engine's records directly, because states hide expired values. */
    private static final class Scan {
        private final LavaDB db;
        private final TableHandle table;
        private final ScanOptions options = new ScanOptions();
        private boolean done;

        Scan(LavaKeyedStateBackend<?> backend, String state) throws Exception {
            db = backend.instance().db();
            TableInfo info =
                    db.listTables().stream()
                            .filter(known -> known.name().equals(state))
                            .findAny()
                            .orElseThrow();
            table = db.createTable(state, info.options());
        }

        boolean next(ScanPage page) throws Exception {
            if (done) {
                return false;
            }
            db.scan(table, options, page, null);
            options.continueAfter(page);
            done = page.done();
            return true;
        }
    }
}
