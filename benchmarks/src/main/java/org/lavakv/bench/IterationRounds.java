// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.bench;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.State;
import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.StateBackendOptions;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.KeyGroupedInternalPriorityQueue;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.apache.flink.streaming.api.operators.TimerHeapInternalTimer;
import org.apache.flink.streaming.api.operators.TimerSerializer;
import org.apache.flink.util.CloseableIterator;

/**
 * Measures iteration over state that nobody writes meanwhile, and writes while no iterator is open,
 * in the version of the plugin that its class path has. {@code benchmarks/iteration.py} runs one
 * process for each version and compares them round by round.
 *
 * <p>Prints the names of the cases. Then it answers each line of its input with one round: for each
 * case, the nanoseconds of CPU time and the bytes of heap that its thread took for an entry.
 */
final class IterationRounds {

    private static final int ENTRIES = 20_000;
    private static final int SMALL_MAP = 10;
    private static final int PASSES = 5;
    private static final int WARM_UP_PASSES = 60;

    private final AbstractKeyedStateBackend<Integer> backend;
    private final MapState<Long, String> large;
    private final MapState<Long, String> small;
    private final ValueState<String> values;
    private final KeyGroupedInternalPriorityQueue<TimerHeapInternalTimer<Integer, VoidNamespace>>
            timers;
    private final Map<String, Callable<Integer>> cases = new LinkedHashMap<>();
    private long sum;

    private IterationRounds(AbstractKeyedStateBackend<Integer> backend) throws Exception {
        this.backend = backend;
        large = state(map("large"));
        small = state(map("small"));
        values = state(new ValueStateDescriptor<>("values", StringSerializer.INSTANCE));
        timers =
                backend.create(
                        "timers",
                        new TimerSerializer<>(
                                IntSerializer.INSTANCE, VoidNamespaceSerializer.INSTANCE));
        cases.put("entries of a map of 20,000", () -> entries(large, 1));
        cases.put("entries of 2,000 maps of 10", this::smallMaps);
        cases.put("keys of a state with 20,000", this::keys);
        cases.put("20,000 timers", this::timers);
        cases.put("updates of 20,000 values, no iterator open", this::update);
    }

    private static MapStateDescriptor<Long, String> map(String name) {
        return new MapStateDescriptor<>(name, LongSerializer.INSTANCE, StringSerializer.INSTANCE);
    }

    private <S extends State> S state(StateDescriptor<S, ?> descriptor) throws Exception {
        return backend.getPartitionedState(
                VoidNamespace.INSTANCE, VoidNamespaceSerializer.INSTANCE, descriptor);
    }

    private void fill() throws Exception {
        fill(large, 1, ENTRIES);
        for (int key = 0; key < ENTRIES / SMALL_MAP; key++) {
            fill(small, key, SMALL_MAP);
        }
        update();
        for (int key = 0; key < ENTRIES; key++) {
            timers.add(new TimerHeapInternalTimer<>(1_000_000L + key, key, VoidNamespace.INSTANCE));
        }
    }

    private void fill(MapState<Long, String> map, int key, int entries) throws Exception {
        backend.setCurrentKey(key);
        for (long i = 0; i < entries; i++) {
            map.put(i, "value " + i);
        }
    }

    private int entries(MapState<Long, String> map, int key) throws Exception {
        backend.setCurrentKey(key);
        int seen = 0;
        for (Map.Entry<Long, String> entry : map.entries()) {
            sum += entry.getKey() + entry.getValue().length();
            seen++;
        }
        return seen;
    }

    private int smallMaps() throws Exception {
        int seen = 0;
        for (int key = 0; key < ENTRIES / SMALL_MAP; key++) {
            seen += entries(small, key);
        }
        return seen;
    }

    private int keys() {
        int seen = 0;
        try (Stream<Integer> keys = backend.getKeys("values", VoidNamespace.INSTANCE)) {
            for (Iterator<Integer> key = keys.iterator(); key.hasNext(); seen++) {
                sum += key.next();
            }
        }
        return seen;
    }

    /** As the loop of Flink's {@code forEachEventTimeTimer}. */
    private int timers() throws Exception {
        int seen = 0;
        try (CloseableIterator<TimerHeapInternalTimer<Integer, VoidNamespace>> all =
                timers.iterator()) {
            for (; all.hasNext(); seen++) {
                TimerHeapInternalTimer<Integer, VoidNamespace> timer = all.next();
                backend.setCurrentKey(timer.getKey());
                sum += timer.getTimestamp();
            }
        }
        return seen;
    }

    private int update() throws Exception {
        for (int key = 0; key < ENTRIES; key++) {
            backend.setCurrentKey(key);
            values.update("value " + key);
        }
        return ENTRIES;
    }

    private static void pass(Callable<Integer> which) throws Exception {
        int seen = which.call();
        if (seen != ENTRIES) {
            throw new IllegalStateException("Met " + seen + " of " + ENTRIES + " entries");
        }
    }

    private void warmUp() throws Exception {
        for (int i = 0; i < WARM_UP_PASSES; i++) {
            for (Callable<Integer> each : cases.values()) {
                pass(each);
            }
        }
    }

    private String round() throws Exception {
        com.sun.management.ThreadMXBean threads =
                (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        long self = Thread.currentThread().getId();
        StringBuilder line = new StringBuilder("round");
        for (Callable<Integer> each : cases.values()) {
            long bytes = threads.getThreadAllocatedBytes(self);
            long nanos = threads.getCurrentThreadCpuTime();
            for (int i = 0; i < PASSES; i++) {
                pass(each);
            }
            nanos = threads.getCurrentThreadCpuTime() - nanos;
            bytes = threads.getThreadAllocatedBytes(self) - bytes;
            double entries = (double) PASSES * ENTRIES;
            line.append('\t').append(nanos / entries).append(' ').append(bytes / entries);
        }
        return line.toString();
    }

    /** Takes no arguments. */
    public static void main(String[] arguments) throws Exception {
        Configuration configuration = new Configuration();
        configuration.set(StateBackendOptions.STATE_BACKEND, "lava");
        try (Backends.Open<Integer> open =
                Backends.open(configuration, IntSerializer.INSTANCE, 128 << 20)) {
            IterationRounds rounds = new IterationRounds(open.backend);
            rounds.fill();
            rounds.warmUp();
            System.out.println("cases\t" + String.join("\t", rounds.cases.keySet()));
            BufferedReader input =
                    new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
            while (input.readLine() != null) {
                System.out.println(rounds.round());
            }
            System.out.println("end\t" + rounds.sum);
        }
    }
}
