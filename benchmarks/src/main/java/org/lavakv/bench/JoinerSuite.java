// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.bench;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * The papers' online joiner: many instances in one process with values of 70 KB, Lava compared with
 * RocksDB at the same fixed load. Each run is a separate process, and the backends alternate within
 * each round. A ratio is the median over rounds of (RocksDB's figure divided by Lava's in the same
 * round).
 *
 * <p>Both have Flink's default options: RocksDB compresses with Snappy, Lava with LZ4. RocksDB
 * keeps values in its tree, because Flink has no option for blob files.
 */
@Command(
        name = "joiner",
        description = {
            "The online joiner: reads, writes and deletes 1 : 1 : 1 of values of 70 KB, in many"
                    + " RocksDB or Lava backends of one process, at a fixed load.",
            "Without --rate the load is --share of what the slower of the two can do without pauses,"
                    + " which a run of each finds out first; that its background work takes longer"
                    + " counts. CPU is that of the engine's own threads"
                    + " and of the tasks' threads inside calls of the state."
        },
        mixinStandardHelpOptions = true)
final class JoinerSuite implements Callable<Integer> {
    private static final String LAVA = "lava";
    private static final String PEER = "rocksdb";
    private static final double RATE_ERROR_MAX = 0.02;
    private static final double LATE_SECONDS_MAX = 5;

    @Spec private CommandSpec spec;

    @Mixin private JoinerScale scale;

    @Option(
            names = "--rounds",
            defaultValue = "3",
            description = "runs of each backend (default: ${DEFAULT-VALUE})")
    private int rounds;

    @Option(
            names = "--rate",
            defaultValue = "0",
            description = "operations a second over all backends; 0: found out (the default)")
    private int rate;

    @Option(
            names = "--share",
            defaultValue = "0.6",
            description = "of the slower one's highest rate (default: ${DEFAULT-VALUE})")
    private double share;

    @Option(
            names = "--calibrate-seconds",
            defaultValue = "30",
            description =
                    "of a run without pauses, before what it left to do in the background (default:"
                            + " ${DEFAULT-VALUE})")
    private int calibrateSeconds;

    @Option(
            names = "--warmup-seconds",
            defaultValue = "60",
            description = "under the load before measuring (default: ${DEFAULT-VALUE})")
    private int warmupSeconds;

    @Option(
            names = "--seconds",
            defaultValue = "240",
            description = "measured (default: ${DEFAULT-VALUE})")
    private int seconds;

    @Option(
            names = "--heap-mib",
            defaultValue = "512",
            description = "Java heap of a run, resident from the start (default: ${DEFAULT-VALUE})")
    private int heapMiB;

    @Option(
            names = "--directory",
            defaultValue = "${sys:java.io.tmpdir}",
            description = "where the backends' files go (default: ${DEFAULT-VALUE})")
    private Path directory;

    @Option(names = "--results", defaultValue = "benchmarks/results", hidden = true)
    private Path results;

    @Override
    public Integer call() throws Exception {
        check();
        JoinerRun process = new JoinerRun(scale, heapMiB, directory);
        int offered = rate > 0 ? rate : calibrate(process);
        List<Map<JoinerMetric, Double>> lava = new ArrayList<>();
        List<Map<JoinerMetric, Double>> peer = new ArrayList<>();
        for (int round = 0; round < rounds; round++) {
            // The order alternates with the round, so that none always runs first.
            for (String backend : round % 2 == 0 ? List.of(PEER, LAVA) : List.of(LAVA, PEER)) {
                Map<JoinerMetric, Double> metrics =
                        process.run(backend, offered, warmupSeconds, seconds);
                (backend.equals(LAVA) ? lava : peer).add(metrics);
                warnUnlessKept(backend, offered, metrics);
            }
        }
        Report report = new Report("joiner");
        String name = scale + " " + offered + "/s";
        for (JoinerMetric metric : JoinerMetric.values()) {
            report.compare(
                    name,
                    metric,
                    metric.goal(),
                    PEER,
                    valuesOf(metric, lava),
                    valuesOf(metric, peer));
        }
        report.write(results);
        report.print(System.out);
        return 0;
    }

    private void check() {
        if (!scale.isPossible()) {
            fail(
                    "--live-mib, --slots must be above 0, --instances and --memory-mib at least --slots");
        }
        if (rounds < 1 || seconds < 1 || warmupSeconds < 0 || calibrateSeconds < 1) {
            fail("--rounds, --seconds and --calibrate-seconds must be above 0");
        }
        if (rate < 0 || !(share > 0 && share <= 1)) {
            fail("--rate must not be below 0, --share above 0 and at most 1");
        }
    }

    private void fail(String what) {
        throw new ParameterException(spec.commandLine(), what);
    }

    private int calibrate(JoinerRun process) throws IOException, InterruptedException {
        Map<String, Double> highest = new LinkedHashMap<>();
        for (String backend : List.of(PEER, LAVA)) {
            double found =
                    process.run(backend, 0, 0, calibrateSeconds).get(JoinerMetric.OPERATIONS);
            highest.put(backend, found);
        }
        int offered = offered(highest.values(), share);
        System.out.printf("without pauses, 1/s: %s; offered: %d%n", highest, offered);
        return offered;
    }

    /** The load offered to all: a share of the slowest one's maximum, and at least 1. */
    static int offered(Iterable<Double> highestRates, double share) {
        double least = Double.POSITIVE_INFINITY;
        for (double highest : highestRates) {
            least = Math.min(least, highest);
        }
        return (int) Math.max(1, least * share);
    }

    private static void warnUnlessKept(
            String backend, int offered, Map<JoinerMetric, Double> metrics) {
        double done = metrics.get(JoinerMetric.OPERATIONS);
        double late = metrics.get(JoinerMetric.LATE_PEAK);
        if (Math.abs(done / offered - 1) > RATE_ERROR_MAX || late > LATE_SECONDS_MAX) {
            System.err.printf(
                    "%s did %.0f operations/s where %d were offered, up to %.1f s late: a lower --rate"
                            + " or a quiet machine is needed to compare%n",
                    backend, done, offered, late);
        }
    }

    private static double[] valuesOf(JoinerMetric metric, List<Map<JoinerMetric, Double>> runs) {
        return runs.stream().mapToDouble(run -> run.get(metric)).toArray();
    }
}
