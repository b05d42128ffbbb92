// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.bench;

import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.jobgraph.JobGraph;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.streaming.api.functions.source.legacy.RichParallelSourceFunction;
import org.apache.flink.util.Collector;

/**
 * A Flink job that writes the value of each key once and then waits. On request it changes the
 * values of random keys at a fixed rate, or as fast as it can, until it is cancelled. At most one
 * job runs in a process, whose threads can observe its progress. Threads: any.
 */
@SuppressWarnings("deprecation") // for a source in a few lines
final class XllJob {
    /** Values written since the job began. */
    static final LongAdder WRITTEN = new LongAdder();

    private static final long PARK_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    private static volatile boolean going;

    private XllJob() {}

    /** The graph of the whole job, for submission. Nothing is written yet. */
    static JobGraph graph(XllLoad load, Configuration configuration) {
        WRITTEN.reset();
        going = false;
        StreamExecutionEnvironment environment =
                StreamExecutionEnvironment.getExecutionEnvironment(configuration);
        environment.setParallelism(load.parallelism);
        environment.setMaxParallelism(Backends.KEY_GROUPS);
        environment
                .addSource(new Numbers(load.keys, load.rate), "numbers", Types.LONG)
                .keyBy(JoinerValues::mix, Types.LONG)
                .process(new Changes(load.valueBytes), Types.LONG)
                .sinkTo(new DiscardingSink<>());
        return environment.getStreamGraph().getJobGraph();
    }

    /** Starts the changes. */
    static void go() {
        going = true;
    }

    /** Stops the changes until the job ends; a few may still be in flight. */
    static void pause() {
        going = false;
    }

    /** Sends the number of each key once, then numbers of random keys. */
    private static final class Numbers extends RichParallelSourceFunction<Long> {
        private static final long serialVersionUID = 1L;

        private final int keys;
        private final int rate;
        private volatile boolean cancelled;

        Numbers(int keys, int rate) {
            this.keys = keys;
            this.rate = rate;
        }

        @Override
        public void run(SourceContext<Long> context) {
            int subtask = getRuntimeContext().getTaskInfo().getIndexOfThisSubtask();
            int subtasks = getRuntimeContext().getTaskInfo().getNumberOfParallelSubtasks();
            for (long number = subtask; number < keys && !cancelled; number += subtasks) {
                emit(context, number);
            }
            waitWhile(() -> !going);
            SplittableRandom random = new SplittableRandom(subtask);
            double gapNanos = rate == 0 ? 0 : 1e9 * subtasks / rate;
            long begin = System.nanoTime();
            for (long count = 0; going && !cancelled; count++) {
                // A late source does not pause until it has caught up.
                long due = begin + (long) (count * gapNanos);
                waitWhile(() -> gapNanos > 0 && System.nanoTime() < due);
                emit(context, random.nextInt(keys));
            }
            waitWhile(() -> true);
        }

        /** Waits while the condition holds, or until the source is cancelled. */
        private void waitWhile(BooleanSupplier condition) {
            while (!cancelled && condition.getAsBoolean()) {
                LockSupport.parkNanos(PARK_NANOS);
            }
        }

        private static void emit(SourceContext<Long> context, long number) {
            synchronized (context.getCheckpointLock()) {
                context.collect(number);
            }
        }

        @Override
        public void cancel() {
            cancelled = true;
        }
    }

    /** Writes another value for every key that arrives. */
    private static final class Changes extends KeyedProcessFunction<Long, Long, Long> {
        private static final long serialVersionUID = 1L;

        private final int valueBytes;
        private transient CheckpointValues values;
        private transient SplittableRandom random;
        private transient ValueState<Object> state;

        Changes(int valueBytes) {
            this.valueBytes = valueBytes;
        }

        @Override
        public void open(OpenContext context) {
            values = new CheckpointValues(valueBytes);
            random =
                    new SplittableRandom(getRuntimeContext().getTaskInfo().getIndexOfThisSubtask());
            state =
                    getRuntimeContext()
                            .getState(new ValueStateDescriptor<>("values", values.serializer()));
        }

        @Override
        public void processElement(Long number, Context context, Collector<Long> out)
                throws Exception {
            state.update(values.next(random));
            WRITTEN.increment();
        }
    }
}
