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
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

class JoinerSuiteTest {
    private static final ObjectMapper JSON = new ObjectMapper();

    @TempDir Path directory;

    @Test
    void theSlowerOneDecidesWhatIsOffered() {
        assertThat(JoinerSuite.offered(List.of(1000.0, 400.0), 0.6)).isEqualTo(240);
        assertThat(JoinerSuite.offered(List.of(1.0), 0.6)).isEqualTo(1);
    }

    @Test
    void ratiosAreMediansOfRoundsAndGoalsAreShares() throws Exception {
        Report report = new Report("joiner");
        double[] lava = {1, 1, 5};
        double[] peer = {4, 3, 5};
        JoinerMetric cpu = JoinerMetric.CPU_AVERAGE;
        JoinerMetric operations = JoinerMetric.OPERATIONS;
        report.compare("small", cpu, cpu.goal(), "rocksdb", lava, peer);
        report.compare("small", operations, operations.goal(), "rocksdb", peer, lava);
        report.write(directory);
        List<String> lines = Files.readAllLines(directory.resolve("joiner.jsonl"));
        assertThat(lines).hasSize(3);
        JsonNode beside = JSON.readTree(lines.get(0));
        assertThat(beside.get("peer").asText()).isEqualTo("rocksdb");
        assertThat(beside.get("ratio").asDouble()).isEqualTo(3);
        JsonNode goal = JSON.readTree(lines.get(1));
        assertThat(goal.get("peer").asText()).isEqualTo("the goal");
        assertThat(goal.get("lava").asDouble()).isCloseTo(1 / 3.0, within(1e-9));
        assertThat(goal.get("peer_value").asDouble()).isEqualTo(0.5);
        assertThat(goal.get("ratio").asDouble()).isCloseTo(1.5, within(1e-9));
        assertThat(JSON.readTree(lines.get(2)).get("ratio").asDouble()).isEqualTo(3);
    }

    @Test
    void scalesThatCannotBeAreRefused() {
        for (String option :
                List.of("--slots=0", "--instances=3", "--memory-mib=1", "--rounds=0")) {
            assertThat(new CommandLine(new JoinerSuite()).execute(option)).isEqualTo(2);
        }
    }

    /** A whole run, with a backend that keeps its state on the heap. */
    @Test
    void aRunMeasuresAll() throws Exception {
        Path files = Files.createDirectory(directory.resolve("files"));
        Path out = directory.resolve("metrics.json");
        int code =
                new CommandLine(new JoinerProcess())
                        .execute(
                                "--backend=hashmap",
                                "--instances=3",
                                "--slots=2",
                                "--live-mib=1",
                                "--memory-mib=16",
                                "--rate=300",
                                "--warmup-seconds=0",
                                "--seconds=2",
                                "--directory=" + files,
                                "--out=" + out);
        assertThat(code).isZero();
        Map<JoinerMetric, Double> metrics =
                JSON.readValue(out.toFile(), new TypeReference<Map<JoinerMetric, Double>>() {});
        assertThat(metrics).containsOnlyKeys(JoinerMetric.values());
        assertThat(metrics.get(JoinerMetric.OPERATIONS)).isBetween(1.0, 330.0);
        assertThat(metrics.get(JoinerMetric.THREADS_PEAK)).isZero();
        assertThat(metrics.get(JoinerMetric.CALLS_AVERAGE)).isPositive();
        assertThat(metrics.get(JoinerMetric.RESIDENT_PEAK)).isGreaterThan(10 << 20);
        assertThat(files).isEmptyDirectory();
    }

    @Test
    void librariesAndTextLogsAreNoData() throws Exception {
        Path below = Files.createDirectories(directory.resolve("a").resolve("db"));
        Files.write(below.resolve("000007.sst"), new byte[100]);
        Files.write(below.resolve("LOG"), new byte[1000]);
        Files.write(directory.resolve("a").resolve("librocksdbjni.so"), new byte[1000]);
        assertThat(ProcessSampler.bytesIn(directory)).isEqualTo(100);
    }
}
