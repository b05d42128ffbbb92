// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.StateChangelogOptions;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.runtime.checkpoint.CheckpointType;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.checkpoint.SavepointType;
import org.apache.flink.runtime.checkpoint.SnapshotType;
import org.apache.flink.runtime.operators.testutils.MockEnvironment;
import org.apache.flink.runtime.operators.testutils.MockEnvironmentBuilder;
import org.apache.flink.runtime.state.StateBackend;
import org.apache.flink.runtime.state.StateBackendLoader;
import org.apache.flink.runtime.state.hashmap.HashMapStateBackend;
import org.apache.flink.runtime.state.storage.FileSystemCheckpointStorage;
import org.apache.flink.state.rocksdb.EmbeddedRocksDBStateBackend;
import org.apache.flink.state.rocksdb.EmbeddedRocksDBStateBackend.PriorityQueueStateType;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.streaming.api.operators.KeyedProcessOperator;
import org.apache.flink.streaming.util.KeyedOneInputStreamOperatorTestHarness;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.lavakv.flink.LavaOptions;
import org.lavakv.flink.LavaStateBackend;
import org.slf4j.LoggerFactory;

/**
 * An operator with every kind of state, TTL and timers moves from one backend to another, and
 * behaves as if it had not moved. Canonical savepoints move it between any two backends;
 * checkpoints and native savepoints within Lava. Cases exist with and without Flink's changelog.
 */
@Timeout(180)
class SavepointSwitchTest {

    private static final int KEYS = 12;
    private static final long TTL_MS = SwitchingOperator.TTL.toMillis();
    private static final SnapshotType CANONICAL =
            SavepointType.savepoint(SavepointFormatType.CANONICAL);
    private static final SnapshotType NATIVE = SavepointType.savepoint(SavepointFormatType.NATIVE);

    @TempDir Path root;

    /** A backend and its environment. */
    enum Backend {
        HEAP,
        ROCKS,
        ROCKS_HEAP_TIMERS,
        LAVA,
        LAVA_HEAP_TIMERS,
        LAVA_CHANGELOG,
        LAVA_HEAP_TIMERS_CHANGELOG;

        boolean isLava() {
            return name().startsWith("LAVA");
        }

        boolean isChangelog() {
            return name().endsWith("CHANGELOG");
        }

        /** An operator on this backend, with files in directories below {@code root}. */
        KeyedOneInputStreamOperatorTestHarness<String, String, String> harness(
                KeyedProcessFunction<String, String, String> function,
                ClassLoader classes,
                Path root)
                throws Exception {
            MockEnvironment environment =
                    new MockEnvironmentBuilder()
                            .setTaskName("switch")
                            .setManagedMemorySize(64L << 20)
                            .setMaxParallelism(16)
                            .setParallelism(1)
                            .setSubtaskIndex(0)
                            .setUserCodeClassLoader(classes)
                            .build();
            KeyedOneInputStreamOperatorTestHarness<String, String, String> harness =
                    new KeyedOneInputStreamOperatorTestHarness<>(
                            new KeyedProcessOperator<>(function),
                            SwitchingOperator::keyOf,
                            Types.STRING,
                            environment);
            harness.setStateBackend(create(Files.createTempDirectory(root, "files")));
            harness.setCheckpointStorage(
                    new FileSystemCheckpointStorage(
                            Files.createTempDirectory(root, "checkpoints").toUri()));
            return harness;
        }

        StateBackend create(Path directory) throws Exception {
            StateBackend backend = createPlain(directory);
            if (!isChangelog()) {
                return backend;
            }
            Configuration changelog = new Configuration();
            changelog.set(StateChangelogOptions.ENABLE_STATE_CHANGE_LOG, true);
            return StateBackendLoader.fromApplicationOrConfigOrDefault(
                    backend,
                    changelog,
                    changelog,
                    Backend.class.getClassLoader(),
                    LoggerFactory.getLogger(Backend.class));
        }

        private StateBackend createPlain(Path directory) {
            switch (this) {
                case HEAP:
                    return new HashMapStateBackend();
                case ROCKS:
                case ROCKS_HEAP_TIMERS:
                    EmbeddedRocksDBStateBackend rocks = new EmbeddedRocksDBStateBackend(true);
                    rocks.setPriorityQueueStateType(
                            this == ROCKS
                                    ? PriorityQueueStateType.ROCKSDB
                                    : PriorityQueueStateType.HEAP);
                    rocks.setDbStoragePath(directory.toString());
                    return rocks;
                default:
                    return new LavaStateBackend()
                            .set(LavaOptions.LOCAL_DIRECTORIES, directory.toString())
                            .set(
                                    LavaOptions.TIMER_SERVICE_FACTORY,
                                    name().contains("HEAP_TIMERS")
                                            ? LavaOptions.TimerService.HEAP
                                            : LavaOptions.TimerService.LAVA);
            }
        }
    }

    private KeyedOneInputStreamOperatorTestHarness<String, String, String> harness(Backend backend)
            throws Exception {
        return backend.harness(new SwitchingOperator(), Backend.class.getClassLoader(), root);
    }

