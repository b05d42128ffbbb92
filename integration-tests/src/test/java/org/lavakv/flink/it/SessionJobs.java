// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.JobStatus;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.CoreOptions;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.RestOptions;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.configuration.StateBackendOptions;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.minicluster.MiniClusterConfiguration;
import org.apache.flink.runtime.state.FunctionInitializationContext;
import org.apache.flink.runtime.state.FunctionSnapshotContext;
import org.apache.flink.streaming.api.checkpoint.CheckpointedFunction;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.util.Collector;
import org.lavakv.Host;
import org.lavakv.HostStatistics;
import org.lavakv.flink.LavaConfigurableOptions;

/**
 * A session cluster in this JVM that runs many small jobs with keyed state in Lava, {@link #BESIDE}
 * at a time. Of three successive jobs one finishes, one fails for good, and one is cancelled during
 * its work, all with checkpoints. Ownership: the test closes it.
 */
final class SessionJobs implements AutoCloseable {

    /** Number of concurrent jobs. */
    static final int BESIDE = 2;

    private static final int PARALLELISM = 2;
    private static final int KEYS = 50;
    private static final int VALUE_BYTES = 1000;

    /** Enough for a few memtables of a subtask. */
    private static final long RECORDS = 3_000;

    private static final long WAIT_SECONDS = 60;

    /** For each job to be cancelled, a latch that shows its progress. */
    private static final Map<Integer, CountDownLatch> AMID_WORK = new ConcurrentHashMap<>();

    private final Path directory;
    private final MiniCluster cluster;
    private int jobs;

    private enum End {
        FINISHES(JobStatus.FINISHED),
        FAILS(JobStatus.FAILED),
        IS_CANCELLED(JobStatus.CANCELED);

        private final JobStatus status;

        End(JobStatus status) {
            this.status = status;
        }
    }

    private static final class Job {
        private final int number;
        private final End end;
        private final JobID id;

        private Job(int number, End end, JobID id) {
            this.number = number;
            this.end = end;
            this.id = id;
        }
    }

    /**
     * @param directory an empty directory for all files of the cluster
     */
    SessionJobs(Path directory) throws Exception {
        this.directory = directory;
        Configuration configuration = new Configuration();
        configuration.set(CoreOptions.TMP_DIRS, directory.resolve("tmp").toString());
        configuration.set(RestOptions.BIND_PORT, "0");
        configuration.set(TaskManagerOptions.MANAGED_MEMORY_SIZE, MemorySize.ofMebiBytes(64));
        cluster =
                new MiniCluster(
                        new MiniClusterConfiguration.Builder()
                                .setConfiguration(configuration)
                                .setNumTaskManagers(1)
                                .setNumSlotsPerTaskManager(BESIDE * PARALLELISM)
                                .build());
        cluster.start();
    }

