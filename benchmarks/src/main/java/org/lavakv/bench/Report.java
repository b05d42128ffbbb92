// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.bench;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The rows of one suite: printed as a table of ratios, and written as one JSON object per line. One
 * thread.
 */
final class Report {
    private final String suite;
    private final List<Row> rows = new ArrayList<>();

    Report(String suite) {
        this.suite = suite;
    }

    /** One comparison; a ratio above 1 means that Lava is better. */
    static final class Row {
        final String name;
        final String metric;
        final String unit;
        final double lava;
        final String peer;
        final double peerValue;
        final double ratio;

        Row(
                String name,
                String metric,
                String unit,
                double lava,
                String peer,
                double peerValue,
                double ratio) {
            this.name = name;
            this.metric = metric;
            this.unit = unit;
            this.lava = lava;
            this.peer = peer;
            this.peerValue = peerValue;
            this.ratio = ratio;
        }
    }

    void add(Row row) {
        rows.add(row);
    }

    /**
     * Compares Lava with a peer, and with the goal if there is one. The ratio is the median over
     * rounds of the ratio of both sides' figures in the same round.
     */
    void compare(
            String name, Metric metric, Goal goal, String peer, double[] lava, double[] other) {
        double[] ratios = new double[lava.length];
        for (int i = 0; i < ratios.length; i++) {
            ratios[i] = metric.ratio(lava[i], other[i]);
        }
        double ratio = median(ratios);
        double figure = median(lava);
        add(new Row(name, metric.label(), metric.unit(), figure, peer, median(other), ratio));
        goal.row(name, metric, figure, ratio).ifPresent(this::add);
    }

    /** Writes {@code directory/SUITE.jsonl}, replacing the previous run. */
    void write(Path directory) throws IOException {
        ObjectMapper mapper = new ObjectMapper();
        Files.createDirectories(directory);
        List<String> lines = new ArrayList<>();
        for (Row row : rows) {
            Map<String, Object> object = new LinkedHashMap<>();
            object.put("suite", suite);
            object.put("case", row.name);
            object.put("metric", row.metric);
            object.put("unit", row.unit);
            object.put("lava", row.lava);
            object.put("peer", row.peer);
            object.put("peer_value", row.peerValue);
            object.put("ratio", row.ratio);
            try {
                lines.add(mapper.writeValueAsString(object));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
        Files.write(directory.resolve(suite + ".jsonl"), lines);
    }

    /** Prints the table, and for every peer the geometric mean of its ratios. */
    void print(PrintStream out) {
        out.printf("%-52s %-22s %-14s %8s%n", "case", "metric", "peer", "ratio");
        Map<String, List<Double>> byPeer = new LinkedHashMap<>();
        for (Row row : rows) {
            out.printf("%-52s %-22s %-14s %8.2f%n", row.name, row.metric, row.peer, row.ratio);
            byPeer.computeIfAbsent(row.peer, peer -> new ArrayList<>()).add(row.ratio);
        }
        byPeer.forEach(
                (peer, ratios) ->
                        out.printf(
                                "%-75s %-14s %8.2f  (least %.2f, of %d)%n",
                                "geometric mean",
                                peer,
                                geometricMean(ratios),
                                ratios.stream().mapToDouble(r -> r).min().orElse(Double.NaN),
                                ratios.size()));
    }

    static double geometricMean(List<Double> values) {
        return Math.exp(values.stream().mapToDouble(Math::log).average().orElse(Double.NaN));
    }

    static double median(double... values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        int middle = sorted.length / 2;
        return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    }
}
