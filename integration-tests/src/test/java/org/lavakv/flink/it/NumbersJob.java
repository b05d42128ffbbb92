// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.configuration.StateBackendOptions;
import org.apache.flink.configuration.StateRecoveryOptions;
import org.apache.flink.core.execution.RecoveryClaimMode;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.runtime.checkpoint.CheckpointException;
import org.apache.flink.runtime.checkpoint.CheckpointFailureReason;
import org.apache.flink.runtime.jobmaster.JobResult;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.testutils.CommonTestUtils;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.KeyedStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.streaming.api.functions.source.legacy.SourceFunction;
import org.apache.flink.streaming.api.windowing.assigners.TumblingEventTimeWindows;
import org.apache.flink.streaming.util.TestStreamEnvironment;
import org.apache.flink.util.ExceptionUtils;

/**
 * A job on a small cluster in this JVM that processes numbers and is stopped after a snapshot.
 * Another run continues from the snapshot, and the last one emits its content. The operators are
 * {@link NumbersState.Keeper} and a window with a sum; both have timers. Threads: one run at a time
 * in the JVM.
 */
final class NumbersJob {

    static final int KEYS = 23;
    static final int MAX_PARALLELISM = 16;
    static final String STATES = "states";
    static final String WINDOWS = "windows";
    static final Duration WINDOW = Duration.ofMillis(100);

    private static final int TIMEOUT_SECONDS = 60;

    private static final Set<CheckpointFailureReason> PASSING =
            EnumSet.of(
                    CheckpointFailureReason.CHECKPOINT_DECLINED_TASK_NOT_READY,
                    CheckpointFailureReason.CHECKPOINT_DECLINED_ON_CANCELLATION_BARRIER,
                    CheckpointFailureReason.CHANNEL_STATE_SHARED_STREAM_EXCEPTION);

    /** A source waits for this latch. */
    private static volatile CountDownLatch running = new CountDownLatch(0);

    /** A source counts this latch down when it has sent all numbers. */
    private static volatile CountDownLatch sending = new CountDownLatch(0);

    /** The kind of a snapshot. */
    enum Kind {
        CHECKPOINT,
        CANONICAL,
        NATIVE
    }

    private final MiniCluster cluster;
    private final Configuration configuration;
    private final int parallelism;
    private String from;
    private RecoveryClaimMode claimMode = RecoveryClaimMode.NO_CLAIM;
    private long pauseMs;

    /**
     * @param configuration the job's own, with its backend
     */
    NumbersJob(MiniCluster cluster, Configuration configuration, int parallelism) {
        this.cluster = cluster;
        this.configuration = configuration;
        this.parallelism = parallelism;
    }

    /** Sets the snapshot from which the next runs begin. */
    NumbersJob startFrom(String snapshot, RecoveryClaimMode mode) {
        from = snapshot;
        claimMode = mode;
        return this;
    }

    /** Makes every number take this long, so that some are in flight when a snapshot is taken. */
    NumbersJob slow(long milliseconds) {
        pauseMs = milliseconds;
        return this;
    }

    /** An environment that executes on the cluster. */
    static StreamExecutionEnvironment environment(
            MiniCluster cluster, Configuration configuration, int parallelism) {
        return new TestStreamEnvironment(
                cluster, configuration, parallelism, Collections.emptyList(), List.of());
    }

    /**
     * Processes the numbers in [begin, end), then takes a snapshot, and is cancelled.
     *
     * @param directory the target of a savepoint
     * @return the location of the snapshot
     */
    String take(long begin, long end, Kind kind, Path directory) throws Exception {
        StreamExecutionEnvironment environment = environment();
        running = new CountDownLatch(1);
        sending = new CountDownLatch(1);
        results(environment, new Numbers(begin, end, false)).sinkTo(new DiscardingSink<>());
        JobID job = environment.executeAsync().getJobID();
        try {
            CommonTestUtils.waitForAllTaskRunning(cluster, job, false);
            running.countDown();
            assertThat(sending.await(TIMEOUT_SECONDS, TimeUnit.SECONDS)).isTrue();
            String snapshot = snapshot(job, kind, directory);
            cluster.cancelJob(job).get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
            result(job);
            return snapshot;
        } catch (Exception | AssertionError e) {
            // The failure of the job itself is more informative.
            cluster.cancelJob(job).exceptionally(failure -> null);
            result(job).getSerializedThrowable().ifPresent(e::addSuppressed);
            throw e;
        } finally {
            running.countDown(); // releases a source that still waits
        }
    }

    /**
     * Starts, and ends at once: for a job that is expected to fail before. {@link #content} is not
     * suitable: Flink's collecting sink terminates its TaskManager when it has not been opened.
     *
     * @throws Exception caused by the failure of the job
     */
    void start() throws Exception {
        take(0, 0, Kind.CHECKPOINT, null);
    }

    private JobResult result(JobID job) throws Exception {
        return cluster.requestJobResult(job).get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
    }

    private String snapshot(JobID job, Kind kind, Path directory) throws Exception {
        return kind == Kind.CHECKPOINT
                ? checkpoint(job)
                : cluster.triggerSavepoint(
                                job,
                                directory.toUri().toString(),
                                false,
                                SavepointFormatType.valueOf(kind.name()))
                        .get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
    }

