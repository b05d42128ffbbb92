// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.it;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.functions.RuntimeContext;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ReducingState;
import org.apache.flink.api.common.state.ReducingStateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.runtime.state.FunctionInitializationContext;
import org.apache.flink.runtime.state.FunctionSnapshotContext;
import org.apache.flink.state.api.functions.KeyedStateBootstrapFunction;
import org.apache.flink.state.api.functions.KeyedStateReaderFunction;
import org.apache.flink.state.api.functions.WindowReaderFunction;
import org.apache.flink.streaming.api.checkpoint.CheckpointedFunction;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.streaming.api.functions.windowing.ProcessWindowFunction;
import org.apache.flink.streaming.api.windowing.windows.TimeWindow;
import org.apache.flink.util.Collector;
import org.apache.flink.util.Preconditions;

/**
 * The content that {@link NumbersJob} stores for the numbers of a key, in states of several kinds,
 * and how a job, a reader and a writer of savepoints access it. All of them describe it in the same
 * form. Threads: one, the task's.
 */
final class NumbersState implements Serializable {

    private static final long serialVersionUID = 1L;

    private transient ValueState<String> value;
    private transient ListState<Long> list;
    private transient MapState<String, Long> map;
    private transient ReducingState<Long> sum;

    void open(RuntimeContext context) {
        value = context.getState(new ValueStateDescriptor<>("value", String.class));
        list = context.getListState(new ListStateDescriptor<>("list", Long.class));
        map = context.getMapState(new MapStateDescriptor<>("map", String.class, Long.class));
        sum = context.getReducingState(new ReducingStateDescriptor<>("sum", Long::sum, Long.class));
    }

    void add(long number) throws Exception {
        value.update(textOf(number));
        list.add(number);
        map.put(textOf(number), number);
        sum.add(number);
    }

    String describe(int key) throws Exception {
        List<Long> elements = new ArrayList<>();
        list.get().forEach(elements::add);
        Map<String, Long> entries = new TreeMap<>();
        map.entries().forEach(entry -> entries.put(entry.getKey(), entry.getValue()));
        return describe(key, value.value(), elements, entries, sum.get());
    }

    static String describe(
            int key, String value, List<Long> list, Map<String, Long> map, Long sum) {
        return key + " holds " + value + " " + list + " " + map + " " + sum;
    }

    static String describeTimer(int key, long time) {
        return key + " has a timer at " + time;
    }

    static String describeWindow(int key, long start, long sum) {
        return key + " has " + sum + " in the window from " + start;
    }

    /** Some of these are long enough to be separated. */
    static String textOf(long number) {
        return "number " + number + (number % 7 == 0 ? "!".repeat(5000) : "");
    }

    static long timerOf(long number) {
        return 1_000_000_000L + number;
    }

    static int keyOf(long number) {
        return (int) (Math.abs(number) % NumbersJob.KEYS);
    }

    /** Stores numbers, on the given backend; a negative number requests the content of its key. */
    static final class Keeper extends KeyedProcessFunction<Integer, Long, String>
            implements CheckpointedFunction {

        private static final long serialVersionUID = 1L;

        private final NumbersState state = new NumbersState();
        private final String backend;
        private final long pauseMs;

        Keeper(String backend, long pauseMs) {
            this.backend = backend;
            this.pauseMs = pauseMs;
        }

        @Override
        public void initializeState(FunctionInitializationContext context) {
            String is = context.getKeyedStateStore().getBackendTypeIdentifier();
            Preconditions.checkState(is.equals(backend), "state is in %s, not %s", is, backend);
        }

        @Override
        public void snapshotState(FunctionSnapshotContext context) {}

        @Override
        public void open(OpenContext context) {
            state.open(getRuntimeContext());
        }

        @Override
        public void processElement(Long number, Context context, Collector<String> out)
                throws Exception {
            Thread.sleep(pauseMs);
            if (number < 0) {
                out.collect(state.describe(context.getCurrentKey()));
                return;
            }
            state.add(number);
            context.timerService().registerEventTimeTimer(timerOf(number));
        }

        @Override
        public void onTimer(long time, OnTimerContext context, Collector<String> out) {
            out.collect(describeTimer(context.getCurrentKey(), time));
        }
    }

    /** Like {@link Keeper}, for a savepoint being written. */
    static final class Bootstrapper extends KeyedStateBootstrapFunction<Integer, Long> {

        private static final long serialVersionUID = 1L;

        private final NumbersState state = new NumbersState();

        @Override
        public void open(OpenContext context) {
            state.open(getRuntimeContext());
        }

        @Override
        public void processElement(Long number, Context context) throws Exception {
            state.add(number);
            context.timerService().registerEventTimeTimer(timerOf(number));
        }
    }

    /** The output of {@link Keeper} for its states and timers, from a savepoint being read. */
    static final class Reader extends KeyedStateReaderFunction<Integer, String> {

        private static final long serialVersionUID = 1L;

        private final NumbersState state = new NumbersState();

        @Override
        public void open(OpenContext context) {
            state.open(getRuntimeContext());
        }

        @Override
        public void readKey(Integer key, Context context, Collector<String> out) throws Exception {
            out.collect(state.describe(key));
            for (long time : context.registeredEventTimeTimers()) {
                out.collect(describeTimer(key, time));
            }
        }
    }

    /** Emits the content of a window when it closes. */
    static final class WindowCloser
            extends ProcessWindowFunction<Long, String, Integer, TimeWindow> {

        private static final long serialVersionUID = 1L;

        @Override
        public void process(
                Integer key, Context context, Iterable<Long> sums, Collector<String> out) {
            sums.forEach(sum -> out.collect(describeWindow(key, context.window().getStart(), sum)));
        }
    }

    /** Like {@link WindowCloser}, from a savepoint being read. */
    static final class WindowReader
            extends WindowReaderFunction<Long, String, Integer, TimeWindow> {

        private static final long serialVersionUID = 1L;

        @Override
        public void readWindow(
                Integer key,
                Context<TimeWindow> context,
                Iterable<Long> sums,
                Collector<String> out) {
            sums.forEach(sum -> out.collect(describeWindow(key, context.window().getStart(), sum)));
        }
    }
}
