// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.URI;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.flink.api.common.RuntimeExecutionMode;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.ExternalizedCheckpointRetention;
import org.apache.flink.configuration.StateBackendOptions;
import org.apache.flink.core.execution.RecoveryClaimMode;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.state.StateBackend;
import org.apache.flink.runtime.state.hashmap.HashMapStateBackend;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.state.api.OperatorIdentifier;
import org.apache.flink.state.api.OperatorTransformation;
import org.apache.flink.state.api.SavepointReader;
import org.apache.flink.state.api.SavepointWriter;
import org.apache.flink.state.api.StateBootstrapTransformation;
import org.apache.flink.state.rocksdb.EmbeddedRocksDBStateBackend;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.windowing.assigners.TumblingEventTimeWindows;
import org.apache.flink.test.junit5.InjectMiniCluster;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.apache.flink.util.FileUtils;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.lavakv.flink.LavaStateBackend;

/**
 * Flink's state processor API on Lava. It reads the state of a job on Lava from every kind of
 * snapshot, and a job on Lava continues from its output. Canonical savepoints are exchanged with
 * other backends.
 */
@Timeout(180)
class StateProcessorITCase {

    private static final long NUMBERS = 300;

    @RegisterExtension
    static final MiniClusterExtension CLUSTER =
            new MiniClusterExtension(
                    new MiniClusterResourceConfiguration.Builder()
                            .setNumberTaskManagers(1)
                            .setNumberSlotsPerTaskManager(4)
                            .build());

    @TempDir Path root;
    private MiniCluster cluster;

    /** The backend of the reader and writer. */
    enum Processor {
        LAVA,
        HEAP,
        ROCKS;

        StateBackend create() {
            switch (this) {
                case LAVA:
                    return new LavaStateBackend();
                case HEAP:
                    return new HashMapStateBackend();
                default:
                    return new EmbeddedRocksDBStateBackend();
            }
        }
    }

    @BeforeEach
    void setCluster(@InjectMiniCluster MiniCluster injected) {
        cluster = injected;
    }

    private NumbersJob job() {
        Configuration configuration = new Configuration();
        configuration.set(StateBackendOptions.STATE_BACKEND, "lava");
        configuration.set(
                CheckpointingOptions.CHECKPOINTS_DIRECTORY,
                root.resolve("checkpoints").toUri().toString());
        configuration.set(CheckpointingOptions.INCREMENTAL_CHECKPOINTS, true);
        configuration.set(
                CheckpointingOptions.EXTERNALIZED_CHECKPOINT_RETENTION,
                ExternalizedCheckpointRetention.RETAIN_ON_CANCELLATION);
        return new NumbersJob(cluster, configuration, 2);
    }

    private StreamExecutionEnvironment environment() {
        StreamExecutionEnvironment environment =
                NumbersJob.environment(cluster, new Configuration(), 2);
        environment.setRuntimeMode(RuntimeExecutionMode.AUTOMATIC);
        return environment;
    }

    private SavepointReader reader(String snapshot, Processor processor) throws Exception {
        return SavepointReader.read(environment(), snapshot, processor.create());
    }

    private List<String> statesIn(String snapshot, Processor processor) throws Exception {
        return NumbersJob.sorted(
                reader(snapshot, processor)
                        .readKeyedState(
                                OperatorIdentifier.forUid(NumbersJob.STATES),
                                new NumbersState.Reader(),
                                Types.INT,
                                Types.STRING));
    }

    private List<String> windowsIn(String snapshot, Processor processor) throws Exception {
        return NumbersJob.sorted(
                reader(snapshot, processor)
                        .window(TumblingEventTimeWindows.of(NumbersJob.WINDOW))
                        .reduce(
                                NumbersJob.WINDOWS,
                                Long::sum,
                                new NumbersState.WindowReader(),
                                Types.INT,
                                Types.LONG,
                                Types.STRING));
    }

    /** Uses the numbers as timestamps, by which a batch sorts the numbers of a key. */
    private static DataStream<Long> numbers(StreamExecutionEnvironment environment, long end) {
        return environment
                .fromSequence(0, end - 1)
                .setParallelism(1)
                .assignTimestampsAndWatermarks(
                        WatermarkStrategy.<Long>noWatermarks()
                                .withTimestampAssigner((number, before) -> number))
                .setParallelism(1);
    }

    private static StateBootstrapTransformation<Long> states(
            StreamExecutionEnvironment environment, long end) {
        return OperatorTransformation.bootstrapWith(numbers(environment, end))
                .keyBy(NumbersState::keyOf, Types.INT)
                .transform(new NumbersState.Bootstrapper());
    }

