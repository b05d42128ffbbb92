// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.bench;

import com.fasterxml.jackson.core.type.TypeReference;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * Incremental checkpoints under updates at a fixed rate, Lava compared with RocksDB: time on the
 * task's thread, the effect on the load, and uploaded bytes. Each run is a separate process, and
 * the backends alternate within each round. A ratio is the median over rounds of (RocksDB's figure
 * divided by Lava's in the same round).
 *
 * <p>The cases of the load have many instances with several states each, for the synchronous part
 * and the dip, with more than one size of state. The cases of uploads have few instances with one
 * state, and several sizes of values. All metrics are measured in all cases; goals exist only for
 * some.
 *
 * <ul>
 *   <li><i>Sync</i>: from the call of the backend's {@code snapshot} until it returns the future of
 *       the asynchronous part, including Flink's own work. The median and the 99th percentile over
 *       all instances and checkpoints. The engine's {@code snapshot_calls_test} shows the number of
 *       system calls in it.
 *   <li><i>Dip</i>: at any time some operations are due by the fixed schedule and not yet done. The
 *       largest number between the triggers of two checkpoints is the total deficit while fewer
 *       operations were done than offered: the dip's area in a graph of throughput. It is expressed
 *       as the time in which the load offers this many operations, so that a full stop of all
 *       instances for 100 ms is 100 ms. The figure is the median over the checkpoints of a run. It
 *       depends on no window length, and one stopped instance of many counts with its share.
 *   <li><i>Lost in worst 100 ms</i>: in the 100 ms with the fewest operations done, the share of
 *       the offered load that was not done. 1 is a full stop of any length.
 *   <li><i>Late</i>: the delay of each operation after its due time, for all operations due after
 *       the first trigger.
 *   <li><i>Uploaded</i>: bytes written to the checkpoints' streams, except those of the first
 *       checkpoint, which contains everything. Each key is updated once on average before, so that
 *       compactions and collections have reached their long-term rates.
 * </ul>
 */
@Command(
        name = "checkpoint",
        description = {
            "Incremental checkpoints of many backends in one process under updates at a fixed rate,"
                    + " RocksDB and Lava: CPU and wall time of the synchronous part, the dip of the"
                    + " throughput, bytes uploaded.",
            "A dip is the most operations that were due and not yet done after a checkpoint's"
                    + " trigger, as the time that the load takes to offer them; the median over the"
                    + " checkpoints of a run."
        },
        mixinStandardHelpOptions = true)
final class CheckpointSuite implements Callable<Integer> {
    private static final String LAVA = "lava";
    private static final String PEER = "rocksdb";
    private static final double SYNC_CPU_MICROS_MAX = 200;
    private static final double DIP_SHARE_MAX = 0.2;
    private static final double RATE_ERROR_MAX = 0.02;
    private static final int OTHER_MINUTES_MAX = 40; // to fill, settle, close

    @Spec private CommandSpec spec;

    @Option(
            names = "--rounds",
            defaultValue = "3",
            description = "runs of each backend and case (default: ${DEFAULT-VALUE})")
    private int rounds;

    @Option(
            names = "--cases",
            defaultValue = "",
            description = "only cases whose name contains this, for example uploads or 16384B")
    private String cases;

    @Option(
            names = "--checkpoints",
            defaultValue = "20",
            description = "counted, in a run (default: ${DEFAULT-VALUE})")
    private int checkpoints;

    @Option(
            names = "--interval-millis",
            defaultValue = "500",
            description = "from one checkpoint to the next (default: ${DEFAULT-VALUE})")
    private int intervalMillis;

    @Option(
            names = "--warmup-millis",
            defaultValue = "3000",
            description = "load without checkpoints before them (default: ${DEFAULT-VALUE})")
    private int warmupMillis;

    @Option(
            names = "--instances",
            defaultValue = "10",
            description = "load: backends in the process (default: ${DEFAULT-VALUE})")
    private int instances;

    @Option(
            names = "--states",
            defaultValue = "10",
            description = "load: states of a backend (default: ${DEFAULT-VALUE})")
    private int states;

    @Option(
            names = "--state-mib",
            split = ",",
            defaultValue = "32,256",
            description = "load: values of all backends together (default: ${DEFAULT-VALUE})")
    private List<Integer> stateMiB;

    @Option(
            names = "--value-bytes",
            defaultValue = "1024",
            description = "load: size of a value (default: ${DEFAULT-VALUE})")
    private int valueBytes;

    @Option(
            names = "--rate",
            defaultValue = "4000",
            description = "load: updates a second over all backends (default: ${DEFAULT-VALUE})")
    private int rate;

    @Option(
            names = "--memory-mib",
            defaultValue = "512",
            description = "load: managed memory of all slots together (default: ${DEFAULT-VALUE})")
    private int memoryMiB;

    @Option(
            names = "--slots",
            defaultValue = "2",
            description =
                    "load: slots that the backends are divided among; uploads have one each"
                            + " (default: ${DEFAULT-VALUE})")
    private int slots;

    @Option(
            names = "--upload-instances",
            defaultValue = "4",
            description = "uploads: backends, of one state (default: ${DEFAULT-VALUE})")
    private int uploadInstances;

    @Option(
            names = "--upload-value-bytes",
            split = ",",
            defaultValue = "8,1024,16384",
            description = "uploads: sizes of values (default: ${DEFAULT-VALUE})")
    private List<Integer> uploadValueBytes;

    @Option(
            names = "--upload-state-mib",
            defaultValue = "128",
            description =
                    "uploads: values of all backends together, but not more than"
                            + " --upload-keys-max of them (default: ${DEFAULT-VALUE})")
    private int uploadStateMiB;

    @Option(
            names = "--upload-keys-max",
            defaultValue = "1000000",
            description = "uploads: keys at most (default: ${DEFAULT-VALUE})")
    private int uploadKeysMax;

    @Option(
            names = "--upload-updates-before",
            defaultValue = "1",
            description =
                    "uploads: of each key on average before the first checkpoint, so that"
                            + " compactions and collections have begun (default: ${DEFAULT-VALUE})")
    private double uploadUpdatesBefore;

    @Option(
            names = "--upload-kib-per-second",
            defaultValue = "5120",
            description =
                    "uploads: of values that are updated, but not more than"
                            + " --upload-rate-max of them (default: ${DEFAULT-VALUE})")
    private int uploadKiBPerSecond;

    @Option(
            names = "--upload-rate-max",
            defaultValue = "20000",
            description = "uploads: updates a second at most (default: ${DEFAULT-VALUE})")
    private int uploadRateMax;

    @Option(
            names = "--upload-memory-mib",
            defaultValue = "256",
            description = "uploads: managed memory of all backends (default: ${DEFAULT-VALUE})")
    private int uploadMemoryMiB;

    @Option(
            names = "--quick",
            description = "one round of small cases, to see that it works: a minute or two")
    private boolean quick;

    @Option(
            names = "--full",
            description =
                    "The full size: 100 instances, 2 GiB of state, 4 GiB of memory; some hours")
    private boolean full;

    @Option(
            names = "--set",
            paramLabel = "KEY=VALUE",
            description = "an option of Flink's or a backend's, for all processes; repeat it")
    private Map<String, String> settings = new LinkedHashMap<>();

    @Option(
            names = "--heap-mib",
            defaultValue = "512",
            description = "Java heap of a run (default: ${DEFAULT-VALUE})")
    private int heapMiB;

    @Option(
            names = "--directory",
            defaultValue = "${sys:java.io.tmpdir}",
            description = "where files and checkpoints go (default: ${DEFAULT-VALUE})")
    private Path directory;

    @Option(names = "--results", defaultValue = "benchmarks/results", hidden = true)
    private Path results;

    /** One load, and Lava's goals for it. */
    private static final class Case {
        final String name;
        final CheckpointLoad load;
        final Map<CheckpointMetric, Goal> goals;

        Case(String name, CheckpointLoad load, Map<CheckpointMetric, Goal> goals) {
            this.name = name;
            this.load = load;
            this.goals = goals;
        }
    }

    @Override
    public Integer call() throws Exception {
        size();
        check();
        ChildProcess process = new ChildProcess(heapMiB, directory);
        Report report = new Report("checkpoint");
        for (Case one : cases()) {
            if (one.name.contains(cases)) {
                compare(report, one, process);
                report.write(results);
            }
        }
        report.print(System.out);
        return 0;
    }

    private void size() {
        if (quick) {
            rounds = 1;
            checkpoints = 5;
            warmupMillis = 2000;
            instances = 8;
            stateMiB = List.of(16);
            rate = 2000;
            memoryMiB = 256;
            uploadStateMiB = 32;
            uploadKeysMax = 100_000;
            uploadKiBPerSecond = 2048;
            uploadRateMax = 5000;
            uploadMemoryMiB = 64;
        } else if (full) {
            instances = 100;
            stateMiB = List.of(128, 2048);
            rate = 8000;
            memoryMiB = 4096;
            slots = 4;
            intervalMillis = 5000;
            heapMiB = 1024;
        }
    }

    private void check() {
        if (rounds < 1 || checkpoints < 1 || intervalMillis < 1 || warmupMillis < 0) {
            fail("--rounds, --checkpoints and --interval-millis must be above 0");
        }
        for (Case one : cases()) {
            if (!one.load.isPossible()) {
                fail(
                        one.name
                                + ": --instances, --states, --slots, sizes and rates must be above 0,"
                                + " --instances and --memory-mib at least --slots");
            }
        }
    }

    private void fail(String what) {
        throw new ParameterException(spec.commandLine(), what);
    }

    private List<Case> cases() {
        List<Case> all = new ArrayList<>();
        for (int mib : stateMiB) {
            CheckpointLoad load = new CheckpointLoad();
            load.instances = instances;
            load.states = states;
            load.slots = slots;
            load.memoryMiB = memoryMiB;
            load.keys = keysIn(mib, valueBytes);
            load.valueBytes = valueBytes;
            load.rate = rate;
            load.settings = settings;
            all.add(
                    new Case(
                            "load " + load,
                            load,
                            Map.of(
                                    CheckpointMetric.SYNC_CPU,
                                    Goal.atMost(SYNC_CPU_MICROS_MAX),
                                    CheckpointMetric.DIP,
                                    Goal.shareOf(DIP_SHARE_MAX))));
        }
        for (int bytes : uploadValueBytes) {
            CheckpointLoad load = new CheckpointLoad();
            load.instances = uploadInstances;
            load.states = 1;
            load.slots = uploadInstances;
            load.memoryMiB = uploadMemoryMiB;
            load.keys = Math.min(keysIn(uploadStateMiB, bytes), uploadKeysMax);
            load.updatesBefore = uploadUpdatesBefore;
            load.valueBytes = bytes;
            load.rate = (int) Math.min(((long) uploadKiBPerSecond << 10) / bytes, uploadRateMax);
            load.settings = settings;
            all.add(
                    new Case(
                            "uploads " + load,
                            load,
                            Map.of(CheckpointMetric.UPLOADED, Goal.shareOf(uploadedMax(bytes)))));
        }
        return all;
    }

    private static int keysIn(int mib, int bytes) {
        return (int) Math.min(Integer.MAX_VALUE, ((long) mib << 20) / bytes);
    }

    /** Goal for uploads with values of this size, as a share of RocksDB's. */
    static double uploadedMax(int valueBytes) {
        if (valueBytes >= 16 << 10) {
            return 0.2;
        }
        return valueBytes >= 1 << 10 ? 0.5 : 1;
    }

    private void compare(Report report, Case one, ChildProcess process)
            throws IOException, InterruptedException {
        List<Map<CheckpointMetric, Double>> lava = new ArrayList<>();
        List<Map<CheckpointMetric, Double>> peer = new ArrayList<>();
        for (int round = 0; round < rounds; round++) {
            // The order alternates with the round, so that none always runs first.
            for (String backend : round % 2 == 0 ? List.of(PEER, LAVA) : List.of(LAVA, PEER)) {
                Map<CheckpointMetric, Double> metrics = run(process, backend, one.load);
                (backend.equals(LAVA) ? lava : peer).add(metrics);
                warnUnlessKept(backend, one, metrics);
            }
        }
        for (CheckpointMetric metric : CheckpointMetric.values()) {
            report.compare(
                    one.name,
                    metric,
                    one.goals.getOrDefault(metric, Goal.NONE),
                    PEER,
                    valuesOf(metric, lava),
                    valuesOf(metric, peer));
        }
    }

    private Map<CheckpointMetric, Double> run(
            ChildProcess process, String backend, CheckpointLoad load)
            throws IOException, InterruptedException {
        List<String> arguments = new ArrayList<>(load.arguments());
        arguments.add("--backend=" + backend);
        arguments.add("--warmup-millis=" + warmupMillis);
        arguments.add("--checkpoints=" + checkpoints);
        arguments.add("--interval-millis=" + intervalMillis);
        long secondsMax =
                TimeUnit.MINUTES.toSeconds(OTHER_MINUTES_MAX)
                        + ((long) checkpoints * intervalMillis + warmupMillis) / 1000;
        return process.run(
                "checkpoint-process",
                arguments,
                secondsMax,
                new TypeReference<Map<CheckpointMetric, Double>>() {});
    }

    private static void warnUnlessKept(
            String backend, Case one, Map<CheckpointMetric, Double> metrics) {
        double done = metrics.get(CheckpointMetric.OPERATIONS);
        if (Math.abs(done / one.load.rate - 1) > RATE_ERROR_MAX) {
            System.err.printf(
                    "%s: %s did %.0f updates/s where %d were offered: a lower rate or a quiet machine"
                            + " is needed to compare%n",
                    one.name, backend, done, one.load.rate);
        }
    }

    private static double[] valuesOf(
            CheckpointMetric metric, List<Map<CheckpointMetric, Double>> runs) {
        return runs.stream().mapToDouble(run -> run.get(metric)).toArray();
    }
}
