// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.flink.api.common.functions.AggregateFunction;
import org.apache.flink.api.common.functions.ReduceFunction;
import org.apache.flink.api.common.state.AggregatingStateDescriptor;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ReducingState;
import org.apache.flink.api.common.state.ReducingStateDescriptor;
import org.apache.flink.api.common.state.StateTtlConfig;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.common.typeutils.base.array.BytePrimitiveArraySerializer;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.hashmap.HashMapStateBackend;
import org.apache.flink.runtime.state.internal.InternalAggregatingState;
import org.apache.flink.runtime.state.internal.InternalListState;
import org.apache.flink.runtime.state.internal.InternalReducingState;
import org.apache.flink.streaming.api.windowing.windows.TimeWindow;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.lavakv.flink.testing.BackendFixture;

/**
 * Lists and values larger than the memory of their backend: accepted data can be read, merged,
 * migrated, saved and restored with the same memory.
 */
class LargeStateTest {

    private static final int MEMORY = 16 << 20;
    private static final int MIB = 1 << 20;
    private static final int ELEMENT_BYTES = 250_000;

    /** In total more than half of the memory. */
    private static final int ELEMENTS = 40;

    private static final ListStateDescriptor<byte[]> LIST =
            new ListStateDescriptor<>("large-list", BytePrimitiveArraySerializer.INSTANCE);
    private static final ValueStateDescriptor<byte[]> VALUE =
            new ValueStateDescriptor<>("large-value", BytePrimitiveArraySerializer.INSTANCE);
    private static final MapStateDescriptor<Integer, byte[]> MAP =
            new MapStateDescriptor<>(
                    "large-map", IntSerializer.INSTANCE, BytePrimitiveArraySerializer.INSTANCE);
    private static final ReducingStateDescriptor<byte[]> JOINED =
            new ReducingStateDescriptor<>(
                    "large-sum", LargeStateTest::join, BytePrimitiveArraySerializer.INSTANCE);

    private static final TimeWindow FIRST = new TimeWindow(0, 1);
    private static final TimeWindow SECOND = new TimeWindow(1, 2);
    private static final TimeWindow THIRD = new TimeWindow(2, 3);

    @TempDir Path root;

    private BackendFixture fixture;
    private AbstractKeyedStateBackend<Integer> backend;

    @BeforeEach
    void open() throws Exception {
        fixture = new BackendFixture(root).useManagedMemory(MEMORY);
        backend = create();
    }

    @AfterEach
    void close() throws Exception {
        fixture.close();
    }

    private AbstractKeyedStateBackend<Integer> create(KeyedStateHandle... from) throws Exception {
        AbstractKeyedStateBackend<Integer> created = fixture.create(BackendFixture.ALL, from);
        created.setCurrentKey(1);
        return created;
    }

    private static byte[] join(byte[] left, byte[] right) {
        byte[] joined = Arrays.copyOf(left, left.length + right.length);
        System.arraycopy(right, 0, joined, left.length, right.length);
        return joined;
    }

    private static byte[] bytes(int seed, int length) {
        byte[] bytes = new byte[length];
        new Random(seed).nextBytes(bytes);
        return bytes;
    }

    private static void grow(ListState<byte[]> list) throws Exception {
        for (int i = 0; i < ELEMENTS; i++) {
            list.add(bytes(i, ELEMENT_BYTES));
        }
    }

    private static void assertGrown(Iterable<byte[]> list) {
        int i = 0;
        for (byte[] element : list) {
            assertThat(Arrays.equals(element, bytes(i++, ELEMENT_BYTES))).isTrue();
        }
        assertThat(i).isEqualTo(ELEMENTS);
    }

    private static void assertValue(byte[] value, int seed, int length) {
        assertThat(Arrays.equals(value, bytes(seed, length))).isTrue();
    }

    @Test
    void listThatAddLetGrowIsRestoredFromItsSavepointAndCheckpoint() throws Exception {
        ListState<byte[]> list = BackendFixture.state(backend, LIST);
        grow(list);
        assertGrown(list.get());
        KeyedStateHandle savepoint = BackendFixture.savepoint(backend);
        KeyedStateHandle checkpoint = BackendFixture.remote(fixture.checkpoint(backend, 1));
        for (KeyedStateHandle handle : List.of(savepoint, checkpoint)) {
            AbstractKeyedStateBackend<Integer> restored = create(handle);
            ListState<byte[]> again = BackendFixture.state(restored, LIST);
            assertGrown(again.get());
            again.add(bytes(ELEMENTS, 10));
            assertThat(again.get()).hasSize(ELEMENTS + 1);
            KeyedStateHandle once = BackendFixture.savepoint(restored);
            fixture.close(restored);
            restored = create(once);
            assertThat(BackendFixture.state(restored, LIST).get()).hasSize(ELEMENTS + 1);
            fixture.close(restored);
        }
    }

