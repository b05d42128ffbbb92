// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.ExternalizedCheckpointRetention;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.configuration.StateBackendOptions;
import org.apache.flink.configuration.StateChangelogOptions;
import org.apache.flink.configuration.StateRecoveryOptions;
import org.apache.flink.core.execution.RecoveryClaimMode;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.state.IncrementalRemoteKeyedStateHandle;
import org.apache.flink.runtime.state.changelog.ChangelogStateBackendHandle;
import org.apache.flink.runtime.testutils.CommonTestUtils;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.streaming.api.functions.source.legacy.SourceFunction;
import org.apache.flink.test.junit5.InjectMiniCluster;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.apache.flink.util.Collector;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.lavakv.flink.LavaOptions;

/**
 * A job under the changelog whose large values are written once, for the changelog and for the
 * state. It fails, is stopped and is started again, and each time has its previous state.
 */
@Timeout(180)
class SharedValuesITCase {
    private static final int VALUE_CHARS = 5000;
    private static final int KEYS = 1200;
    private static final int LIST_LENGTH = 3;
    private static final int PATIENCE_SECONDS = 60;

    @TempDir static Path changelog;
    @TempDir Path root;

    @RegisterExtension
    static final MiniClusterExtension CLUSTER =
            RestartWays.cluster(
                    () ->
                            new Configuration()
                                    .set(StateChangelogOptions.STATE_CHANGE_LOG_STORAGE, "lava")
                                    .set(
                                            CheckpointingOptions.CHECKPOINTS_DIRECTORY,
                                            changelog.toUri().toString()));

    /** Errors that the job has found. */
    private static final ConcurrentSkipListSet<String> WRONG = new ConcurrentSkipListSet<>();

    /** Number of values in this run whose state was verified. */
    private static final AtomicLong TAKEN = new AtomicLong();

    /** The job fails when it has processed this many values. */
    private static volatile long failAt = Long.MAX_VALUE;

    @BeforeEach
    void fresh() {
        WRONG.clear();
        failAt = Long.MAX_VALUE;
    }

    private static String text(long number) {
        Random random = new Random(number);
        StringBuilder text = new StringBuilder().append(number).append(' ');
        for (int i = 0; i < VALUE_CHARS; i++) {
            text.append((char) (' ' + random.nextInt(90)));
        }
        return text.toString();
    }

    /** Sends each key again and again. */
    private static final class Rounds implements SourceFunction<Long> {
        private static final long serialVersionUID = 1L;
        private volatile boolean cancelled;

        @Override
        public void run(SourceContext<Long> context) throws Exception {
            for (long number = 0; !cancelled; number++) {
                synchronized (context.getCheckpointLock()) {
                    context.collect(number % KEYS);
                }
                Thread.sleep(1);
            }
        }

        @Override
        public void cancel() {
            cancelled = true;
        }
    }

    /**
     * For each key stores the number of its values, and in three states the text that belongs to
     * this number; the list contains the previous texts as well.
     */
    private static final class Checked extends KeyedProcessFunction<Long, Long, Long> {
        private static final long serialVersionUID = 1L;
        private transient ValueState<Long> count;
        private transient ValueState<String> value;
        private transient MapState<Long, String> map;
        private transient ListState<String> list;

        @Override
        public void open(OpenContext context) {
            count = getRuntimeContext().getState(new ValueStateDescriptor<>("n", Types.LONG));
            value = getRuntimeContext().getState(new ValueStateDescriptor<>("v", Types.STRING));
            map =
                    getRuntimeContext()
                            .getMapState(new MapStateDescriptor<>("m", Types.LONG, Types.STRING));
            list = getRuntimeContext().getListState(new ListStateDescriptor<>("l", Types.STRING));
        }

        @Override
        public void processElement(Long key, Context context, Collector<Long> out)
                throws Exception {
            long before = count.value() == null ? 0 : count.value();
            check(key, before, value.value());
            check(key, before, map.get(key));
            long first = Math.max(before / LIST_LENGTH * LIST_LENGTH, 1);
            for (String element : list.get()) {
                check(key, first++, element);
            }
            if (first != before + 1) {
                WRONG.add("key " + key + " at its value " + before + " has another list");
            }
            long now = before + 1;
            count.update(now);
            value.update(text(key * 1000 + now));
            map.put(key, text(key * 1000 + now));
            if (now % LIST_LENGTH == 0) {
                list.clear();
            }
            list.add(text(key * 1000 + now));
            if (TAKEN.incrementAndGet() == failAt) {
                throw new IOException("the test lets the job fail");
            }
        }

        private static void check(long key, long count, String text) {
            String expected = count == 0 ? null : text(key * 1000 + count);
            if (count == 0 ? text != null : !expected.equals(text)) {
                WRONG.add("key " + key + " at its value " + count + " holds another text");
            }
        }
    }

