// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.bench;

import com.fasterxml.jackson.core.type.TypeReference;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
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
 * A real Flink job under Flink's changelog: bytes written for each change of a value, and
 * throughput. Compares Lava with its own storage of the changelog with RocksDB and with Lava, both
 * with Flink's {@code filesystem} storage. Each run is a separate process with a cluster, and the
 * three alternate within each round. A ratio is the median over rounds of (the peer's figure
 * divided by Lava's in the same round). Values are half compressible, and all compress their
 * output; the memory is an eighth of the state.
 *
 * <ul>
 *   <li><i>Written</i>: bytes that the process writes from the first measured change until the
 *       engine is idle after the last one: the engine's files, the changelog and the
 *       materializations. The last two go to a file system that counts them; the first is the rest
 *       of the system's count.
 *   <li><i>Records</i>: changes per second, which matter at full speed.
 *   <li><i>Checkpoint</i>: from the trigger to the completion, the median and the maximum.
 * </ul>
 *
 * <p>Values that Lava would not separate without a changelog are also run without separation.
 */
@Command(
        name = "xll",
        description = {
            "A Flink job under Flink's changelog, Lava with its storage beside RocksDB and Lava with"
                    + " Flink's: bytes written for each change, changes a second, checkpoints."
        },
        mixinStandardHelpOptions = true)
final class XllSuite implements Callable<Integer> {
    private static final double WRITTEN_SHARE_MAX = 0.4;
    private static final int OTHER_MINUTES_MAX = 60;

    /** Smaller values are in Lava's key files, unless Lava chooses the size itself. */
    private static final int SEPARATION_BYTES = 4096;

    @Spec private CommandSpec spec;

    @Option(
            names = "--rounds",
            defaultValue = "3",
            description = "runs of each and case (default: ${DEFAULT-VALUE})")
    private int rounds;

    @Option(
            names = "--cases",
            defaultValue = "",
            description = "only cases whose name contains this, for example 16384B or flat")
    private String cases;

    @Option(
            names = "--value-bytes",
            split = ",",
            defaultValue = "1024,16384",
            description = "sizes of values (default: ${DEFAULT-VALUE})")
    private List<Integer> valueBytes;

    @Option(
            names = "--state-mib",
            defaultValue = "512",
            description = "values of all keys together (default: ${DEFAULT-VALUE})")
    private int stateMiB;

    @Option(
            names = "--memory-mib",
            defaultValue = "64",
            description = "managed memory of all slots together (default: ${DEFAULT-VALUE})")
    private int memoryMiB;

    @Option(
            names = "--mib-per-second",
            defaultValue = "10",
            description =
                    "of values that are changed, where not flat out (default: ${DEFAULT-VALUE})")
    private int mibPerSecond;

    @Option(
            names = "--warmup-mib",
            defaultValue = "64",
            description = "of values changed before it is measured (default: ${DEFAULT-VALUE})")
    private int warmupMiB;

    @Option(
            names = "--changed-mib",
            defaultValue = "384",
            description =
                    "of values changed while it is measured, where not flat out"
                            + " (default: ${DEFAULT-VALUE})")
    private int changedMiB;

    @Option(
            names = "--flat-out-mib",
            defaultValue = "2048",
            description =
                    "of values changed while it is measured, flat out (default: ${DEFAULT-VALUE})")
    private int flatOutMiB;

    @Option(
            names = "--parallelism",
            defaultValue = "2",
            description = "of the job (default: ${DEFAULT-VALUE})")
    private int parallelism;

    @Option(
            names = "--checkpoint-millis",
            defaultValue = "1000",
            description = "from one checkpoint to the next (default: ${DEFAULT-VALUE})")
    private int checkpointMillis;

    @Option(
            names = "--materialize-millis",
            defaultValue = "10000",
            description = "from one materialization to the next (default: ${DEFAULT-VALUE})")
    private int materializeMillis;

    @Option(
            names = "--quick",
            description = "one round of small cases, to see that it works: some minutes")
    private boolean quick;

    @Option(
            names = "--set",
            paramLabel = "KEY=VALUE",
            description = "an option of Flink's or a backend's, for all processes; repeat it")
    private Map<String, String> settings = new LinkedHashMap<>();

    @Option(
            names = "--heap-mib",
            defaultValue = "1024",
            description = "Java heap of a run (default: ${DEFAULT-VALUE})")
    private int heapMiB;

    @Option(
            names = "--directory",
            defaultValue = "${sys:java.io.tmpdir}",
            description = "where files and checkpoints go (default: ${DEFAULT-VALUE})")
    private Path directory;

    @Option(names = "--results", defaultValue = "benchmarks/results", hidden = true)
    private Path results;

    /** The sides of the comparison, with their storage of the changelog. */
    private enum Side {
        ROCKSDB("rocksdb", "filesystem", "rocksdb"),
        LAVA_FILES("lava", "filesystem", "lava, its files"),
        LAVA("lava", "lava", "lava");

        final String backend;
        final String storage;
        final String label;

        Side(String backend, String storage, String label) {
            this.backend = backend;
            this.storage = storage;
            this.label = label;
        }
    }

    @Override
    public Integer call() throws Exception {
        if (quick) {
            rounds = 1;
            stateMiB = 32;
            memoryMiB = 32;
            warmupMiB = 16;
            changedMiB = 64;
            flatOutMiB = 256;
            checkpointMillis = 500;
            materializeMillis = 2000;
        }
        List<XllLoad> loads = loads();
        check(loads);
        Report report = new Report("xll");
        ChildProcess process = new ChildProcess(heapMiB, directory);
        for (XllLoad load : loads) {
            if (load.toString().contains(cases)) {
                compare(report, load, process);
                report.write(results);
            }
        }
        report.print(System.out);
        return 0;
    }

    private void check(List<XllLoad> loads) {
        if (rounds < 1 || !loads.stream().allMatch(XllLoad::isPossible)) {
            throw new ParameterException(
                    spec.commandLine(),
                    "--rounds, --parallelism, sizes and rates must be above 0, --memory-mib and the"
                            + " keys at least --parallelism, values of 8 bytes or more,"
                            + " --checkpoint-millis 10 or more");
        }
    }

    private List<XllLoad> loads() {
        List<XllLoad> all = new ArrayList<>();
        for (int bytes : valueBytes) {
            all.add(load(bytes, false, settings));
            if (bytes < SEPARATION_BYTES) {
                Map<String, String> inline = new LinkedHashMap<>(settings);
                inline.put(XllLoad.AUTOMATIC, "false");
                all.add(load(bytes, false, inline));
            }
            all.add(load(bytes, true, settings));
        }
        return all;
    }

    private XllLoad load(int bytes, boolean flatOut, Map<String, String> set) {
        XllLoad load = new XllLoad();
        load.valueBytes = bytes;
        load.keys = countIn(stateMiB, bytes);
        load.rate = flatOut ? 0 : countIn(mibPerSecond, bytes);
        load.warmupChanges = countIn(warmupMiB, bytes);
        load.changes = countIn(flatOut ? flatOutMiB : changedMiB, bytes);
        load.parallelism = parallelism;
        load.memoryMiB = memoryMiB;
        load.checkpointMillis = checkpointMillis;
        load.materializeMillis = materializeMillis;
        load.settings = set;
        return load;
    }

    private static int countIn(int mib, int bytes) {
        return (int) Math.min(Integer.MAX_VALUE, ((long) mib << 20) / Math.max(bytes, 1));
    }

    private void compare(Report report, XllLoad load, ChildProcess process)
            throws IOException, InterruptedException {
        Map<Side, List<Map<XllMetric, Double>>> runs = new EnumMap<>(Side.class);
        for (int round = 0; round < rounds; round++) {
            for (int turn = 0; turn < Side.values().length; turn++) {
                // The order rotates with the round, so that none always runs first.
                Side side = Side.values()[(turn + round) % Side.values().length];
                runs.computeIfAbsent(side, key -> new ArrayList<>()).add(run(process, side, load));
            }
        }
        for (XllMetric metric : XllMetric.values()) {
            for (Side peer : List.of(Side.ROCKSDB, Side.LAVA_FILES)) {
                report.compare(
                        load.toString(),
                        metric,
                        goal(metric, load, peer),
                        peer.label,
                        valuesOf(metric, runs.get(Side.LAVA)),
                        valuesOf(metric, runs.get(peer)));
            }
        }
    }

    private static Goal goal(XllMetric metric, XllLoad load, Side peer) {
        if (peer != Side.ROCKSDB) {
            return Goal.NONE;
        }
        if (metric == XllMetric.WRITTEN && load.rate > 0) {
            return Goal.shareOf(WRITTEN_SHARE_MAX);
        }
        return metric == XllMetric.RECORDS && load.rate == 0 ? Goal.shareOf(1) : Goal.NONE;
    }

    private Map<XllMetric, Double> run(ChildProcess process, Side side, XllLoad load)
            throws IOException, InterruptedException {
        List<String> arguments = new ArrayList<>(load.arguments());
        arguments.add("--backend=" + side.backend);
        arguments.add("--storage=" + side.storage);
        return process.run(
                "xll-process",
                arguments,
                TimeUnit.MINUTES.toSeconds(OTHER_MINUTES_MAX),
                new TypeReference<Map<XllMetric, Double>>() {});
    }

    private static double[] valuesOf(XllMetric metric, List<Map<XllMetric, Double>> runs) {
        return runs.stream().mapToDouble(run -> run.get(metric)).toArray();
    }
}
