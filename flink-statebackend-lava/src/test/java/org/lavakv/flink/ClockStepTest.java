// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.apache.flink.api.common.functions.AggregateFunction;
import org.apache.flink.api.common.state.AggregatingState;
import org.apache.flink.api.common.state.AggregatingStateDescriptor;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ReducingState;
import org.apache.flink.api.common.state.ReducingStateDescriptor;
import org.apache.flink.api.common.state.State;
import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.api.common.state.StateTtlConfig;
import org.apache.flink.api.common.state.StateTtlConfig.StateVisibility;
import org.apache.flink.api.common.state.StateTtlConfig.UpdateType;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.hashmap.HashMapStateBackend;
import org.apache.flink.runtime.state.ttl.TtlTimeProvider;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.lavakv.LavaDB;
import org.lavakv.flink.engine.EngineClock;
import org.lavakv.flink.testing.BackendFixture;

/**
 * Clocks that are set: all data that Flink's TTL shows exists, whatever the engine compacts
 * meanwhile.
 */
@Timeout(120)
class ClockStepTest {

    private static final int KEYS = 40;
    private static final long MINUTE = 60_000;
    private static final long HOUR = 60 * MINUTE;

    @TempDir Path root;

    private final AtomicLong now = new AtomicLong(1_700_000_000_000L);
    private BackendFixture fixture;
    private StateTtlConfig ttl = StateTtlConfig.newBuilder(Duration.ofMinutes(30)).build();

    @BeforeEach
    void open() throws Exception {
        fixture = new BackendFixture(root).useTime(now::get);
    }

    @AfterEach
    void close() throws Exception {
        fixture.close();
    }

    private <D extends StateDescriptor<?, ?>> D withTtl(D descriptor) {
        descriptor.enableTimeToLive(ttl);
        return descriptor;
    }

    /** Concatenates texts; the accumulator is the text itself. */
    private static final class Joining implements AggregateFunction<String, String, String> {
        private static final long serialVersionUID = 1L;

        @Override
        public String createAccumulator() {
            return "";
        }

        @Override
        public String add(String value, String sum) {
            return sum + value;
        }

        @Override
        public String getResult(String sum) {
            return sum;
        }

        @Override
        public String merge(String a, String b) {
            return a + b;
        }
    }

    /** All kinds of state of one backend. */
    private final class States {
        private final AbstractKeyedStateBackend<Integer> backend;

        /**
         * Registers all kinds. Reads nothing, because Flink's TTL removes expired values on reads.
         */
        States(AbstractKeyedStateBackend<Integer> backend) throws Exception {
            this.backend = backend;
            read(
                    BackendFixture.keysIn(backend.getKeyGroupRange(), 2 * KEYS).stream()
                            .filter(key -> key >= KEYS)
                            .findFirst()
                            .orElseThrow());
        }

        private <S extends State> S of(StateDescriptor<S, ?> descriptor) {
            return BackendFixture.state(backend, withTtl(descriptor));
        }

        private ValueState<String> value() {
            return of(new ValueStateDescriptor<>("value", StringSerializer.INSTANCE));
        }

        private ListState<String> list() {
            return of(new ListStateDescriptor<>("list", StringSerializer.INSTANCE));
        }

        private MapState<Integer, String> map() {
            return of(
                    new MapStateDescriptor<>(
                            "map", IntSerializer.INSTANCE, StringSerializer.INSTANCE));
        }

        private ReducingState<String> reducing() {
            return of(
                    new ReducingStateDescriptor<>(
                            "reducing", (a, b) -> a + b, StringSerializer.INSTANCE));
        }

        private AggregatingState<String, String> aggregating() {
            return of(
                    new AggregatingStateDescriptor<>(
                            "aggregating", new Joining(), StringSerializer.INSTANCE));
        }

        void write(int key, String text) throws Exception {
            backend.setCurrentKey(key);
            value().update(text);
            list().add(text);
            map().put(text.length() % 3, text);
            reducing().add(text);
            aggregating().add(text);
        }

        /** The values of a key in each kind of state. */
        String read(int key) throws Exception {
            backend.setCurrentKey(key);
            List<String> elements = new ArrayList<>();
            Iterable<String> list = list().get();
            if (list != null) {
                list.forEach(elements::add);
            }
            Map<Integer, String> entries = new TreeMap<>();
            for (Map.Entry<Integer, String> entry : map().entries()) {
                entries.put(entry.getKey(), entry.getValue());
            }
            return value().value()
                    + " "
                    + elements
                    + " "
                    + entries
                    + " "
                    + reducing().get()
                    + " "
                    + aggregating().get();
        }

