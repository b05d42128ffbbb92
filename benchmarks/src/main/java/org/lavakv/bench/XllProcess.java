// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.bench;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.management.OperatingSystemMXBean;
import java.io.File;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.JobStatus;
import org.apache.flink.changelog.fs.FsStateChangelogOptions;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.CoreOptions;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.RestOptions;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.configuration.StateBackendOptions;
import org.apache.flink.configuration.StateChangelogOptions;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.configuration.WebOptions;
import org.apache.flink.core.execution.CheckpointType;
import org.apache.flink.runtime.checkpoint.CheckpointStatsStatus;
import org.apache.flink.runtime.executiongraph.AccessExecutionGraph;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.minicluster.MiniClusterConfiguration;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * The process that {@link XllSuite} starts for one run: a Flink cluster with one TaskManager and
 * the job, with its changelog and checkpoints in counted storage. Writes the resulting {@link
 * XllMetric}s.
 */
@Command(name = "xll-process", hidden = true)
final class XllProcess implements Callable<Integer> {
    private static final long STEP_MINUTES_MAX = 30;
    private static final int CHECKPOINTS_KEPT = 100_000;

    @Mixin private XllLoad load;

    @Option(names = "--backend", required = true)
    private String backend;

    /** The changelog's storage. */
    @Option(names = "--storage", required = true)
    private String storage;

    /** Empty directory for the engine's files and the checkpoints. */
    @Option(names = "--directory", required = true)
    private Path directory;

    /** File for the metrics, as a JSON object. */
    @Option(names = "--out", required = true)
    private File out;

    private MiniCluster cluster;
    private JobID job;

    /** The counters at one moment. */
    private static final class Counts {
        final long millis = System.currentTimeMillis();
        final long nanos = System.nanoTime();
        final long changes = XllJob.WRITTEN.sum();
        final long cpuNanos =
                ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
                        .getProcessCpuTime();
        final long changelog = XllFileSystem.CHANGELOG_BYTES.get();
        final long materialized = XllFileSystem.OTHER_BYTES.get();
        final long written;

        Counts() throws IOException {
            written = WrittenBytes.now();
        }
    }

    @Override
    public Integer call() throws Exception {
        Configuration configuration = configuration();
        cluster =
                new MiniCluster(
                        new MiniClusterConfiguration.Builder()
                                .setConfiguration(configuration)
                                .setNumTaskManagers(1)
                                .setNumSlotsPerTaskManager(load.parallelism)
                                .build());
        try {
            cluster.start();
            job = cluster.submitJob(XllJob.graph(load, configuration)).get().getJobID();
            awaitWritten(load.keys);
            XllJob.go();
            awaitWritten((long) load.keys + load.warmupChanges);
            Counts begin = new Counts();
            awaitWritten(begin.changes + load.changes);
            Counts paused = pause();
            // After this checkpoint no change waits for its upload.
            cluster.triggerCheckpoint(job, CheckpointType.CONFIGURED)
                    .get(STEP_MINUTES_MAX, TimeUnit.MINUTES);
            EngineThreads.awaitIdle();
            new ObjectMapper().writeValue(out, metrics(begin, paused, new Counts()));
            cluster.cancelJob(job).get();
            cluster.requestJobResult(job).get();
        } finally {
            cluster.close();
        }
        for (String part : List.of("local", "remote")) {
            Backends.deleteRecursively(directory.resolve(part));
        }
        return 0;
    }

    private Configuration configuration() throws IOException {
        Path local = Files.createDirectory(directory.resolve("local"));
        String remote =
                XllFileSystem.SCHEME + ":" + Files.createDirectory(directory.resolve("remote"));
        Configuration configuration =
                new Configuration()
                        .set(StateBackendOptions.STATE_BACKEND, backend)
                        .set(CheckpointingOptions.INCREMENTAL_CHECKPOINTS, true)
                        .set(CheckpointingOptions.CHECKPOINTS_DIRECTORY, remote)
                        .set(
                                CheckpointingOptions.CHECKPOINTING_INTERVAL,
                                Duration.ofMillis(load.checkpointMillis))
                        .set(StateChangelogOptions.ENABLE_STATE_CHANGE_LOG, true)
                        .set(StateChangelogOptions.STATE_CHANGE_LOG_STORAGE, storage)
                        .set(
                                StateChangelogOptions.PERIODIC_MATERIALIZATION_INTERVAL,
                                Duration.ofMillis(load.materializeMillis))
                        .set(
                                FsStateChangelogOptions.BASE_PATH,
                                remote + "/" + XllFileSystem.CHANGELOG)
                        // Lava's storage compresses by default.
                        .set(FsStateChangelogOptions.COMPRESSION_ENABLED, true)
                        .set(RestartStrategyOptions.RESTART_STRATEGY, "none")
                        .set(CoreOptions.TMP_DIRS, local.toString())
                        .set(RestOptions.BIND_PORT, "0")
                        .set(WebOptions.CHECKPOINTS_HISTORY_SIZE, CHECKPOINTS_KEPT)
                        .set(
                                TaskManagerOptions.MANAGED_MEMORY_SIZE,
                                MemorySize.ofMebiBytes(load.memoryMiB));
        configuration.addAll(Configuration.fromMap(load.settings));
        return configuration;
    }

