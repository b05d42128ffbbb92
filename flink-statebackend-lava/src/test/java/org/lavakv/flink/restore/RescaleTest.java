// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.restore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.lavakv.flink.testing.BackendFixture.ALL;
import static org.lavakv.flink.testing.BackendFixture.HIGH;
import static org.lavakv.flink.testing.BackendFixture.LOW;
import static org.lavakv.flink.testing.BackendFixture.keysIn;
import static org.lavakv.flink.testing.BackendFixture.remote;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.runtime.execution.CancelTaskException;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.BackendBuildingException;
import org.apache.flink.runtime.state.IncrementalRemoteKeyedStateHandle;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.PhysicalStateHandleID;
import org.apache.flink.runtime.state.SharedStateRegistryImpl;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.lavakv.flink.LavaKeyedStateBackend;
import org.lavakv.flink.testing.BackendFixture;
import org.lavakv.flink.testing.StateContent;

/** Checkpoints restored with another parallelism. */
@Timeout(300)
class RescaleTest {

    private static final int KEYS = 600;

    @TempDir Path root;
    private BackendFixture fixture;
    private final SharedStateRegistryImpl registry = new SharedStateRegistryImpl();
    private long nextCheckpoint = 1;

    @BeforeEach
    void open() throws Exception {
        fixture = new BackendFixture(root);
    }

    @AfterEach
    void close() throws Exception {
        fixture.close();
    }

    private KeyedStateHandle checkpoint(AbstractKeyedStateBackend<Integer> backend)
            throws Exception {
        long id = nextCheckpoint++;
        KeyedStateHandle handle = remote(fixture.checkpoint(backend, id));
        handle.registerSharedStates(registry, id);
        backend.notifyCheckpointComplete(id);
        return handle;
    }

    private static void change(
            AbstractKeyedStateBackend<Integer> backend, KeyGroupRange range, int round)
            throws Exception {
        StateContent.change(backend, keysIn(range, KEYS), round);
    }

    private static Map<Integer, String> read(
            AbstractKeyedStateBackend<Integer> backend, KeyGroupRange range) throws Exception {
        return StateContent.read(backend, keysIn(range, KEYS));
    }

    private static void compact(AbstractKeyedStateBackend<Integer> backend) throws Exception {
        ((LavaKeyedStateBackend<Integer>) backend).compact();
    }

    /** The content after the same rounds of a backend that was never rescaled. */
    private Map<Integer, String> expected(int rounds) throws Exception {
        AbstractKeyedStateBackend<Integer> all = fixture.create(ALL);
        for (int round = 0; round < rounds; round++) {
            change(all, ALL, round);
        }
        Map<Integer, String> content = read(all, ALL);
        fixture.close(all);
        return content;
    }

    @Test
    void outAndInAgainKeepsEverything() throws Exception {
        outAndIn(false);
    }

    @Test
    void outAndInAgainKeepsEverythingWithCompactionsBetween() throws Exception {
        outAndIn(true);
    }

    /** A table is identified by its state's name, independent of the order of registration. */
    @ParameterizedTest(name = "by canonical savepoints: {0}")
    @ValueSource(booleans = {false, true})
    void subtasksThatRegisterStatesInDifferentOrderScaleIn(boolean savepoints) throws Exception {
        List<KeyedStateHandle> halves = new ArrayList<>();
        for (KeyGroupRange range : List.of(LOW, HIGH)) {
            AbstractKeyedStateBackend<Integer> half = fixture.create(range);
            if (range == LOW) {
                other(half, "first");
                BackendFixture.value(half);
                BackendFixture.list(half);
                BackendFixture.map(half);
                other(half, "second");
            } else {
                other(half, "second");
                BackendFixture.map(half);
                BackendFixture.list(half);
                BackendFixture.value(half);
                other(half, "first");
            }
            change(half, range, 0);
            for (int key : keysIn(range, KEYS)) {
                half.setCurrentKey(key);
                other(half, "first").update("first of " + key);
                other(half, "second").update("second of " + key);
            }
            halves.add(savepoints ? BackendFixture.savepoint(half) : checkpoint(half));
            fixture.close(half);
        }
        AbstractKeyedStateBackend<Integer> whole = fixture.create(ALL, halves);
        assertThat(read(whole, ALL)).isEqualTo(expected(1));
        for (int key : keysIn(ALL, KEYS)) {
            whole.setCurrentKey(key);
            assertThat(other(whole, "first").value()).isEqualTo("first of " + key);
            assertThat(other(whole, "second").value()).isEqualTo("second of " + key);
        }
    }

