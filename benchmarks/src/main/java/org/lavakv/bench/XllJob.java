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
 * A Flink job that writes the value of each key once, waits to be told to go on, and then changes
 * those of random keys at a fixed rate, or as fast as it can, until it is cancelled. One at a time
 * in a process, whose threads see how far it is. Threads: any.
 */
@SuppressWarnings("deprecation") // a source in a few lines
final class XllJob {
    /** Values that were written since the job began. */
    static final LongAdder WRITTEN = new LongAdder();

    private static final long PARK_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    private static volatile boolean going;

    private XllJob() {}

    /** Of the whole job, to be submitted. Nothing is written yet. */
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

    /** Lets the changes begin. */
    static void go() {
        going = true;
    }

    /** No more changes, until the job ends; a few may still be under way. */
    static void pause() {
        going = false;
    }

    /** Every number of a key once, then numbers of keys at random. */
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
                // Who is late makes no pause until it has caught up.
                long due = begin + (long) (count * gapNanos);
                waitWhile(() -> gapNanos > 0 && System.nanoTime() < due);
                emit(context, random.nextInt(keys));
            }
            waitWhile(() -> true);
        }

        /** Or until it is cancelled. */
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

    /** Writes another value for every key that comes. */
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