    private static StateBootstrapTransformation<Long> windows(
            StreamExecutionEnvironment environment, long end) {
        return OperatorTransformation.bootstrapWith(
                        numbers(environment, end)
                                .assignTimestampsAndWatermarks(
                                        WatermarkStrategy.<Long>noWatermarks()
                                                .withTimestampAssigner((number, before) -> number)))
                .keyBy(NumbersState::keyOf, Types.INT)
                .window(TumblingEventTimeWindows.of(NumbersJob.WINDOW))
                .reduce(Long::sum, new NumbersState.WindowCloser());
    }

    private String newSavepoint(Processor processor) throws Exception {
        StreamExecutionEnvironment environment = environment();
        String path = root.resolve("written-" + processor).toUri().toString();
        SavepointWriter.newSavepoint(environment, processor.create(), NumbersJob.MAX_PARALLELISM)
                .withOperator(
                        OperatorIdentifier.forUid(NumbersJob.STATES), states(environment, NUMBERS))
                .withOperator(
                        OperatorIdentifier.forUid(NumbersJob.WINDOWS),
                        windows(environment, NUMBERS))
                .write(path);
        environment.execute();
        return path;
    }

    @ParameterizedTest
    @EnumSource
    void readsWhatAJobLeft(NumbersJob.Kind kind) throws Exception {
        String snapshot = job().take(0, NUMBERS, kind, root.resolve("savepoints"));
        assertThat(statesIn(snapshot, Processor.LAVA))
                .isEqualTo(NumbersJob.expectedStates(NUMBERS));
        assertThat(windowsIn(snapshot, Processor.LAVA))
                .isEqualTo(NumbersJob.expectedWindows(NUMBERS));
    }

    @ParameterizedTest
    @EnumSource(
            value = RecoveryClaimMode.class,
            names = {"CLAIM", "NO_CLAIM"})
    void jobGoesOnFromWhatWasWritten(RecoveryClaimMode mode) throws Exception {
        String written = newSavepoint(Processor.LAVA);
        assertThat(job().startFrom(written, mode).content())
                .isEqualTo(NumbersJob.expected(NUMBERS));
    }

    /** One operator gets other states; the other keeps its own, whose files Flink copies. */
    @ParameterizedTest
    @EnumSource(
            value = RecoveryClaimMode.class,
            names = {"CLAIM", "NO_CLAIM"})
    void jobGoesOnFromASavepointWithOneOperatorReplaced(RecoveryClaimMode mode) throws Exception {
        String changed = changed(NumbersJob.Kind.CANONICAL);
        assertThat(job().startFrom(changed, mode).content())
                .isEqualTo(
                        Stream.of(
                                        NumbersJob.expectedStates(NUMBERS / 2),
                                        NumbersJob.expectedWindows(NUMBERS))
                                .flatMap(List::stream)
                                .sorted()
                                .collect(Collectors.toList()));
    }

    /** Flink copies no file of a native savepoint, for any backend; the error message says so. */
    @Test
    void nativeSavepointWithOneOperatorReplacedLacksFilesAndSaysSo() throws Exception {
        String changed = changed(NumbersJob.Kind.NATIVE);
        assertThatThrownBy(() -> job().startFrom(changed, RecoveryClaimMode.NO_CLAIM).start())
                .hasStackTraceContaining("The checkpoint file")
                .hasStackTraceContaining(Path.of(URI.create(changed)).toString());
    }

    private String changed(NumbersJob.Kind kind) throws Exception {
        String old = job().take(0, NUMBERS, kind, root.resolve("savepoints"));
        StreamExecutionEnvironment environment = environment();
        String changed = root.resolve("changed").toUri().toString();
        OperatorIdentifier replaced = OperatorIdentifier.forUid(NumbersJob.STATES);
        SavepointWriter.fromExistingSavepoint(environment, old, new LavaStateBackend())
                .removeOperator(replaced)
                .withOperator(replaced, states(environment, NUMBERS / 2))
                .write(changed);
        environment.execute();
        FileUtils.deleteDirectory(Path.of(URI.create(old)).toFile());
        return changed;
    }

    @ParameterizedTest(name = "written on {0}, read on {1}")
    @MethodSource("pairs")
    void whatOneWroteTheOtherReads(Processor writer, Processor reader) throws Exception {
        String written = newSavepoint(writer);
        assertThat(statesIn(written, reader)).isEqualTo(NumbersJob.expectedStates(NUMBERS));
        assertThat(windowsIn(written, reader)).isEqualTo(NumbersJob.expectedWindows(NUMBERS));
    }

    static Stream<Arguments> pairs() {
        return Arrays.stream(Processor.values())
                .flatMap(
                        writer ->
                                Arrays.stream(Processor.values())
                                        .filter(
                                                reader ->
                                                        writer == Processor.LAVA
                                                                || reader == Processor.LAVA)
                                        .map(reader -> Arguments.of(writer, reader)));
    }
}