        List<String> readAll() throws Exception {
            List<String> all = new ArrayList<>();
            for (int key = 0; key < KEYS; key++) {
                all.add(read(key));
            }
            return all;
        }
    }

    private static final String NOTHING = "null [] {} null null";

    private static LavaDB engine(AbstractKeyedStateBackend<?> backend) {
        return ((LavaKeyedStateBackend<?>) backend).instance().db();
    }

    /** Drops everything that has expired by the engine's knowledge of the time. */
    private static void compact(AbstractKeyedStateBackend<?> backend) throws Exception {
        engine(backend).flush();
        engine(backend).compactAll();
    }

    /** Small values, and some that go to value files. */
    private static String text(int key) {
        return "value " + key + "-".repeat(key % 4 == 0 ? 3_000 : 10);
    }

    private static void fill(States states) throws Exception {
        for (int key = 0; key < KEYS; key++) {
            states.write(key, text(key));
        }
    }

    @Test
    void whatIsWrittenAfterTheClockWasSetBackStays() throws Exception {
        States states = new States(fixture.create(BackendFixture.ALL));
        now.addAndGet(-HOUR);
        fill(states);
        List<String> written = states.readAll();
        compact(states.backend);
        assertThat(states.readAll()).isEqualTo(written).doesNotContain(NOTHING);
    }

    @Test
    void checkpointOfAMachineWhoseClockWasAheadLosesNothing() throws Exception {
        States states = new States(fixture.create(BackendFixture.ALL));
        fill(states);
        List<String> written = states.readAll();
        KeyedStateHandle last = BackendFixture.remote(fixture.checkpoint(states.backend, 1));
        now.addAndGet(2 * HOUR);
        for (int checkpoint = 2; checkpoint < 5; checkpoint++) {
            states = new States(fixture.create(BackendFixture.ALL, last));
            compact(states.backend);
            last = BackendFixture.remote(fixture.checkpoint(states.backend, checkpoint));
        }
        now.addAndGet(-2 * HOUR);
        for (KeyedStateHandle handle : List.of(last, BackendFixture.savepoint(states.backend))) {
            States after = new States(fixture.create(BackendFixture.ALL, handle));
            compact(after.backend);
            assertThat(after.readAll()).isEqualTo(written);
        }
    }

    @Test
    void rescaledUnderAClockThatIsAheadLosesNothing() throws Exception {
        States states = new States(fixture.create(BackendFixture.ALL));
        fill(states);
        List<String> written = states.readAll();
        KeyedStateHandle whole = BackendFixture.remote(fixture.checkpoint(states.backend, 1));
        now.addAndGet(2 * HOUR);
        List<KeyedStateHandle> parts = new ArrayList<>();
        for (var range : List.of(BackendFixture.LOW, BackendFixture.HIGH)) {
            AbstractKeyedStateBackend<Integer> part = fixture.create(range, whole);
            new States(part);
            compact(part);
            parts.add(BackendFixture.remote(fixture.checkpoint(part, 2)));
        }
        now.addAndGet(-2 * HOUR);
        States after = new States(fixture.create(BackendFixture.ALL, parts));
        compact(after.backend);
        assertThat(after.readAll()).isEqualTo(written);
    }

    /** The time at which a canonical savepoint was written is unknown. */
    @Test
    void savepointRestoredUnderAClockThatIsAheadLosesNothing() throws Exception {
        fixture.use(new HashMapStateBackend());
        States states = new States(fixture.create(BackendFixture.ALL));
        fill(states);
        List<String> written = states.readAll();
        KeyedStateHandle savepoint = BackendFixture.savepoint(states.backend);
        fixture.use(fixture.newLava(true));
        now.addAndGet(2 * HOUR);
        AbstractKeyedStateBackend<Integer> ahead = fixture.create(BackendFixture.ALL, savepoint);
        new States(ahead);
        compact(ahead);
        now.addAndGet(-2 * HOUR);
        assertThat(new States(ahead).readAll()).isEqualTo(written);
    }