    /**
     * Takes a checkpoint, and tries again if tasks decline it. Tasks decline while they still
     * process in-flight data of an unaligned checkpoint. Subsequent tasks are then told to abort
     * it, and those that write into one file with such a task cannot continue; which of these
     * failures is reported first is random. Any other failure fails the test.
     */
    private String checkpoint(JobID job) throws Exception {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(TIMEOUT_SECONDS);
        while (true) {
            try {
                return cluster.triggerCheckpoint(job).get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
            } catch (ExecutionException e) {
                if (!passes(e) || System.nanoTime() > deadline) {
                    throw e;
                }
                Thread.sleep(20);
            }
        }
    }

    private static boolean passes(ExecutionException failure) {
        return ExceptionUtils.findThrowable(failure, CheckpointException.class)
                .map(CheckpointException::getCheckpointFailureReason)
                .filter(PASSING::contains)
                .isPresent();
    }

    /** The whole content: states, timers as they fire, and windows as they close; sorted. */
    List<String> content() throws Exception {
        return sorted(results(environment(), new Numbers(-2 * KEYS + 1, -KEYS + 1, true)));
    }

    static List<String> sorted(DataStream<String> results) throws Exception {
        List<String> lines = new ArrayList<>(results.executeAndCollect(100_000));
        Collections.sort(lines);
        return lines;
    }

    /** The expected content after the numbers in [0, end). */
    static List<String> expected(long end) {
        List<String> lines = expectedStates(end);
        lines.addAll(expectedWindows(end));
        Collections.sort(lines);
        return lines;
    }

    static List<String> expectedStates(long end) {
        List<String> lines = new ArrayList<>();
        for (int key = 0; key < KEYS; key++) {
            String value = null;
            List<Long> list = new ArrayList<>();
            Map<String, Long> map = new TreeMap<>();
            long sum = 0;
            for (long number = key; number < end; number += KEYS) {
                value = NumbersState.textOf(number);
                list.add(number);
                map.put(value, number);
                sum += number;
                lines.add(NumbersState.describeTimer(key, NumbersState.timerOf(number)));
            }
            lines.add(NumbersState.describe(key, value, list, map, sum));
        }
        Collections.sort(lines);
        return lines;
    }

    static List<String> expectedWindows(long end) {
        Map<List<Long>, Long> sums = new HashMap<>();
        for (long number = 0; number < end; number++) {
            long key = NumbersState.keyOf(number);
            sums.merge(List.of(key, number - number % WINDOW.toMillis()), number, Long::sum);
        }
        List<String> lines = new ArrayList<>();
        sums.forEach(
                (window, sum) ->
                        lines.add(
                                NumbersState.describeWindow(
                                        window.get(0).intValue(), window.get(1), sum)));
        Collections.sort(lines);
        return lines;
    }

    private StreamExecutionEnvironment environment() {
        Configuration own = new Configuration(configuration);
        // Takes no periodic checkpoint within the test; but without an interval, no checkpoint is
        // exactly-once or unaligned.
        own.set(CheckpointingOptions.CHECKPOINTING_INTERVAL, Duration.ofHours(1));
        own.set(RestartStrategyOptions.RESTART_STRATEGY, "none");
        // All state in files, none in the metadata.
        own.set(CheckpointingOptions.FS_SMALL_FILE_THRESHOLD, MemorySize.ZERO);
        if (from != null) {
            own.set(StateRecoveryOptions.SAVEPOINT_PATH, from);
            own.set(StateRecoveryOptions.RESTORE_MODE, claimMode);
            // With merged files Flink stores state for each operator, including the sinks.
            own.set(StateRecoveryOptions.SAVEPOINT_IGNORE_UNCLAIMED_STATE, true);
        }
        StreamExecutionEnvironment environment = environment(cluster, own, parallelism);
        environment.configure(own);
        environment.setMaxParallelism(MAX_PARALLELISM);
        return environment;
    }

    private DataStream<String> results(StreamExecutionEnvironment environment, Numbers source) {
        KeyedStream<Long, Integer> numbers =
                environment
                        .addSource(source, "numbers", Types.LONG)
                        .setParallelism(1)
                        .keyBy(NumbersState::keyOf, Types.INT);
        DataStream<String> states =
                numbers.process(
                                new NumbersState.Keeper(
                                        configuration.get(StateBackendOptions.STATE_BACKEND),
                                        pauseMs),
                                Types.STRING)
                        .uid(STATES);
        return numbers.filter(number -> number >= 0)
                .keyBy(NumbersState::keyOf, Types.INT)
                .window(TumblingEventTimeWindows.of(WINDOW))
                .reduce(Long::sum, new NumbersState.WindowCloser())
                .uid(WINDOWS)
                .union(states);
    }

    /** Sends the numbers in [begin, end), with themselves as timestamps, then waits or ends. */
    private static final class Numbers implements SourceFunction<Long> {

        private static final long serialVersionUID = 1L;

        private final long begin;
        private final long end;
        private final boolean finish;
        private volatile boolean cancelled;

        Numbers(long begin, long end, boolean finish) {
            this.begin = begin;
            this.end = end;
            this.finish = finish;
        }

        @Override
        public void run(SourceContext<Long> context) throws Exception {
            running.await();
            for (long number = begin; number < end && !cancelled; number++) {
                synchronized (context.getCheckpointLock()) {
                    context.collectWithTimestamp(number, Math.abs(number));
                }
            }
            sending.countDown();
            while (!finish && !cancelled) {
                Thread.sleep(5);
            }
        }

        @Override
        public void cancel() {
            cancelled = true;
        }
    }
}