    private static ValueState<String> other(AbstractKeyedStateBackend<?> backend, String name) {
        return BackendFixture.state(
                backend, new ValueStateDescriptor<>(name, StringSerializer.INSTANCE));
    }

    private void outAndIn(boolean compact) throws Exception {
        AbstractKeyedStateBackend<Integer> whole = fixture.create(ALL);
        change(whole, ALL, 0);
        checkpoint(whole);
        change(whole, ALL, 1);
        KeyedStateHandle before = checkpoint(whole);
        fixture.close(whole);

        AbstractKeyedStateBackend<Integer> low = fixture.create(LOW, before);
        AbstractKeyedStateBackend<Integer> high = fixture.create(HIGH, before);
        change(low, LOW, 2);
        if (compact) {
            compact(low);
        }
        change(high, HIGH, 2);
        change(low, LOW, 3);
        change(high, HIGH, 3);
        KeyedStateHandle ofLow = checkpoint(low);
        KeyedStateHandle ofHigh = checkpoint(high);
        fixture.close(low);
        fixture.close(high);

        whole = fixture.create(ALL, ofLow, ofHigh);
        assertThat(read(whole, ALL)).isEqualTo(expected(4));
        if (compact) {
            compact(whole);
            assertThat(read(whole, ALL)).isEqualTo(expected(4));
        }
        change(whole, ALL, 4);
        KeyedStateHandle after = checkpoint(whole);
        fixture.close(whole);
        assertThat(read(fixture.create(ALL, after), ALL)).isEqualTo(expected(5));
    }

    @Test
    void unchangedFileOfBothHalvesIsAdoptedFromBoth() throws Exception {
        AbstractKeyedStateBackend<Integer> whole = fixture.create(ALL);
        change(whole, ALL, 0);
        KeyedStateHandle before = checkpoint(whole);
        AbstractKeyedStateBackend<Integer> low = fixture.create(LOW, before);
        AbstractKeyedStateBackend<Integer> high = fixture.create(HIGH, before);
        KeyedStateHandle ofLow = checkpoint(low);
        KeyedStateHandle ofHigh = checkpoint(high);
        assertThat(read(fixture.create(ALL, ofLow, ofHigh), ALL)).isEqualTo(expected(1));
    }

    @Test
    void manyStepsWithUnevenRanges() throws Exception {
        List<List<KeyGroupRange>> steps =
                List.of(
                        List.of(ALL),
                        List.of(KeyGroupRange.of(0, 2), KeyGroupRange.of(3, 7)),
                        List.of(
                                KeyGroupRange.of(0, 1),
                                KeyGroupRange.of(2, 4),
                                KeyGroupRange.of(5, 7)),
                        List.of(KeyGroupRange.of(0, 3), KeyGroupRange.of(4, 7)),
                        List.of(ALL));
        List<KeyedStateHandle> handles = List.of();
        int round = 0;
        Map<Integer, String> content = new TreeMap<>();
        for (List<KeyGroupRange> ranges : steps) {
            List<KeyedStateHandle> next = new ArrayList<>();
            content.clear();
            for (KeyGroupRange range : ranges) {
                List<KeyedStateHandle> overlapping =
                        handles.stream()
                                .filter(h -> h.getIntersection(range) != null)
                                .collect(Collectors.toList());
                AbstractKeyedStateBackend<Integer> backend = fixture.create(range, overlapping);
                change(backend, range, round);
                content.putAll(read(backend, range));
                next.add(checkpoint(backend));
                fixture.close(backend);
            }
            handles = next;
            round++;
        }
        assertThat(content).isEqualTo(expected(steps.size()));
        assertThat(read(fixture.create(ALL, handles), ALL)).isEqualTo(content);
    }