    @Test
    void valuesOfSeveralTimesTheMemoryAreKept() throws Exception {
        ValueState<byte[]> value = BackendFixture.state(backend, VALUE);
        MapState<Integer, byte[]> map = BackendFixture.state(backend, MAP);
        ReducingState<byte[]> sum = BackendFixture.state(backend, JOINED);
        ListState<byte[]> list = BackendFixture.state(backend, LIST);
        value.update(bytes(1, 10 * MIB));
        value.update(bytes(2, 24 * MIB));
        map.put(1, bytes(3, 10 * MIB));
        map.put(2, bytes(4, 10));
        map.put(3, bytes(5, 24 * MIB));
        sum.add(bytes(6, 6 * MIB));
        sum.add(bytes(7, 6 * MIB));
        list.addAll(List.of(bytes(8, 12 * MIB), bytes(9, 12 * MIB)));
        list.update(List.of(bytes(10, 10 * MIB), bytes(11, 10 * MIB)));
        list.add(bytes(12, 10 * MIB));
        assertAllOfThem(backend);
        KeyedStateHandle savepoint = BackendFixture.savepoint(backend);
        KeyedStateHandle checkpoint = BackendFixture.remote(fixture.checkpoint(backend, 1));
        fixture.close(backend);
        for (KeyedStateHandle handle : List.of(savepoint, checkpoint)) {
            AbstractKeyedStateBackend<Integer> restored = create(handle);
            assertAllOfThem(restored);
            fixture.close(restored);
        }
        // Also with rescaling.
        int owner = BackendFixture.keysIn(BackendFixture.LOW, 2).contains(1) ? 0 : 1;
        AbstractKeyedStateBackend<Integer> half =
                fixture.create(owner == 0 ? BackendFixture.LOW : BackendFixture.HIGH, checkpoint);
        half.setCurrentKey(1);
        assertAllOfThem(half);
    }

    private static void assertAllOfThem(AbstractKeyedStateBackend<Integer> of) throws Exception {
        assertValue(BackendFixture.state(of, VALUE).value(), 2, 24 * MIB);
        MapState<Integer, byte[]> map = BackendFixture.state(of, MAP);
        assertValue(map.get(3), 5, 24 * MIB);
        int entries = 0;
        for (Map.Entry<Integer, byte[]> entry : map.entries()) {
            int[] lengths = {10 * MIB, 10, 24 * MIB};
            assertValue(entry.getValue(), entry.getKey() + 2, lengths[entry.getKey() - 1]);
            entries++;
        }
        assertThat(entries).isEqualTo(3);
        byte[] sum = join(bytes(6, 6 * MIB), bytes(7, 6 * MIB));
        assertThat(Arrays.equals(BackendFixture.state(of, JOINED).get(), sum)).isTrue();
        int seed = 10;
        for (byte[] element : BackendFixture.state(of, LIST).get()) {
            assertValue(element, seed++, 10 * MIB);
        }
        assertThat(seed).isEqualTo(13);
    }

    @Test
    void savepointOfAnotherBackendWithLargeValuesIsTakenOver() throws Exception {
        fixture.use(new HashMapStateBackend());
        AbstractKeyedStateBackend<Integer> heap = create();
        BackendFixture.state(heap, VALUE).update(bytes(1, 24 * MIB));
        grow(BackendFixture.state(heap, LIST));
        KeyedStateHandle savepoint = BackendFixture.savepoint(heap);
        fixture.close(heap);
        fixture.use(fixture.newLava(true));
        AbstractKeyedStateBackend<Integer> restored = create(savepoint);
        assertValue(BackendFixture.state(restored, VALUE).value(), 1, 24 * MIB);
        assertGrown(BackendFixture.state(restored, LIST).get());
    }

    private <S> S windows(org.apache.flink.api.common.state.StateDescriptor<?, ?> descriptor)
            throws Exception {
        @SuppressWarnings("unchecked")
        S state =
                (S) (Object) backend.getOrCreateKeyedState(new TimeWindow.Serializer(), descriptor);
        return state;
    }

