// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.bench;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.RunnableFuture;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.StateBackendOptions;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * Canonical savepoints of one subtask, Lava compared with RocksDB, alternating in one process. A
 * case is a maximum parallelism, a number of states and a number of keys, each with a value of
 * eight bytes in every state. The state is in files, written by one checkpoint. A ratio is the
 * median over rounds of (RocksDB's figure divided by Lava's in the same round). Savepoints before
 * the rounds make the JVM load and compile the code.
 */
@Command(
        name = "savepoint",
        description =
                "Canonical savepoints of few and of many key groups, states and keys: RocksDB and"
                        + " Lava.",
        mixinStandardHelpOptions = true)
final class SavepointSuite implements Callable<Integer> {
    private static final String LAVA = "lava";
    private static final String PEER = "rocksdb";

    @Spec private CommandSpec spec;

    @Option(
            names = "--cases",
            split = ",",
            defaultValue = "32768x40x500,32768x40x10000,128x3x300000",
            description =
                    "maximum parallelism, states and keys of each (default: ${DEFAULT-VALUE})")
    private List<String> cases;

    @Option(
            names = "--rounds",
            defaultValue = "15",
            description = "savepoints of each backend (default: ${DEFAULT-VALUE})")
    private int rounds;

    @Option(
            names = "--warmup",
            defaultValue = "10",
            description = "savepoints of each backend before that (default: ${DEFAULT-VALUE})")
    private int warmup;

    @Option(
            names = "--memory-mib",
            defaultValue = "256",
            description = "managed memory of a backend (default: ${DEFAULT-VALUE})")
    private int memoryMiB;

    @Option(
            names = "--directory",
            defaultValue = "${sys:java.io.tmpdir}",
            description = "where files and savepoints go (default: ${DEFAULT-VALUE})")
    private Path directory;

    @Option(names = "--results", defaultValue = "benchmarks/results", hidden = true)
    private Path results;

    @Override
    public Integer call() throws Exception {
        if (rounds < 1 || warmup < 0 || memoryMiB < 1) {
            throw new ParameterException(
                    spec.commandLine(), "--rounds and --memory-mib must be above 0");
        }
        Report report = new Report("savepoint");
        for (String one : cases) {
            Path parent = Files.createTempDirectory(directory, "lava-savepoint");
            try {
                compare(report, shape(one), parent);
            } finally {
                Backends.deleteRecursively(parent);
            }
        }
        report.write(results);
        report.print(System.out);
        return 0;
    }

    private Shape shape(String text) {
        try {
            String[] numbers = text.split("x");
            if (numbers.length == 3) {
                return new Shape(
                        Integer.parseInt(numbers[0]),
                        Integer.parseInt(numbers[1]),
                        Integer.parseInt(numbers[2]));
            }
        } catch (NumberFormatException e) {
            // Reported below.
        }
        throw new ParameterException(spec.commandLine(), "not as in --cases=128x3x300000: " + text);
    }

    private void compare(Report report, Shape shape, Path parent) throws Exception {
        Map<String, double[]> millis = Map.of(PEER, new double[rounds], LAVA, new double[rounds]);
        try (State peer = new State(PEER, shape, parent);
                State lava = new State(LAVA, shape, parent)) {
            for (int round = -warmup; round < rounds; round++) {
                // The order alternates with the round, so that none always runs first.
                for (State one : round % 2 == 0 ? List.of(peer, lava) : List.of(lava, peer)) {
                    double figure = one.savepointMillis();
                    if (round >= 0) {
                        millis.get(one.type)[round] = figure;
                    }
                }
            }
        }
        report.compare(
                shape.toString(),
                RescaleMetric.SAVEPOINT,
                Goal.NONE,
                PEER,
                millis.get(LAVA),
                millis.get(PEER));
    }

    /** The size of a state. Immutable. */
    private static final class Shape {
        final int keyGroups;
        final int states;
        final int keys;

        Shape(int keyGroups, int states, int keys) {
            this.keyGroups = keyGroups;
            this.states = states;
            this.keys = keys;
        }

        @Override
        public String toString() {
            return keyGroups + " key groups, " + states + " states, " + keys + " keys";
        }
    }

    /** A backend with its state. One thread. Closing frees it; its files are kept. */
    private final class State implements AutoCloseable {
        final String type;
        private final Backends.Slot slot;
        private final Backends.Open<Long> open;
        private final CheckpointStore store;
        private long checkpoints;

        State(String type, Shape shape, Path parent) throws Exception {
            this.type = type;
            Path own = Files.createDirectory(parent.resolve(type));
            store = new CheckpointStore(Files.createDirectory(own.resolve("checkpoints")));
            slot = new Backends.Slot((long) memoryMiB << 20);
            Configuration configuration = new Configuration();
            configuration.set(StateBackendOptions.STATE_BACKEND, type);
            open =
                    new Backends.Opening<>(configuration, LongSerializer.INSTANCE, slot, own)
                            .maxParallelism(shape.keyGroups)
                            .open();
            fill(shape);
            RunnableFuture<SnapshotResult<KeyedStateHandle>> checkpoint =
                    store.checkpoint(open.backend, ++checkpoints);
            checkpoint.run();
            store.completed(checkpoints, List.of(checkpoint.get().getJobManagerOwnedSnapshot()));
            EngineThreads.awaitIdle();
        }

        private void fill(Shape shape) throws Exception {
            List<ValueState<Long>> states = new ArrayList<>();
            for (int i = 0; i < shape.states; i++) {
                states.add(
                        open.backend.getPartitionedState(
                                VoidNamespace.INSTANCE,
                                VoidNamespaceSerializer.INSTANCE,
                                new ValueStateDescriptor<>("value " + i, LongSerializer.INSTANCE)));
            }
            for (long key = 0; key < shape.keys; key++) {
                open.backend.setCurrentKey(key);
                for (ValueState<Long> state : states) {
                    state.update(key);
                }
            }
        }

        /** Duration of a savepoint, from the call on the task's thread to the handle. */
        double savepointMillis() throws Exception {
            long begin = System.nanoTime();
            SnapshotResult<KeyedStateHandle> result = store.savepoint(open.backend, ++checkpoints);
            double millis = (System.nanoTime() - begin) / 1e6;
            result.discardState();
            return millis;
        }

        @Override
        public void close() throws Exception {
            open.close();
            slot.close();
        }
    }
}
