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

class CheckpointSuiteTest {
    private static final ObjectMapper JSON = new ObjectMapper();

    @TempDir Path directory;

    @Test
    void uploadsAreAskedForByTheSizeOfValues() {
        assertThat(CheckpointSuite.uploadedMax(8)).isEqualTo(1);
        assertThat(CheckpointSuite.uploadedMax(1024)).isEqualTo(0.5);
        assertThat(CheckpointSuite.uploadedMax(16384)).isEqualTo(0.2);
    }

    @Test
    void loadsThatCannotBeAreRefused() {
        for (String option :
                List.of("--slots=0", "--instances=1", "--state-mib=0", "--rounds=0", "--rate=0")) {
            assertThat(new CommandLine(new CheckpointSuite()).execute(option)).isEqualTo(2);
        }
    }

    /** Uses a backend that has all of its state in each checkpoint. */
    @Test
    void aRunMeasuresAll() throws Exception {
        Path files = Files.createDirectory(directory.resolve("files"));
        Path out = directory.resolve("metrics.json");
        int code =
                new CommandLine(new CheckpointProcess())
                        .execute(
                                "--backend=hashmap",
                                "--instances=3",
                                "--states=2",
                                "--slots=2",
                                "--memory-mib=16",
                                "--keys=300",
                                "--value-bytes=1000",
                                "--updates-before=0.5",
                                "--rate=600",
                                "--warmup-millis=200",
                                "--checkpoints=3",
                                "--interval-millis=200",
                                "--directory=" + files,
                                "--out=" + out);
        assertThat(code).isZero();
        Map<CheckpointMetric, Double> metrics =
                JSON.readValue(out.toFile(), new TypeReference<Map<CheckpointMetric, Double>>() {});
        assertThat(metrics).containsOnlyKeys(CheckpointMetric.values());
        assertThat(metrics.get(CheckpointMetric.UPLOADED)).isBetween(3 * 300e3, 4 * 300e3);
        assertThat(metrics.get(CheckpointMetric.SYNC_CPU)).isPositive();
        assertThat(metrics.get(CheckpointMetric.OPERATIONS)).isBetween(1.0, 700.0);
        assertThat(files).isEmptyDirectory();
    }

    @Test
    void theSuiteComparesBothInAllCases() throws Exception {
        int code =
                new CommandLine(new CheckpointSuite())
                        .execute(
                                "--quick",
                                "--cases=uploads 4x1 states 32MiB of 16384B",
                                "--heap-mib=128",
                                "--directory=" + directory,
                                "--results=" + directory);
        assertThat(code).isZero();
        List<JsonNode> rows = new ArrayList<>();
        for (String line : Files.readAllLines(directory.resolve("checkpoint.jsonl"))) {
            rows.add(JSON.readTree(line));
        }
        assertThat(rows).hasSize(CheckpointMetric.values().length + 1);
        for (JsonNode row : rows) {
            double lava = row.get("lava").asDouble();
            double peer = row.get("peer_value").asDouble();
            boolean more = row.get("metric").asText().equals("operations");
            assertThat(row.get("ratio").asDouble())
                    .isCloseTo(more ? lava / peer : peer / lava, within(1e-9));
        }
        assertThat(rows)
                .filteredOn(row -> row.get("peer").asText().equals("the goal"))
                .singleElement()
                .matches(row -> row.get("metric").asText().equals("uploaded, share"))
                .matches(row -> row.get("peer_value").asDouble() == 0.2);
        assertThat(directory.toFile().list()).containsExactly("checkpoint.jsonl");
    }
}