    @Test
    void windowsOfLargeListsAreMerged() throws Exception {
        InternalListState<Integer, TimeWindow, byte[]> list = windows(LIST);
        list.setCurrentNamespace(SECOND);
        grow(list);
        list.setCurrentNamespace(THIRD);
        list.add(bytes(1, 10));
        // One of the sources twice, and the target among the sources.
        list.mergeNamespaces(FIRST, List.of(SECOND, SECOND));
        list.mergeNamespaces(FIRST, List.of(FIRST, THIRD));
        list.setCurrentNamespace(FIRST);
        List<byte[]> merged = new ArrayList<>();
        list.get().forEach(merged::add);
        assertThat(merged).hasSize(ELEMENTS + 1);
        assertGrown(merged.subList(0, ELEMENTS));
        for (TimeWindow source : List.of(SECOND, THIRD)) {
            list.setCurrentNamespace(source);
            assertThat(list.get()).isNull();
        }
    }

    /**
     * Regression: sources were emptied first, so that each retry of the job lost their elements.
     */
    @Test
    void mergeThatFailsLeavesItsSources() throws Exception {
        ReduceFunction<byte[]> fails =
                (left, right) -> {
                    throw new IllegalStateException("refused");
                };
        InternalReducingState<Integer, TimeWindow, byte[]> sum =
                windows(
                        new ReducingStateDescriptor<>(
                                "failing-sum", fails, BytePrimitiveArraySerializer.INSTANCE));
        InternalAggregatingState<Integer, TimeWindow, byte[], byte[], byte[]> aggregate =
                windows(
                        new AggregatingStateDescriptor<>(
                                "failing-aggregate",
                                new FailingToMerge(),
                                BytePrimitiveArraySerializer.INSTANCE));
        for (TimeWindow window : List.of(FIRST, SECOND, THIRD)) {
            sum.setCurrentNamespace(window);
            sum.updateInternal(bytes((int) window.getStart(), 10));
            aggregate.setCurrentNamespace(window);
            aggregate.updateInternal(bytes((int) window.getStart(), 10));
        }
        for (List<TimeWindow> sources : List.of(List.of(SECOND), List.of(SECOND, THIRD))) {
            assertThatThrownBy(() -> sum.mergeNamespaces(FIRST, sources)).hasMessage("refused");
            assertThatThrownBy(() -> aggregate.mergeNamespaces(FIRST, sources))
                    .hasMessage("refused");
        }
        for (TimeWindow window : List.of(FIRST, SECOND, THIRD)) {
            sum.setCurrentNamespace(window);
            assertValue(sum.getInternal(), (int) window.getStart(), 10);
            aggregate.setCurrentNamespace(window);
            assertValue(aggregate.getInternal(), (int) window.getStart(), 10);
        }
    }

    private static final class FailingToMerge implements AggregateFunction<byte[], byte[], byte[]> {
        @Override
        public byte[] createAccumulator() {
            return new byte[0];
        }

        @Override
        public byte[] add(byte[] value, byte[] accumulator) {
            return join(accumulator, value);
        }

        @Override
        public byte[] getResult(byte[] accumulator) {
            return accumulator;
        }

        @Override
        public byte[] merge(byte[] left, byte[] right) {
            throw new IllegalStateException("refused");
        }
    }

    @Test
    void ttlIsSwitchedOnForALargeListAndRenewedByReads() throws Exception {
        grow(BackendFixture.state(backend, LIST));
        List<KeyedStateHandle> handles =
                List.of(
                        BackendFixture.remote(fixture.checkpoint(backend, 1)),
                        BackendFixture.savepoint(backend));
        fixture.close(backend);
        ListStateDescriptor<byte[]> expiring =
                new ListStateDescriptor<>("large-list", BytePrimitiveArraySerializer.INSTANCE);
        expiring.enableTimeToLive(
                StateTtlConfig.newBuilder(Duration.ofDays(1)).updateTtlOnReadAndWrite().build());
        for (KeyedStateHandle handle : handles) {
            AbstractKeyedStateBackend<Integer> restored = create(handle);
            ListState<byte[]> list = BackendFixture.state(restored, expiring);
            for (int read = 0; read < 2; read++) {
                assertGrown(list.get());
            }
            KeyedStateHandle savepoint = BackendFixture.savepoint(restored);
            fixture.close(restored);
            restored = create(savepoint);
            assertGrown(BackendFixture.state(restored, expiring).get());
            fixture.close(restored);
        }
    }

    @Test
    void emptyMergesChangeNothing() throws Exception {
        InternalListState<Integer, TimeWindow, byte[]> list = windows(LIST);
        list.mergeNamespaces(FIRST, List.of(SECOND));
        list.mergeNamespaces(FIRST, Collections.emptyList());
        list.setCurrentNamespace(FIRST);
        assertThat(list.get()).isNull();
    }
}