    /** Runs more jobs to their ends, which must be the intended ones. */
    void run(int count) throws Exception {
        List<Job> running = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            running.add(submit(jobs++));
            if (running.size() == BESIDE) {
                await(running.remove(0));
            }
        }
        for (Job job : running) {
            await(job);
        }
    }

    private Job submit(int number) throws Exception {
        End end = End.values()[number % End.values().length];
        Configuration own = new Configuration();
        own.set(StateBackendOptions.STATE_BACKEND, "lava");
        own.set(CheckpointingOptions.CHECKPOINTING_INTERVAL, Duration.ofMillis(20));
        own.set(
                CheckpointingOptions.CHECKPOINTS_DIRECTORY,
                directory.resolve("checkpoints").toUri().toString());
        own.set(CheckpointingOptions.INCREMENTAL_CHECKPOINTS, number % 2 == 0);
        own.set(RestartStrategyOptions.RESTART_STRATEGY, "none");
        own.set(LavaConfigurableOptions.MEMTABLE_SIZE, MemorySize.parse("256kb"));
        StreamExecutionEnvironment environment =
                StreamExecutionEnvironment.getExecutionEnvironment(own);
        environment.setParallelism(PARALLELISM);
        if (end == End.IS_CANCELLED) {
            AMID_WORK.put(number, new CountDownLatch(1));
        }
        environment
                .fromSequence(1, end == End.IS_CANCELLED ? Long.MAX_VALUE : RECORDS)
                .keyBy(record -> record % KEYS)
                .process(new Work(number, end))
                .sinkTo(new DiscardingSink<>());
        JobID id = cluster.submitJob(environment.getStreamGraph().getJobGraph()).get().getJobID();
        return new Job(number, end, id);
    }

    private void await(Job job) throws Exception {
        if (job.end == End.IS_CANCELLED) {
            CountDownLatch amid = AMID_WORK.get(job.number);
            assertThat(amid.await(WAIT_SECONDS, TimeUnit.SECONDS))
                    .as("job %d got to work", job.number)
                    .isTrue();
            AMID_WORK.remove(job.number);
            cluster.cancelJob(job.id).get();
        }
        cluster.requestJobResult(job.id).get(WAIT_SECONDS, TimeUnit.SECONDS);
        assertThat(cluster.getJobStatus(job.id).get())
                .as("job %d", job.number)
                .isEqualTo(job.end.status);
    }

    /** Resident memory of this process, bytes. */
    static final class Resident {

        /** Total resident memory. */
        final long bytes;

        /** Memory outside the JVM's heap, classes and compiled code. */
        final long outsideBytes;

        private Resident(long bytes) {
            MemoryMXBean jvm = ManagementFactory.getMemoryMXBean();
            this.bytes = bytes;
            outsideBytes =
                    bytes
                            - jvm.getHeapMemoryUsage().getCommitted()
                            - jvm.getNonHeapMemoryUsage().getCommitted();
        }

        @Override
        public String toString() {
            return (bytes >> 20) + " MiB, " + (outsideBytes >> 20) + " MiB outside the JVM's pools";
        }
    }

    /**
     * Waits until the process contains nothing of the jobs; fails after a timeout.
     *
     * @return its memory after a garbage collection
     */
    static Resident residentWithNothingOpen() throws Exception {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(WAIT_SECONDS);
        while (!(NativeLeakCheck.open().isEmpty() && Host.getStatistics().threads() == 0)
                && System.nanoTime() < deadline) {
            Thread.sleep(20);
        }
        assertThat(NativeLeakCheck.open()).as("what is open").isEmpty();
        HostStatistics host = Host.getStatistics();
        assertThat(host.instancesOpen()).as("instances").isZero();
        // Threads free their memory when they end.
        assertThat(host.chargedBytes() - host.bindingBytes()).as("charged bytes").isZero();
        assertThat(host.threads()).as("native threads").isZero();
        // The second run also collects objects released by the first run's cleaners.
        System.gc();
        Thread.sleep(200);
        System.gc();
        return new Resident(residentBytes());
    }

    private static long residentBytes() throws IOException {
        List<String> lines =
                Files.readAllLines(Path.of("/proc/self/status")).stream()
                        .filter(line -> line.startsWith("VmRSS:"))
                        .collect(Collectors.toList());
        assertThat(lines).hasSize(1);
        return Long.parseLong(lines.get(0).replaceAll("\\D", "")) << 10;
    }

    /** Directories of instances and volumes left under the cluster's working directories. */
    List<Path> leftovers() throws IOException {
        try (var files = Files.walk(directory.resolve("tmp"))) {
            return files.filter(file -> file.getFileName().toString().contains("lava"))
                    .collect(Collectors.toList());
        }
    }

    @Override
    public void close() throws Exception {
        cluster.close();
    }

    /** Overwrites values, and fills a map and iterates over it. */
    private static final class Work extends KeyedProcessFunction<Long, Long, Long>
            implements CheckpointedFunction {

        private static final long serialVersionUID = 1L;

        private final int number;
        private final End end;
        private transient ValueState<byte[]> value;
        private transient MapState<Long, Long> seen;
        private transient long records;

        Work(int number, End end) {
            this.number = number;
            this.end = end;
        }

        @Override
        public void initializeState(FunctionInitializationContext context) {
            String backend = context.getKeyedStateStore().getBackendTypeIdentifier();
            if (!backend.equals("lava")) {
                throw new IllegalStateException("the state is in " + backend);
            }
        }

        @Override
        public void snapshotState(FunctionSnapshotContext context) {}

        @Override
        public void open(OpenContext context) {
            value = getRuntimeContext().getState(new ValueStateDescriptor<>("value", byte[].class));
            seen =
                    getRuntimeContext()
                            .getMapState(new MapStateDescriptor<>("seen", Long.class, Long.class));
        }

        @Override
        public void processElement(Long record, Context context, Collector<Long> out)
                throws Exception {
            records++;
            byte[] bytes = value.value() == null ? new byte[VALUE_BYTES] : value.value();
            bytes[(int) (record % VALUE_BYTES)]++;
            value.update(bytes);
            seen.put(record % (10 * KEYS), record);
            if (records % 100 == 0) {
                long sum = 0;
                for (long each : seen.values()) {
                    sum += each;
                }
                out.collect(sum);
            }
            if (end == End.FAILS && records == RECORDS / PARALLELISM / 2) {
                throw new IllegalStateException("a failure that the test wants");
            }
            if (end == End.IS_CANCELLED && records == RECORDS / PARALLELISM) {
                AMID_WORK.get(number).countDown();
            }
        }
    }
}