    private static void send(
            KeyedOneInputStreamOperatorTestHarness<String, String, String> harness, String text)
            throws Exception {
        for (int key = 0; key < KEYS; key++) {
            harness.processElement(key + ":" + text, 0);
        }
    }

    private static List<String> output(
            KeyedOneInputStreamOperatorTestHarness<String, String, String> harness) {
        List<String> lines =
                harness.extractOutputValues().stream().sorted().collect(Collectors.toList());
        harness.getOutput().clear();
        return lines;
    }

    /** The whole visible content of the operator, and its later output. */
    private static List<String> rest(
            KeyedOneInputStreamOperatorTestHarness<String, String, String> harness)
            throws Exception {
        List<String> lines = new ArrayList<>();
        lines.add(harness.numEventTimeTimers() + " and " + harness.numProcessingTimeTimers());
        send(harness, SwitchingOperator.READ);
        lines.addAll(output(harness));
        send(harness, "after");
        harness.setStateTtlProcessingTime(2 * TTL_MS);
        send(harness, SwitchingOperator.READ);
        lines.addAll(output(harness));
        harness.processWatermark(1003);
        lines.addAll(output(harness));
        harness.processWatermark(100_000);
        harness.setProcessingTime(1_000_000);
        lines.addAll(output(harness));
        return lines;
    }

    private static void first(
            KeyedOneInputStreamOperatorTestHarness<String, String, String> harness)
            throws Exception {
        harness.setStateTtlProcessingTime(1);
        send(harness, "one");
        send(harness, "seven,x");
        harness.setStateTtlProcessingTime(TTL_MS);
        send(harness, "twelve");
        // The values of "one" and "seven,x" have expired now, the value of "twelve" has not.
        harness.setStateTtlProcessingTime(TTL_MS + 10);
    }

    /** The output of an operator that is never moved. */
    private List<String> expected() throws Exception {
        try (KeyedOneInputStreamOperatorTestHarness<String, String, String> harness =
                harness(Backend.HEAP)) {
            harness.open();
            first(harness);
            return rest(harness);
        }
    }

    private List<String> moved(Backend from, Backend to, SnapshotType type) throws Exception {
        OperatorSubtaskState state;
        try (KeyedOneInputStreamOperatorTestHarness<String, String, String> harness =
                harness(from)) {
            harness.open();
            first(harness);
            if (type == CheckpointType.CHECKPOINT) {
                harness.snapshotWithLocalState(1, 1, type);
                send(harness, SwitchingOperator.READ);
                output(harness);
            }
            state = harness.snapshotWithLocalState(2, 2, type).getJobManagerOwnedState();
        }
        try (KeyedOneInputStreamOperatorTestHarness<String, String, String> harness = harness(to)) {
            harness.setRestoredCheckpointId(2);
            harness.initializeState(state);
            harness.open();
            harness.setStateTtlProcessingTime(TTL_MS + 10);
            return rest(harness);
        }
    }

    static Stream<Arguments> pairsWithLava() {
        return Stream.of(Backend.values())
                .flatMap(from -> Stream.of(Backend.values()).map(to -> new Backend[] {from, to}))
                .filter(pair -> pair[0].isLava() || pair[1].isLava())
                .map(pair -> Arguments.of(pair[0], pair[1]));
    }

    static Stream<Arguments> pairsWithinLava() {
        return pairsWithLava()
                .filter(
                        pair ->
                                ((Backend) pair.get()[0]).isLava()
                                        && ((Backend) pair.get()[1]).isLava());
    }

    @ParameterizedTest(name = "from {0} to {1}")
    @MethodSource("pairsWithLava")
    void canonicalSavepoint(Backend from, Backend to) throws Exception {
        assertThat(moved(from, to, CANONICAL)).containsExactlyElementsOf(expected());
    }

    @ParameterizedTest(name = "from {0} to {1}")
    @MethodSource("pairsWithinLava")
    void checkpoint(Backend from, Backend to) throws Exception {
        assertThat(moved(from, to, CheckpointType.CHECKPOINT))
                .containsExactlyElementsOf(expected());
    }

    @ParameterizedTest(name = "from {0} to {1}")
    @MethodSource("pairsWithinLava")
    void nativeSavepoint(Backend from, Backend to) throws Exception {
        assertThat(moved(from, to, NATIVE)).containsExactlyElementsOf(expected());
    }

    /** RocksDB's restore fails before it fetches anything, and names the origin of the files. */
    @ParameterizedTest(name = "{0}")
    @EnumSource(
            value = Backend.class,
            names = {"ROCKS", "ROCKS_HEAP_TIMERS"})
    void rocksDbRefusesLavasFilesWithLavasWords(Backend rocksDb) throws Exception {
        for (SnapshotType type : new SnapshotType[] {CheckpointType.CHECKPOINT, NATIVE}) {
            assertThatThrownBy(() -> moved(Backend.LAVA, rocksDb, type))
                    .as(type.getName())
                    .hasStackTraceContaining("was written by the state backend Lava")
                    .hasStackTraceContaining("state.backend.type: lava");
        }
    }
}
