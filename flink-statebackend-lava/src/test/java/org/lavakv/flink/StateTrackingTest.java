// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collections;
import java.util.Iterator;
import java.util.Map;
import org.apache.flink.api.common.functions.AggregateFunction;
import org.apache.flink.api.common.state.AggregatingState;
import org.apache.flink.api.common.state.AggregatingStateDescriptor;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.ReducingState;
import org.apache.flink.api.common.state.ReducingStateDescriptor;
import org.apache.flink.api.common.state.StateTtlConfig;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.StateLatencyTrackOptions;
import org.apache.flink.configuration.StateSizeTrackOptions;
import org.apache.flink.metrics.Histogram;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.KeyGroupedInternalPriorityQueue;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.apache.flink.streaming.api.operators.TimerHeapInternalTimer;
import org.apache.flink.streaming.api.operators.TimerSerializer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.lavakv.flink.testing.BackendFixture;
import org.lavakv.flink.testing.RecordingMetricGroup;

/** Flink's tracking of state latencies and sizes, enabled for Lava's states. */
class StateTrackingTest {

    /** Flink measures one access out of this many. */
    private static final int SAMPLE_INTERVAL = 2;

    @TempDir Path root;

    private final RecordingMetricGroup metrics = new RecordingMetricGroup();
    private BackendFixture fixture;

    @BeforeEach
    void open() throws Exception {
        fixture = new BackendFixture(root).useMetrics(metrics);
    }

    @AfterEach
    void close() throws Exception {
        fixture.close();
    }

    private AbstractKeyedStateBackend<Integer> create(boolean latency, boolean size)
            throws Exception {
        Configuration configuration = new Configuration();
        configuration.set(StateLatencyTrackOptions.LATENCY_TRACK_ENABLED, latency);
        configuration.set(StateLatencyTrackOptions.LATENCY_TRACK_SAMPLE_INTERVAL, SAMPLE_INTERVAL);
        configuration.set(StateSizeTrackOptions.SIZE_TRACK_ENABLED, size);
        configuration.set(StateSizeTrackOptions.SIZE_TRACK_SAMPLE_INTERVAL, SAMPLE_INTERVAL);
        fixture.use(fixture.newLava(true).configure(configuration, getClass().getClassLoader()));
        return fixture.create(BackendFixture.ALL);
    }

    private static void useEveryState(AbstractKeyedStateBackend<Integer> backend) throws Exception {
        ValueState<String> value = BackendFixture.value(backend);
        ListState<Integer> list = BackendFixture.list(backend);
        MapState<String, Integer> map = BackendFixture.map(backend);
        ReducingState<Integer> sum =
                BackendFixture.state(
                        backend,
                        new ReducingStateDescriptor<>(
                                "the-sum", Integer::sum, IntSerializer.INSTANCE));
        AggregatingState<Integer, String> text = BackendFixture.state(backend, aggregating());
        for (int key = 0; key < 10; key++) {
            backend.setCurrentKey(key);
            value.update("value " + key);
            assertThat(value.value()).isEqualTo("value " + key);
            list.add(key);
            list.addAll(Arrays.asList(7, 8));
            assertThat(list.get()).containsExactly(key, 7, 8);
            list.update(Collections.singletonList(9));
            assertThat(list.get()).containsExactly(9);
            map.put("a", key);
            map.putAll(Map.of("b", 2, "c", 3));
            assertThat(map.get("a")).isEqualTo(key);
            assertThat(map.contains("b")).isTrue();
            assertThat(map.isEmpty()).isFalse();
            assertThat(map.keys()).containsExactly("a", "b", "c");
            assertThat(map.values()).containsExactly(key, 2, 3);
            assertThat(map.entries()).hasSize(3);
            for (Iterator<?> entries = map.iterator(); entries.hasNext(); ) {
                entries.next();
                entries.remove();
            }
            map.remove("a");
            assertThat(map.isEmpty()).isTrue();
            map.clear();
            sum.add(1);
            sum.add(key);
            assertThat(sum.get()).isEqualTo(1 + key);
            text.add(key);
            text.add(5);
            assertThat(text.get()).isEqualTo("sum " + (5 + key));
        }
    }

    private static AggregatingStateDescriptor<Integer, Integer, String> aggregating() {
        return new AggregatingStateDescriptor<>(
                "the-text",
                new AggregateFunction<Integer, Integer, String>() {
                    @Override
                    public Integer createAccumulator() {
                        return 0;
                    }

                    @Override
                    public Integer add(Integer value, Integer accumulator) {
                        return value + accumulator;
                    }

                    @Override
                    public String getResult(Integer accumulator) {
                        return "sum " + accumulator;
                    }

                    @Override
                    public Integer merge(Integer a, Integer b) {
                        return a + b;
                    }
                },
                IntSerializer.INSTANCE);
    }

    private Histogram histogram(String state, String name) {
        String path = ".state_name." + state + "." + name;
        assertThat(metrics.histograms()).containsKey(path);
        return metrics.histograms().get(path);
    }