    private Configuration configuration(String fileSystem) {
        return new Configuration()
                .set(StateBackendOptions.STATE_BACKEND, "lava")
                .set(LavaOptions.LOCAL_DIRECTORIES, root.resolve("l").toString())
                .set(LavaOptions.FILE_SYSTEM, LavaOptions.FileSystemType.valueOf(fileSystem))
                .set(
                        CheckpointingOptions.CHECKPOINTS_DIRECTORY,
                        root.resolve("checkpoints").toUri().toString())
                .set(CheckpointingOptions.CHECKPOINTING_INTERVAL, Duration.ofMillis(100))
                .set(
                        CheckpointingOptions.EXTERNALIZED_CHECKPOINT_RETENTION,
                        ExternalizedCheckpointRetention.RETAIN_ON_CANCELLATION)
                .set(StateChangelogOptions.ENABLE_STATE_CHANGE_LOG, true)
                .set(
                        StateChangelogOptions.PERIODIC_MATERIALIZATION_INTERVAL,
                        Duration.ofMillis(700))
                .set(StateRecoveryOptions.RESTORE_MODE, RecoveryClaimMode.CLAIM)
                .set(RestartStrategyOptions.RESTART_STRATEGY, "fixed-delay")
                .set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_ATTEMPTS, 1)
                .set(
                        RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_DELAY,
                        Duration.ofMillis(10));
    }

    /**
     * Runs until this many values were processed, then until a checkpoint has shared files, and
     * returns the checkpoint.
     */
    private String run(MiniCluster cluster, Configuration of, String from, long count)
            throws Exception {
        Configuration configuration = new Configuration(of);
        if (from != null) {
            configuration.set(StateRecoveryOptions.SAVEPOINT_PATH, from);
        }
        TAKEN.set(0);
        StreamExecutionEnvironment environment = NumbersJob.environment(cluster, configuration, 2);
        environment.configure(configuration);
        environment
                .addSource(new Rounds(), "rounds", Types.LONG)
                .setParallelism(1)
                .keyBy(key -> key, Types.LONG)
                .process(new Checked(), Types.LONG)
                .uid("checked")
                .sinkTo(new DiscardingSink<>());
        JobID job = environment.executeAsync().getJobID();
        CommonTestUtils.waitUntilCondition(() -> TAKEN.get() >= count || !WRONG.isEmpty());
        boolean shared = false;
        Instant end = Instant.now().plusSeconds(PATIENCE_SECONDS);
        while (WRONG.isEmpty() && !shared && Instant.now().isBefore(end)) {
            Thread.sleep(20);
            shared = isShared(newest(job));
        }
        cluster.cancelJob(job).get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        cluster.requestJobResult(job).get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        assertThat(WRONG).isEmpty();
        assertThat(shared).as("materialized state in files of the changelog").isTrue();
        String checkpoint = newest(job);
        assertThat(materializedFiles(checkpoint))
                .allSatisfy(file -> assertThat(Path.of(URI.create(file))).exists());
        return checkpoint;
    }

    /** The completed checkpoint that Flink keeps; null if there is none yet. */
    private String newest(JobID job) throws IOException {
        Path checkpoints = root.resolve("checkpoints").resolve(job.toHexString());
        if (Files.notExists(checkpoints)) {
            return null;
        }
        try (Stream<Path> all = Files.list(checkpoints)) {
            return all.filter(checkpoint -> Files.exists(checkpoint.resolve("_metadata")))
                    .max(Comparator.comparingLong(SharedValuesITCase::numberOf))
                    .map(checkpoint -> checkpoint.toUri().toString())
                    .orElse(null);
        }
    }

    private static long numberOf(Path checkpoint) {
        return Long.parseLong(checkpoint.getFileName().toString().substring("chk-".length()));
    }

    /** The checkpoint may be deleted before it is read. */
    private static boolean isShared(String checkpoint) {
        try {
            return checkpoint != null
                    && materializedFiles(checkpoint).stream()
                            .anyMatch(file -> file.contains("/changelog/"));
        } catch (IOException e) {
            return false;
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"POSIX", "LAVAFS"})
    void theStateIsWhatItWas(String fileSystem, @InjectMiniCluster MiniCluster cluster)
            throws Exception {
        Configuration configuration = configuration(fileSystem);
        String first = run(cluster, configuration, null, KEYS + KEYS / 2);
        failAt = KEYS;
        String second = run(cluster, configuration, first, 2 * KEYS);
        failAt = Long.MAX_VALUE;
        run(cluster, configuration, second, KEYS);
    }

    private static List<String> materializedFiles(String checkpoint) throws IOException {
        return RestartWays.subtasks(checkpoint)
                .flatMap(subtask -> subtask.getManagedKeyedState().stream())
                .flatMap(
                        handle ->
                                ((ChangelogStateBackendHandle) handle)
                                        .getMaterializedStateHandles().stream())
                .flatMap(
                        handle ->
                                ((IncrementalRemoteKeyedStateHandle) handle)
                                        .getSharedState().stream())
                .flatMap(file -> file.getHandle().maybeGetPath().stream())
                .map(path -> path.toUri().toString())
                .collect(Collectors.toList());
    }
}
