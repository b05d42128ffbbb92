// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.it;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.accumulators.ListAccumulator;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.state.FunctionInitializationContext;
import org.apache.flink.runtime.state.FunctionSnapshotContext;
import org.apache.flink.streaming.api.checkpoint.CheckpointedFunction;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.util.Collector;

/**
 * A job like one submitted by a user. Its accumulators contain the kind of its keyed state
 * backends, the results, and the class loader through which its code sees Lava.
 *
 * <p>Arguments: {@code name}, or {@code name=value} for an option that the job sets itself, or
 * {@code gate:DIRECTORY} to stop at each subtask's first record until the directory has a file
 * {@code open}.
 */
public final class CountingJob {

    static final long RECORDS = 6_000;
    static final long KEYS = 40;
    static final int PARALLELISM = 2;

    /** One entry for each subtask: the backend's type. */
    static final String BACKENDS = "backends";

    /** One entry for each key: "key records sum distinct". */
    static final String RESULTS = "results";

    /**
     * One entry for each subtask: the class loader of Lava as the job sees it, and its open
     * objects.
     */
    static final String LOADERS = "loaders";

    private CountingJob() {}

    public static void main(String[] arguments) throws Exception {
        Configuration own = new Configuration();
        String gate = "";
        for (String argument : arguments) {
            if (argument.startsWith("gate:")) {
                gate = argument.substring("gate:".length());
            } else {
                int at = argument.indexOf('=');
                own.setString(argument.substring(0, at), argument.substring(at + 1));
            }
        }
        StreamExecutionEnvironment environment =
                StreamExecutionEnvironment.getExecutionEnvironment();
        environment.configure(own);
        environment.setParallelism(PARALLELISM);
        environment
                .fromSequence(1, RECORDS)
                .keyBy(number -> number % KEYS)
                .process(new Count(gate))
                .sinkTo(new DiscardingSink<>());
        environment.execute("count");
    }

    /** The expected content of {@link #RESULTS}, sorted. */
    static List<String> expectedResults() {
        List<String> lines = new ArrayList<>();
        long each = RECORDS / KEYS;
        for (long key = 0; key < KEYS; key++) {
            long first = key == 0 ? KEYS : key;
            long sum = each * first + KEYS * each * (each - 1) / 2;
            lines.add(key + " " + each + " " + sum + " 7");
        }
        lines.sort(null);
        return lines;
    }

    /** Counts and sums the numbers of a key, and keeps their remainders by 7 in a map. */
    private static final class Count extends KeyedProcessFunction<Long, Long, Long>
            implements CheckpointedFunction {

        private static final long serialVersionUID = 1L;

        private final String gate;
        private final ListAccumulator<String> backends = new ListAccumulator<>();
        private final ListAccumulator<String> results = new ListAccumulator<>();
        private final ListAccumulator<String> loaders = new ListAccumulator<>();
        private transient ValueState<Long> count;
        private transient ValueState<Long> sum;
        private transient MapState<Long, Long> remainders;
        private transient boolean passed;

        Count(String gate) {
            this.gate = gate;
        }

        @Override
        public void initializeState(FunctionInitializationContext context) {
            backends.add(context.getKeyedStateStore().getBackendTypeIdentifier());
        }

        @Override
        public void snapshotState(FunctionSnapshotContext context) {}

        @Override
        public void open(OpenContext context) {
            getRuntimeContext().addAccumulator(BACKENDS, backends);
            getRuntimeContext().addAccumulator(RESULTS, results);
            getRuntimeContext().addAccumulator(LOADERS, loaders);
            count = getRuntimeContext().getState(new ValueStateDescriptor<>("count", Long.class));
            sum = getRuntimeContext().getState(new ValueStateDescriptor<>("sum", Long.class));
            remainders =
                    getRuntimeContext()
                            .getMapState(
                                    new MapStateDescriptor<>("remainders", Long.class, Long.class));
        }

        @Override
        public void processElement(Long number, Context context, Collector<Long> out)
                throws Exception {
            if (!passed) {
                passed = true;
                loaders.add(lavaAsSeenHere());
                passGate();
            }
            long now = count.value() == null ? 1 : count.value() + 1;
            count.update(now);
            sum.update(sum.value() == null ? number : sum.value() + number);
            remainders.put(number % 7, number);
            if (now == RECORDS / KEYS) {
                int distinct = 0;
                for (long ignored : remainders.keys()) {
                    distinct++;
                }
                results.add(
                        context.getCurrentKey()
                                + " "
                                + count.value()
                                + " "
                                + sum.value()
                                + " "
                                + distinct);
            }
        }

        private static String lavaAsSeenHere() throws ReflectiveOperationException {
            Class<?> host = Class.forName("org.lavakv.Host", true, Count.class.getClassLoader());
            ClassLoader loader = host.getClassLoader();
            return loader.getClass().getSimpleName()
                    + "@"
                    + System.identityHashCode(loader)
                    + " "
                    + host.getMethod("openNativeObjects").invoke(null);
        }

        private void passGate() throws Exception {
            if (gate.isEmpty()) {
                return;
            }
            Path directory = Path.of(gate);
            Files.createTempFile(directory, "waiting", "");
            while (!Files.exists(directory.resolve("open"))) {
                Thread.sleep(20);
            }
        }
    }
}
