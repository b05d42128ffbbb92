// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

class XllSuiteTest {
    private static final ObjectMapper JSON = new ObjectMapper();

    @TempDir Path directory;

    @Test
    void loadsThatCannotBeAreRefused() {
        for (String option :
                List.of(
                        "--parallelism=0",
                        "--memory-mib=1",
                        "--state-mib=0",
                        "--rounds=0",
                        "--value-bytes=7",
                        "--value-bytes=0",
                        "--checkpoint-millis=1")) {
            assertThat(new CommandLine(new XllSuite()).execute(option)).isEqualTo(2);
        }
    }

    /** Runs 1,200 changes of 4,000 bytes after 300 others. */
    private Map<XllMetric, Double> run(Path files, String... more) throws Exception {
        Path out = directory.resolve("metrics.json");
        List<String> arguments = new ArrayList<>(List.of(more));
        arguments.addAll(
                List.of(
                        "--backend=lava",
                        "--storage=lava",
                        "--keys=200",
                        "--value-bytes=4000",
                        "--rate=500",
                        "--warmup-changes=100",
                        "--changes=1200",
                        "--parallelism=2",
                        "--memory-mib=32",
                        "--checkpoint-millis=100",
                        "--materialize-millis=300",
                        "--directory=" + files,
                        "--out=" + out));
        int code = new CommandLine(new XllProcess()).execute(arguments.toArray(new String[0]));
        assertThat(code).isZero();
        return JSON.readValue(out.toFile(), new TypeReference<Map<XllMetric, Double>>() {});
    }

    /** Without materializations no change can become unnecessary before its upload. */
    @Test
    void eachChangeIsUploadedOnceAndCompressedToAboutHalf() throws Exception {
        Path files = Files.createDirectory(directory.resolve("files"));
        Map<XllMetric, Double> metrics =
                run(files, "--set=state.changelog.periodic-materialize.enabled=false");
        // From the bytes of 1,200 changes to those of 1,500, if none of the previous 300 was
        // uploaded when these 1,200 began.
        assertThat(metrics.get(XllMetric.CHANGELOG)).isBetween(1800.0, 3000.0);
    }

    @Test
    void aRunMeasuresAll() throws Exception {
        Path files = Files.createDirectory(directory.resolve("files"));
        Map<XllMetric, Double> metrics = run(files);
        assertThat(metrics).containsOnlyKeys(XllMetric.values());
        // Fewer bytes than those of all changes if a materialization ends before changes that it
        // contains are uploaded.
        assertThat(metrics.get(XllMetric.CHANGELOG)).isBetween(1.0, 3000.0);
        assertThat(metrics.get(XllMetric.MATERIALIZED)).isPositive();
        assertThat(metrics.get(XllMetric.LOCAL)).isPositive();
        assertThat(metrics.get(XllMetric.WRITTEN))
                .isCloseTo(
                        metrics.get(XllMetric.LOCAL)
                                + metrics.get(XllMetric.CHANGELOG)
                                + metrics.get(XllMetric.MATERIALIZED),
                        within(1e-6));
        assertThat(metrics.get(XllMetric.RECORDS)).isBetween(1.0, 600.0);
        assertThat(metrics.get(XllMetric.CHECKPOINTS)).isGreaterThan(1);
        assertThat(files).isEmptyDirectory();
    }

    @Test
    void theSuiteComparesWithBoth() throws Exception {
        int code =
                new CommandLine(new XllSuite())
                        .execute(
                                "--rounds=1",
                                "--cases=flat",
                                "--value-bytes=4096",
                                "--state-mib=1",
                                "--memory-mib=32",
                                "--warmup-mib=1",
                                "--flat-out-mib=16",
                                "--checkpoint-millis=20",
                                "--heap-mib=256",
                                "--directory=" + directory,
                                "--results=" + directory);
        assertThat(code).isZero();
        List<JsonNode> rows = new ArrayList<>();
        for (String line : Files.readAllLines(directory.resolve("xll.jsonl"))) {
            rows.add(JSON.readTree(line));
        }
        assertThat(rows).hasSize(2 * XllMetric.values().length + 1);
        assertThat(rows)
                .filteredOn(row -> row.get("peer").asText().equals("the goal"))
                .singleElement()
                .matches(row -> row.get("metric").asText().equals("records, share"));
        assertThat(rows)
                .extracting(row -> row.get("peer").asText())
                .contains("rocksdb", "lava, its files");
        assertThat(directory.toFile().list()).containsExactly("xll.jsonl");
    }
}