    @Test
    void rescaledBackendBeginsItsOwnHistory() throws Exception {
        AbstractKeyedStateBackend<Integer> whole = fixture.create(ALL);
        change(whole, ALL, 0);
        KeyedStateHandle before = checkpoint(whole);
        AbstractKeyedStateBackend<Integer> low = fixture.create(LOW, before);
        IncrementalRemoteKeyedStateHandle handle =
                (IncrementalRemoteKeyedStateHandle) remote(fixture.checkpoint(low, 9));
        assertThat(handle.getBackendIdentifier())
                .isNotEqualTo(((IncrementalRemoteKeyedStateHandle) before).getBackendIdentifier());
        assertThat(handle.getCheckpointedSize()).isEqualTo(handle.getStateSize());
    }

    /** Handles as Flink's changelog passes them after two rescales; see {@link NativeRestore}. */
    @Test
    void handlesThatOverlapAreRefused() throws Exception {
        AbstractKeyedStateBackend<Integer> whole = fixture.create(ALL);
        change(whole, ALL, 0);
        KeyedStateHandle handle = checkpoint(whole);
        fixture.close(whole);
        assertThatThrownBy(() -> fixture.create(LOW, handle, handle))
                .hasMessageContaining("contain the key groups [0, 3]")
                .hasMessageContaining("switch the changelog off");
        assertThat(fixture.instanceDirectories()).isEmpty();
    }

    @Test
    void otherLengthOfTheKeyGroupIsRefused() throws Exception {
        AbstractKeyedStateBackend<Integer> whole = fixture.create(ALL);
        change(whole, ALL, 0);
        KeyedStateHandle before = checkpoint(whole);
        fixture.close(whole);
        fixture.useKeyGroups(1024);
        assertThatThrownBy(() -> fixture.create(KeyGroupRange.of(0, 1023), before))
                .isInstanceOf(BackendBuildingException.class)
                .hasMessageContaining("maximum parallelism of 1024");
        assertThat(BackendFixture.filesIn(fixture.instances())).isEmpty();
    }

    @Test
    void interruptedRestoreLeavesNothing() throws Exception {
        AbstractKeyedStateBackend<Integer> whole = fixture.create(ALL);
        change(whole, ALL, 0);
        IncrementalRemoteKeyedStateHandle handle =
                (IncrementalRemoteKeyedStateHandle) checkpoint(whole);
        fixture.close(whole);
        IncrementalRemoteKeyedStateHandle interrupting =
                new IncrementalRemoteKeyedStateHandle(
                        handle.getBackendIdentifier(),
                        handle.getKeyGroupRange(),
                        handle.getCheckpointId(),
                        handle.getSharedState(),
                        handle.getPrivateState(),
                        new InterruptingHandle(handle.getMetaDataStateHandle()));
        assertThatThrownBy(() -> fixture.create(ALL, interrupting))
                .isInstanceOf(BackendBuildingException.class)
                .hasCauseInstanceOf(CancelTaskException.class);
        assertThat(Thread.interrupted()).isTrue();
        assertThat(BackendFixture.filesIn(fixture.instances())).isEmpty();
        assertThat(read(fixture.create(ALL, handle), ALL)).isEqualTo(expected(1));
    }

    /** When it is read, it interrupts the thread that created it, and then takes some time. */
    private static final class InterruptingHandle implements StreamStateHandle {
        private static final long serialVersionUID = 1L;

        private final StreamStateHandle handle;
        private final transient Thread maker = Thread.currentThread();

        InterruptingHandle(StreamStateHandle handle) {
            this.handle = handle;
        }

        @Override
        public FSDataInputStream openInputStream() throws IOException {
            maker.interrupt();
            try {
                Thread.sleep(100);
            } catch (InterruptedException e) {
                throw new IOException(e);
            }
            return handle.openInputStream();
        }

        @Override
        public Optional<byte[]> asBytesIfInMemory() {
            return Optional.empty();
        }

        @Override
        public PhysicalStateHandleID getStreamStateHandleID() {
            return handle.getStreamStateHandleID();
        }

        @Override
        public void discardState() throws Exception {
            handle.discardState();
        }

        @Override
        public long getStateSize() {
            return handle.getStateSize();
        }
    }
}