    static Stream<Arguments> configurations() {
        return Stream.of(UpdateType.OnCreateAndWrite, UpdateType.OnReadAndWrite)
                .flatMap(
                        update ->
                                Stream.of(StateVisibility.values())
                                        .map(shown -> Arguments.of(update, shown)));
    }

    /** The steady clock confirms none of the steps, so all results must equal those of the heap. */
    @ParameterizedTest
    @MethodSource("configurations")
    void whicheverWayTheClockGoesReadsAreAsOnTheHeap(UpdateType update, StateVisibility shown)
            throws Exception {
        ttl =
                StateTtlConfig.newBuilder(Duration.ofMinutes(30))
                        .setUpdateType(update)
                        .setStateVisibility(shown)
                        // Cleanup in the engine, but not on the heap.
                        .disableCleanupInBackground()
                        .cleanupInRocksdbCompactFilter(1000)
                        .build();
        fixture.use(new HashMapStateBackend());
        States heap = new States(fixture.create(BackendFixture.ALL));
        fixture.use(fixture.newLava(true));
        States lava = new States(fixture.create(BackendFixture.ALL));
        Random random = new Random(5);
        long[] steps = {10 * MINUTE, -20 * MINUTE, 2 * HOUR, -2 * HOUR, 0, MINUTE};
        for (int round = 0; round < 24; round++) {
            now.addAndGet(steps[random.nextInt(steps.length)]);
            for (int i = 0; i < KEYS / 2; i++) {
                int key = random.nextInt(KEYS);
                heap.write(key, text(key) + round);
                lava.write(key, text(key) + round);
            }
            now.addAndGet(steps[random.nextInt(steps.length)]);
            compact(lava.backend);
            if (round % 8 == 7) {
                KeyedStateHandle checkpoint =
                        BackendFixture.remote(fixture.checkpoint(lava.backend, round));
                fixture.close(lava.backend);
                lava = new States(fixture.create(BackendFixture.ALL, checkpoint));
                compact(lava.backend);
            }
            assertThat(lava.readAll()).as("round " + round).isEqualTo(heap.readAll());
        }
    }

    /**
     * Below a changelog Flink uses its own clock; the engine learns the time from written values.
     */
    @Test
    void timestampsTellTheEngineOfAStepBack() throws Exception {
        AbstractKeyedStateBackend<Integer> backend = fixture.create(BackendFixture.ALL);
        AtomicLong asked = new AtomicLong();
        EngineClock clock =
                new EngineClock(
                        () -> {
                            asked.incrementAndGet();
                            return now.get();
                        },
                        engine(backend),
                        null);
        long start = now.get();
        long before = asked.get();
        clock.writes(start);
        clock.writes(start + 999);
        assertThat(asked.get()).isEqualTo(before);
        now.addAndGet(-HOUR);
        clock.writes(now.get());
        assertThat(engine(backend).time().timeMs()).isEqualTo(start - HOUR);
        assertThat(clock.currentTimestamp()).isEqualTo(start - HOUR);
    }

    /** Changes that a changelog replays: no checkpoint of the engine contains their time. */
    @Test
    void changesOfAnEarlierTimeAreHeldAgainstTheClock() throws Exception {
        AbstractKeyedStateBackend<Integer> backend = fixture.create(BackendFixture.ALL);
        EngineClock clock = new EngineClock(now::get, engine(backend), null);
        long start = now.get();
        clock.writes(start - HOUR);
        clock.writes(start - HOUR + 5);
        assertThat(engine(backend).time().timeMs())
                .isBetween(start - HOUR, start - HOUR + 10 * MINUTE);
        assertThat(engine(backend).time().leadMs()).isPositive();
        assertThat(clock.currentTimestamp()).isEqualTo(start);
    }

    @Test
    void whatTheClocksAgreeOnExpiresInTheEngine() throws Exception {
        ttl = StateTtlConfig.newBuilder(Duration.ofMillis(1)).build();
        fixture.useTime(TtlTimeProvider.DEFAULT);
        States states = new States(fixture.create(BackendFixture.ALL));
        fill(states);
        long written = System.currentTimeMillis();
        long steady = System.nanoTime();
        while (System.currentTimeMillis() < written + 20
                || System.nanoTime() - steady < 20_000_000) {
            Thread.onSpinWait();
        }
        fixture.checkpoint(states.backend, 1);
        compact(states.backend);
        assertThat(states.backend.numKeyValueStateEntries()).isZero();
    }
}