    /** Stops the changes, and waits for those in flight. */
    private Counts pause() throws Exception {
        XllJob.pause();
        Counts counts;
        do {
            counts = new Counts();
            TimeUnit.MILLISECONDS.sleep(100);
        } while (XllJob.WRITTEN.sum() != counts.changes);
        return counts;
    }

    private void awaitWritten(long changes) throws Exception {
        long end = System.nanoTime() + TimeUnit.MINUTES.toNanos(STEP_MINUTES_MAX);
        // Polls rarely: asking the cluster costs CPU time that would be measured as well.
        long ask = System.nanoTime() + TimeUnit.SECONDS.toNanos(1);
        while (XllJob.WRITTEN.sum() < changes) {
            long now = System.nanoTime();
            if (now > end) {
                throw new TimeoutException(
                        XllJob.WRITTEN.sum() + " changes of " + changes + " were done in time");
            }
            if (now > ask) {
                failIfEnded();
                ask = now + TimeUnit.SECONDS.toNanos(1);
            }
            TimeUnit.MILLISECONDS.sleep(2);
        }
    }

    private void failIfEnded() throws Exception {
        JobStatus status = cluster.getJobStatus(job).get();
        if (status.isTerminalState()) {
            cluster.requestJobResult(job).get().toJobExecutionResult(getClass().getClassLoader());
            throw new IllegalStateException("The job is " + status);
        }
    }

    private Map<XllMetric, Double> metrics(Counts begin, Counts paused, Counts end)
            throws Exception {
        double changes = paused.changes - begin.changes;
        long changelog = end.changelog - begin.changelog;
        long materialized = end.materialized - begin.materialized;
        long written = end.written - begin.written;
        Map<XllMetric, Double> metrics = new EnumMap<>(XllMetric.class);
        metrics.put(XllMetric.WRITTEN, written / changes);
        metrics.put(XllMetric.CHANGELOG, changelog / changes);
        metrics.put(XllMetric.MATERIALIZED, materialized / changes);
        metrics.put(XllMetric.LOCAL, (written - changelog - materialized) / changes);
        metrics.put(XllMetric.RECORDS, changes * 1e9 / (paused.nanos - begin.nanos));
        metrics.put(XllMetric.CPU, (end.cpuNanos - begin.cpuNanos) / 1e3 / changes);
        double[] durations = checkpoints(begin.millis, paused.millis);
        metrics.put(XllMetric.CHECKPOINTS, (double) durations.length);
        metrics.put(XllMetric.CHECKPOINT, Report.median(durations));
        metrics.put(XllMetric.CHECKPOINT_MAX, Arrays.stream(durations).max().orElse(Double.NaN));
        return metrics;
    }

    /** The durations in milliseconds of checkpoints triggered in the given period. */
    private double[] checkpoints(long fromMillis, long toMillis) throws Exception {
        AccessExecutionGraph graph = cluster.getExecutionGraph(job).get();
        double[] durations =
                graph.getCheckpointStatsSnapshot().getHistory().getCheckpoints().stream()
                        .filter(one -> one.getStatus() == CheckpointStatsStatus.COMPLETED)
                        .filter(one -> one.getTriggerTimestamp() >= fromMillis)
                        .filter(one -> one.getTriggerTimestamp() < toMillis)
                        .mapToDouble(one -> one.getEndToEndDuration())
                        .toArray();
        if (durations.length == 0) {
            throw new IllegalStateException("No checkpoint was complete while it was measured");
        }
        return durations;
    }
}
