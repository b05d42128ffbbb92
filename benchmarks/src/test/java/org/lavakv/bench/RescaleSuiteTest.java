// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

class RescaleSuiteTest {
    private static final ObjectMapper JSON = new ObjectMapper();

    @TempDir Path directory;

    private List<JsonNode> rows() throws IOException {
        List<JsonNode> rows = new ArrayList<>();
        for (String line : Files.readAllLines(directory.resolve("rescale.jsonl"))) {
            rows.add(JSON.readTree(line));
        }
        return rows;
    }

    private static String describe(JsonNode row) {
        return row.get("case").asText()
                + " | "
                + row.get("metric").asText()
                + " | "
                + row.get("peer").asText()
                + " | "
                + row.get("ratio").asDouble();
    }

    private static Map<String, Map<RescaleMetric, Double>> round(double millis) {
        return Map.of("1->2 local", Map.of(RescaleMetric.RESTORE, millis));
    }

    @Test
    void eachModeIsComparedAndOneHasAGoal() throws Exception {
        Map<RescaleMode, List<Map<String, Map<RescaleMetric, Double>>>> all =
                new EnumMap<>(RescaleMode.class);
        all.put(RescaleMode.LAVA, List.of(round(1), round(2), round(4)));
        all.put(RescaleMode.ROCKSDB, List.of(round(1), round(4), round(16)));
        all.put(RescaleMode.ROCKSDB_INGEST, List.of(round(20), round(10), round(20)));
        Report report = new Report("rescale");
        RescaleSuite.compare(report, "some", all);
        report.write(directory);
        assertThat(rows().stream().map(RescaleSuiteTest::describe))
                .containsExactly(
                        "1->2 local, some | restore | rocksdb | 2.0",
                        "1->2 local, some | restore | rocksdb ingest | 5.0",
                        "1->2 local, some | restore, share | the goal | 0.5");
    }

    @Test
    void scalesThatCannotBeAreRefused() {
        for (String option : List.of("--keys=10", "--repeats=0", "--rounds=0", "--key-bytes=7")) {
            assertThat(new CommandLine(new RescaleSuite()).execute(option)).isEqualTo(2);
        }
    }

    @Test
    void recordsAreWhatTheyShouldBe() throws Exception {
        RescaleRecords records = new RescaleRecords(96, 128);
        Set<String> keys = new HashSet<>();
        int[] bySubtask = new int[2];
        for (int i = 0; i < 10_000; i++) {
            String key = records.key(i);
            assertThat(keys.add(key)).isTrue();
            bySubtask[RescaleRecords.subtask(key, 2)]++;
            DataOutputSerializer out = new DataOutputSerializer(128);
            StringSerializer.INSTANCE.serialize(key, out);
            assertThat(out.length()).isEqualTo(96 + 1); // and its length
        }
        assertThat(bySubtask[0]).isBetween(4500, 5500);
        assertThat(records.value(7)).hasSize(128);
        assertThat(records.isOf(7, records.value(7))).isTrue();
        assertThat(records.isOf(8, records.value(7))).isFalse();
        assertThat(RescaleRecords.range(1, 2).getStartKeyGroup()).isEqualTo(64);
    }

    @Test
    void writtenBytesAreTheSystems() throws IOException {
        assertThat(WrittenBytes.parse("rchar: 9\nwchar: 5\nwrite_bytes: 0\n")).isEqualTo(5);
        assertThat(WrittenBytes.parse("wchar: 5\nwrite_bytes: 4096\n")).isEqualTo(4096);
        assertThatThrownBy(() -> WrittenBytes.parse("wchar: 5\n")).isInstanceOf(IOException.class);
        long before = WrittenBytes.now();
        Files.write(directory.resolve("file"), new byte[100_000]);
        assertThat(WrittenBytes.now() - before).isGreaterThanOrEqualTo(100_000);
    }

    @Test
    void theSuiteComparesBothInAllCases() throws Exception {
        int code =
                new CommandLine(new RescaleSuite())
                        .execute(
                                "--rounds=1",
                                "--repeats=1",
                                "--keys=5000",
                                "--memory-mib=64",
                                "--heap-mib=128",
                                "--directory=" + directory,
                                "--results=" + directory);
        assertThat(code).isZero();
        Set<String> cases = new HashSet<>();
        for (JsonNode row : rows()) {
            if (!row.get("peer").asText().equals("the goal")) {
                cases.add(row.get("case").asText() + " | " + row.get("peer").asText());
                assertThat(row.get("lava").asDouble()).isPositive();
                assertThat(row.get("ratio").asDouble())
                        .isEqualTo(row.get("peer_value").asDouble() / row.get("lava").asDouble());
            }
        }
        Set<String> expected = new HashSet<>(Set.of("canonical, 5000 keys | rocksdb"));
        for (String peer : List.of("rocksdb", "rocksdb ingest")) {
            for (String scaling : List.of("1->1", "1->2", "2->1")) {
                for (String from : List.of("local", "transfer", "transfer on demand")) {
                    expected.add(scaling + " " + from + ", 5000 keys | " + peer);
                }
            }
        }
        assertThat(cases).isEqualTo(expected);
        assertThat(rows())
                .filteredOn(row -> row.get("peer").asText().equals("the goal"))
                .hasSize(4);
        assertThat(directory.toFile().list()).containsExactly("rescale.jsonl");
    }
}
