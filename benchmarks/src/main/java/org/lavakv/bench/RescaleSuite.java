// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.bench;

import com.fasterxml.jackson.core.type.TypeReference;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * Restores and rescales like flink-benchmarks' rescaling benchmark (one value state, keys of 96
 * bytes, values of 128, maximum parallelism 128). Compares Lava with RocksDB, and with RocksDB that
 * ingests files. Each run is a separate process, and the backends alternate within each round. A
 * ratio is the median over rounds of (RocksDB's figure divided by Lava's in the same round).
 *
 * <ul>
 *   <li><i>Restore</i>: Flink's call that creates a keyed backend with the handles of its
 *       predecessors; the sum over all new subtasks, one after the other.
 *   <li><i>To first record</i>: the same, plus registering the state and reading and updating one
 *       key.
 *   <li><i>Written</i>: by the process meanwhile, as counted by the system. Excludes later writes
 *       of background work, such as compactions that drop clipped data.
 *   <li><i>Savepoint</i>: a canonical one of one subtask, both parts.
 * </ul>
 *
 * <p>In the on-demand mode files are fetched while the state is already used, and the first record
 * waits for the files that it needs. A local case restores from copies for local recovery, on the
 * same file system as the new backends. A transfer case restores from the checkpoint's directory,
 * as a new machine does. In both cases files may be in the page cache. The filled state settles
 * before its checkpoint.
 */
@Command(
        name = "rescale",
        description = {
            "Restores with the same and another parallelism, from local files and from a"
                    + " checkpoint's directory, and canonical savepoints: RocksDB, RocksDB that"
                    + " ingests files, and Lava, also on demand.",
            "The state is that of flink-benchmarks' rescaling benchmark, with a tenth of its keys"
                    + " unless --full."
        },
        mixinStandardHelpOptions = true)
final class RescaleSuite implements Callable<Integer> {
    private static final String LAVA = "lava";
    private static final String PEER = "rocksdb";
    private static final String CANONICAL = "canonical";
    private static final int QUICK_KEYS = 50_000;
    private static final int FULL_KEYS = 10_000_000;
    private static final int HOURS_MAX = 2;

    @Spec private CommandSpec spec;

    @Mixin private RescaleScale scale;

    @Option(
            names = "--rounds",
            defaultValue = "3",
            description = "runs of each backend (default: ${DEFAULT-VALUE})")
    private int rounds;

    @Option(
            names = "--quick",
            description = "one round with few keys, to see that it works: a minute or so")
    private boolean quick;

    @Option(names = "--full", description = "10 million keys: an hour or two")
    private boolean full;

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

    @Override
    public Integer call() throws Exception {
        if (quick) {
            rounds = 1;
            scale.keys = QUICK_KEYS;
        } else if (full) {
            scale.keys = FULL_KEYS;
        }
        if (rounds < 1 || !scale.isPossible()) {
            throw new ParameterException(
                    spec.commandLine(),
                    "--rounds and --repeats must be above 0, --keys at least 1000, --key-bytes 8");
        }
        ChildProcess process = new ChildProcess(heapMiB, directory);
        Map<RescaleMode, List<Map<String, Map<RescaleMetric, Double>>>> all =
                new EnumMap<>(RescaleMode.class);
        for (int round = 0; round < rounds; round++) {
            // The order alternates with the round, so that none always runs first.
            for (String backend : round % 2 == 0 ? List.of(PEER, LAVA) : List.of(LAVA, PEER)) {
                List<String> arguments = new ArrayList<>(scale.arguments());
                arguments.add("--backend=" + backend);
                process.run(
                                "rescale-process",
                                arguments,
                                TimeUnit.HOURS.toSeconds(HOURS_MAX),
                                new TypeReference<
                                        Map<
                                                RescaleMode,
                                                Map<String, Map<RescaleMetric, Double>>>>() {})
                        .forEach(
                                (mode, cases) ->
                                        all.computeIfAbsent(mode, any -> new ArrayList<>())
                                                .add(cases));
            }
        }
        Report report = new Report("rescale");
        compare(report, scale.toString(), all);
        report.write(results);
        report.print(System.out);
        return 0;
    }

    /**
     * Compares each mode of Lava with each of RocksDB's.
     *
     * @param all by mode, round, case and metric
     */
    static void compare(
            Report report,
            String size,
            Map<RescaleMode, List<Map<String, Map<RescaleMetric, Double>>>> all) {
        for (RescaleMode lava : of(LAVA, all)) {
            for (RescaleMode peer : of(PEER, all)) {
                Set<String> cases = new LinkedHashSet<>(all.get(lava).get(0).keySet());
                cases.retainAll(all.get(peer).get(0).keySet());
                for (String one : cases) {
                    String name = (one + " " + lava.label).trim() + ", " + size;
                    for (RescaleMetric metric : all.get(lava).get(0).get(one).keySet()) {
                        report.compare(
                                name,
                                metric,
                                goal(one, metric, peer),
                                (peer.backend + " " + peer.label).trim(),
                                valuesOf(one, metric, all.get(lava)),
                                valuesOf(one, metric, all.get(peer)));
                    }
                }
            }
        }
    }

    private static List<RescaleMode> of(String backend, Map<RescaleMode, ?> all) {
        List<RescaleMode> modes = new ArrayList<>();
        for (RescaleMode mode : all.keySet()) {
            if (mode.backend.equals(backend)) {
                modes.add(mode);
            }
        }
        return modes;
    }

    /** The goals of restores that rescale, of restores from local files, and of savepoints. */
    private static Goal goal(String one, RescaleMetric metric, RescaleMode peer) {
        if (one.equals(CANONICAL)) {
            return metric == RescaleMetric.SAVEPOINT || metric == RescaleMetric.RESTORE
                    ? Goal.shareOf(0.5)
                    : Goal.NONE;
        }
        boolean asked =
                peer == RescaleMode.ROCKSDB_INGEST
                        && metric == RescaleMetric.RESTORE
                        && one.endsWith(" local")
                        && !one.startsWith("1->1");
        return asked ? Goal.shareOf(0.1) : Goal.NONE;
    }

    private static double[] valuesOf(
            String one,
            RescaleMetric metric,
            List<Map<String, Map<RescaleMetric, Double>>> rounds) {
        return rounds.stream().mapToDouble(round -> round.get(one).get(metric)).toArray();
    }
}
