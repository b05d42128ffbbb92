// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.bench;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.Options;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Every operation of Flink's value, list and map state, on each backend in separate forks,
 * alternating within each round. A ratio is the median over rounds of (Lava's throughput divided by
 * the peer's in the same round).
 */
@Command(
        name = "state",
        description = "JMH over Flink's state interfaces: heap, RocksDB and Lava.",
        mixinStandardHelpOptions = true)
final class StateSuite implements Callable<Integer> {
    private static final List<String> OPERATIONS =
            List.of(
                    "ValueState.get",
                    "ValueState.update",
                    "ValueState.add",
                    "ListState.add",
                    "ListState.append",
                    "ListState.get",
                    "ListState.getAndIterate",
                    "ListState.update",
                    "ListState.addAll",
                    "MapState.get",
                    "MapState.put",
                    "MapState.add",
                    "MapState.contains",
                    "MapState.isEmpty",
                    "MapState.keys",
                    "MapState.values",
                    "MapState.entries",
                    "MapState.iterator",
                    "MapState.remove",
                    "MapState.removeAndPut",
                    "MapState.putAll");

    @Option(
            names = "--rounds",
            defaultValue = "3",
            description = "forks of each backend and operation (default: ${DEFAULT-VALUE})")
    private int rounds;

    @Option(
            names = "--operations",
            defaultValue = "",
            description = "only operations whose name contains this, for example MapState.get")
    private String operations;

    @Option(
            names = "--peers",
            split = ",",
            defaultValue = "rocksdb,hashmap",
            description = "state.backend.type of the peers (default: ${DEFAULT-VALUE})")
    private List<String> peers;

    @Option(
            names = "--ttl",
            arity = "1",
            split = ",",
            defaultValue = "false",
            description = "without and with TTL (default: ${DEFAULT-VALUE})")
    private List<Boolean> ttl;

    @Option(
            names = "--value-bytes",
            split = ",",
            defaultValue = "8",
            description = "sizes of values (default: ${DEFAULT-VALUE})")
    private List<Integer> valueBytes;

    @Option(
            names = "--memory-mib",
            split = ",",
            defaultValue = "256",
            description = "managed memory of the slot (default: ${DEFAULT-VALUE})")
    private List<Integer> memoryMiB;

    @Option(
            names = "--full",
            description =
                    "with and without TTL, values of 8 bytes, 1 KiB and 16 KiB, 256 and 64 MiB:"
                            + " takes most of a day")
    private boolean full;

    @Option(
            names = "--keys",
            defaultValue = "500000",
            description = "keys, fewer where values are large (default: ${DEFAULT-VALUE})")
    private int keys;

    @Option(
            names = "--data-mib-max",
            defaultValue = "2048",
            description =
                    "keys are cut so that a state's values are at most this large (default:"
                            + " ${DEFAULT-VALUE})")
    private long dataMiBMax;

    @Option(
            names = "--seconds",
            defaultValue = "1",
            description = "seconds of an iteration (default: ${DEFAULT-VALUE})")
    private int seconds;

    @Option(
            names = "--settle-seconds",
            defaultValue = "5",
            description =
                    "pause between filling a state and measuring, for background work of the"
                            + " filling to end (default: ${DEFAULT-VALUE})")
    private int settleSeconds;

    @Option(
            names = "--set",
            paramLabel = "KEY=VALUE",
            description = "an option of Flink's or a backend's, for all processes; repeat it")
    private Map<String, String> settings = new LinkedHashMap<>();

    @Option(names = "--results", defaultValue = "benchmarks/results", hidden = true)
    private Path results;

    @Option(names = "--jvm-argument", hidden = true)
    private List<String> jvmArguments = new ArrayList<>();

    @Override
    public Integer call() throws Exception {
        if (full) {
            ttl = List.of(false, true);
            valueBytes = List.of(8, 1024, 16384);
            memoryMiB = List.of(256, 64);
        }
        Report report = new Report("state");
        for (int memory : memoryMiB) {
            for (int bytes : valueBytes) {
                for (boolean withTtl : ttl) {
                    for (String operation : OPERATIONS) {
                        if (operation.contains(operations)) {
                            compare(report, operation, memory, bytes, withTtl);
                            report.write(results);
                        }
                    }
                }
            }
        }
        report.print(System.out);
        return 0;
    }

    private void compare(Report report, String operation, int memory, int bytes, boolean withTtl)
            throws RunnerException {
        int entries = operation.startsWith("ValueState") ? 1 : 10;
        long fitting = (dataMiBMax << 20) / ((long) bytes * entries);
        int keyCount = (int) Math.min(keys, fitting);
        String name =
                String.format(
                        Locale.ROOT,
                        "%s %dB %dMiB%s",
                        operation,
                        bytes,
                        memory,
                        withTtl ? " ttl" : "");
        List<String> backends = new ArrayList<>(peers);
        backends.add("lava");
        Map<String, double[]> scores = new LinkedHashMap<>();
        backends.forEach(backend -> scores.put(backend, new double[rounds]));
        for (int round = 0; round < rounds; round++) {
            for (int i = 0; i < backends.size(); i++) {
                // The order rotates with the round, so that no backend always runs first.
                String backend = backends.get((i + round) % backends.size());
                scores.get(backend)[round] =
                        measure(operation, backend, memory, bytes, withTtl, keyCount);
            }
        }
        double[] lava = scores.get("lava");
        for (String peer : peers) {
            double[] other = scores.get(peer);
            double[] ratios = new double[rounds];
            for (int round = 0; round < rounds; round++) {
                ratios[round] = lava[round] / other[round];
            }
            double ratio = Report.median(ratios);
            report.add(
                    new Report.Row(
                            name,
                            "throughput",
                            "operations/ms",
                            Report.median(lava),
                            peer,
                            Report.median(other),
                            ratio));
            System.out.printf("%-52s %-10s %8.2f%n", name, peer, ratio);
        }
    }

    private String settings() {
        return settings.entrySet().stream()
                .map(entry -> entry.getKey() + "=" + entry.getValue())
                .collect(Collectors.joining("\n"));
    }

    private double measure(
            String operation, String backend, int memory, int bytes, boolean withTtl, int keyCount)
            throws RunnerException {
        String include = operation.replace("State.", "StateBenchmark.").replace(".", "\\.") + "$";
        Options options =
                new OptionsBuilder()
                        .include("org\\.lavakv\\.bench\\." + include)
                        .param("backend", backend)
                        .param("ttl", Boolean.toString(withTtl))
                        .param("valueBytes", Integer.toString(bytes))
                        .param("memoryMiB", Integer.toString(memory))
                        .param("keys", Integer.toString(keyCount))
                        .param("settleSeconds", Integer.toString(settleSeconds))
                        .param("settings", settings())
                        .forks(1)
                        .warmupIterations(2)
                        .warmupTime(TimeValue.seconds(seconds))
                        .measurementIterations(3)
                        .measurementTime(TimeValue.seconds(seconds))
                        .timeout(TimeValue.minutes(10))
                        .jvmArgsAppend(jvmArguments.toArray(new String[0]))
                        .shouldFailOnError(true)
                        .verbosity(VerboseMode.SILENT)
                        .build();
        Collection<RunResult> result = new Runner(options).run();
        if (result.size() != 1) {
            throw new IllegalStateException(
                    "Expected one result of " + include + ", got " + result.size());
        }
        return result.iterator().next().getPrimaryResult().getScore();
    }
}