    private void latencyOf(String state, String... operations) {
        for (String operation : operations) {
            Histogram histogram = histogram(state, operation + "Latency");
            assertThat(histogram.getCount()).as(operation).isPositive();
            assertThat(histogram.getStatistics().getMin()).as(operation).isPositive();
        }
    }

    @Test
    void latencies() throws Exception {
        useEveryState(create(true, false));
        latencyOf("the-value", "valueStateGet", "valueStateUpdate");
        latencyOf("the-list", "listStateGet", "listStateAdd", "listStateAddAll", "listStateUpdate");
        latencyOf(
                "the-map",
                "mapStateGet",
                "mapStatePut",
                "mapStatePutAll",
                "mapStateRemove",
                "mapStateContains",
                "mapStateIsEmpty",
                "mapStateEntriesInit",
                "mapStateKeysInit",
                "mapStateValuesInit",
                "mapStateIteratorInit",
                "mapStateIteratorHasNext",
                "mapStateIteratorNext",
                "mapStateIteratorRemove",
                "stateClear");
        latencyOf("the-sum", "reducingStateGet", "reducingStateAdd");
        latencyOf("the-text", "aggregatingStateGet", "aggregatingStateAdd");
        nothingEndsWith("Size");
    }

    private void nothingEndsWith(String end) {
        // For reducing states Flink tracks both as soon as one is enabled.
        assertThat(metrics.histograms().keySet())
                .filteredOn(name -> !name.contains(".the-sum."))
                .noneMatch(name -> name.endsWith(end));
    }

    private void sizeOf(String state, String name, long bytes) {
        assertThat(histogram(state, name + "Size").getStatistics().getValues())
                .as(name)
                .isNotEmpty()
                .containsOnly(bytes);
    }

    @Test
    void sizes() throws Exception {
        useEveryState(create(false, true));
        // An int as the key, "value n" with its length, and "a" with its length.
        sizeOf("the-value", "valueStateUpdateKey", 4);
        sizeOf("the-value", "valueStateUpdateValue", 8);
        sizeOf("the-value", "valueStateGetValue", 8);
        sizeOf("the-list", "listStateAddKey", 4);
        sizeOf("the-list", "listStateAddValue", 4);
        sizeOf("the-map", "mapStatePutKey", 4 + 2);
        sizeOf("the-map", "mapStateGetValue", 4);
        sizeOf("the-map", "mapStateIteratorKey", 4 + 2);
        sizeOf("the-sum", "reducingStateGetValue", 4);
        sizeOf("the-text", "aggregatingStateAddKey", 4);
        nothingEndsWith("Latency");
    }

    @Test
    void nothingIsTrackedUnlessSwitchedOn() throws Exception {
        useEveryState(create(false, false));
        assertThat(metrics.histograms()).isEmpty();
        assertThat(metrics.gauges()).isNotEmpty();
    }

    @Test
    void bothOverTtlTimersAndSnapshots() throws Exception {
        AbstractKeyedStateBackend<Integer> backend = create(true, true);
        KeyGroupedInternalPriorityQueue<TimerHeapInternalTimer<Integer, VoidNamespace>> queue =
                backend.create(
                        "timers",
                        new TimerSerializer<>(
                                IntSerializer.INSTANCE, VoidNamespaceSerializer.INSTANCE));
        queue.add(new TimerHeapInternalTimer<>(5, 1, VoidNamespace.INSTANCE));
        ValueState<String> value = withTtl(backend);
        backend.setCurrentKey(1);
        for (int i = 0; i < 4; i++) {
            value.update("v");
            assertThat(value.value()).isEqualTo("v");
        }
        latencyOf("with-ttl", "valueStateGet", "valueStateUpdate");
        assertThat(histogram("with-ttl", "valueStateUpdateValueSize").getCount()).isPositive();
        assertThat(queue.peek().getTimestamp()).isEqualTo(5);

        AbstractKeyedStateBackend<Integer> restored =
                fixture.create(
                        BackendFixture.ALL, BackendFixture.remote(fixture.checkpoint(backend, 1)));
        restored.setCurrentKey(1);
        assertThat(withTtl(restored).value()).isEqualTo("v");
        AbstractKeyedStateBackend<Integer> fromSavepoint =
                fixture.create(BackendFixture.ALL, BackendFixture.savepoint(backend));
        fromSavepoint.setCurrentKey(1);
        assertThat(withTtl(fromSavepoint).value()).isEqualTo("v");
    }

    private static ValueState<String> withTtl(AbstractKeyedStateBackend<Integer> backend) {
        ValueStateDescriptor<String> descriptor =
                new ValueStateDescriptor<>("with-ttl", StringSerializer.INSTANCE);
        descriptor.enableTimeToLive(StateTtlConfig.newBuilder(Duration.ofHours(1)).build());
        return BackendFixture.state(backend, descriptor);
    }
}
