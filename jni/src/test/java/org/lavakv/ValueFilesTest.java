// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Separated values: the minimum size, their files, and the collection of garbage. */
class ValueFilesTest extends LavaTestBase {

    private Lease lease;
    private LavaDB db;
    private TableHandle values;
    private TableHandle lists;

    @BeforeEach
    void openTables() throws Exception {
        lease = lease();
        DBOptions options = new DBOptions().setEventBufferBytes(64 << 10);
        db = LavaDB.open(options, directory.resolve("db").toString(), lease, List.of());
        values = db.createTable("values", new TableOptions());
        lists = db.createTable("lists", new TableOptions().setKind(TableKind.LIST));
    }

    @AfterEach
    void close() {
        db.close();
        lease.close();
    }

    @Test
    void valuesFromTheirTablesSizeOnGoToValueFiles() throws Exception {
        TableHandle large = db.createTable("large", new TableOptions().setSeparationBytes(100));
        put(db, large, "short", "v".repeat(99));
        put(db, large, "long", "v".repeat(100));
        put(db, values, "long", "v".repeat(5000));
        byte[] list = {0, (byte) (5 << 2), 'a', 'b', 'c', 'd', 'e'};
        db.setTableOptions(lists, new TableOptions().setKind(TableKind.LIST).setSeparationBytes(1));
        db.append(lists, key("l"), 0, 2, list, 1, 6);
        db.flush();
        DBStatistics s = db.getStatistics();
        assertThat(s.valueFiles()).isEqualTo(1);
        assertThat(s.valueRawBytes()).as("a value and a list").isEqualTo(100 + list.length - 1);
        assertThat(s.valueFileBytes()).isPositive().isEqualTo(s.valueBytesWritten());
        assertThat(s.liveFileBytes()).isGreaterThan(s.valueFileBytes());
        assertThat(s.liveFiles()).isEqualTo(2);
        assertThat(s.garbageBytesMin()).isZero();
        assertThat(s.garbageBytesMax()).isZero();
        assertThat(valueFiles()).hasSize(1);

        byte[] k = key("long");
        assertThat(db.contains(large, k, 0, k.length, 0)).isTrue();
        assertThat(scanAll(db, large, new ScanOptions().setKeysOnly(true), null)).hasSize(2);
        assertThat(db.getStatistics().valueReads()).as("by who wants keys only").isZero();
        assertThat(get(db, large, "long")).isEqualTo("v".repeat(100));
        assertThat(db.getStatistics().valueReads()).isEqualTo(1);
        assertThat(db.getStatistics().valueBytesRead()).isPositive();

        // A checkpoint contains the value file, and its metadata does not contain the separation
        // size.
        try (Snapshot snapshot = db.getSnapshot()) {
            snapshot.waitFlushed();
            CheckpointFiles files = snapshot.getFiles();
            assertThat(files.files()).extracting(FileInfo::name).contains(valueFiles().get(0));
            assertThat(MetadataInfo.read(files.metadata()).tables())
                    .extracting(table -> table.options().separationBytes())
                    .containsOnly(0L);
            assertThat(files.sealedBytes()).as("all was in files").isZero();
            assertThat(files.flushedBytes()).isZero();
        }
        db.setTableOptions(large, new TableOptions());
        put(db, large, "another", "v".repeat(5000));
        db.flush();
        assertThat(db.getStatistics().valueFiles()).isEqualTo(1);
    }

    @Test
    void theEngineFindsTheBoundOfSeparation() throws Exception {
        TableOptions automatic =
                new TableOptions().setSeparationBytes(TableOptions.AUTOMATIC_SEPARATION);
        TableHandle large = db.createTable("large", automatic);
        put(db, large, "small", "v".repeat(4000));
        put(db, large, "large", "v".repeat(5000));
        db.flush();
        assertThat(db.getTableStatistics(large).separationBytes()).isEqualTo(4096);
        assertThat(db.getTableStatistics(large).valueBytes()).isEqualTo(5000);
    }

    @Test
    @Timeout(60)
    void garbageIsCollected() throws Exception {
        TableHandle large = db.createTable("large", new TableOptions().setSeparationBytes(100));
        Random random = new Random(5);
        byte[] v = new byte[1000];
        for (int round = 0; round < 2; round++) {
            for (int i = 0; i < 1000; i += 1 + round) {
                byte[] k = key("k" + i);
                random.nextBytes(v);
                db.put(large, k, 0, k.length, 0, v, 0, v.length);
            }
            db.flush();
        }
        db.compactAll();
        awaitEvent(db, EventKind.COLLECTION_END);
        DBStatistics s = s(db);
        assertThat(s.collections()).isPositive();
        assertThat(s.collectionValuesDead()).isEqualTo(500);
        assertThat(s.collectionBytesRead()).isPositive();
        assertThat(s.collectionInputBytes()).isGreaterThan(s.collectionBytesRead());
        assertThat(s.collectionCpuMicros()).isPositive();
        assertThat(s.compactionCpuMicros()).isPositive();
        assertThat(s.flushCpuMicros()).isPositive();
        assertThat(s.collectionBytesWritten()).isBetween(500_000L, 600_000L);
        assertThat(s.mergedValueBytes()).isZero();
        assertThat(s.mergedForGarbageBytes() + s.mergedForOrderBytes() + s.mergedDownBytes())
                .isZero();
        assertThat(s.valueGroupsAtLevel(0)).isBetween(1L, s.valueFiles());
        assertThat(s.valueOverlapAtLevel(0)).isBetween(1L, s.valueFiles());
        assertThat(s.valueGroupsAtLevel(1) + s.valueOverlapAtLevel(1)).isZero();
        assertThat(s.valueFilesExpired()).isZero();
        assertThat(s.filesRefusedDirect()).isZero();
        assertThat(s.snapshotsGivenUp()).isZero();
        assertThat(s.flushStallMicros() + s.compactionStallMicros() + s.spaceStallMicros())
                .isBetween(0L, s.stallMicros());
        TableStatistics of = db.getTableStatistics(large);
        assertThat(of.valueBytes()).isEqualTo(1_000_000);
        assertThat(of.valueGarbageBytes()).isZero();
        assertThat(of.valueFiles()).isEqualTo(s.valueFiles());
        assertThat(of.separationBytes()).isEqualTo(100);
        assertThat(s.valueRawBytes()).isEqualTo(1_000_000);
        assertThat(s.runningCollections()).isBetween(0L, 1L);
        byte[] last = key("k998");
        assertThat(db.get(large, last, 0, last.length, 0)).isEqualTo(v);
    }

    @Test
    void policiesChangeWhileItIsOpenAndSayWhatTheyDecide() throws Exception {
        String path = directory.resolve("decisions").toString();
        DBOptions options = new DBOptions().setValueDecisionsMax(2).setCollectionGarbagePercent(90);
        try (LavaDB other = LavaDB.open(options, path, lease, List.of())) {
            TableHandle t = other.createTable("t", new TableOptions().setSeparationBytes(100));
            other.setValuePolicy(ValuePolicy.MERGE);
            for (int round = 0; round < 3; round++) {
                put(other, t, "k" + round, "v".repeat(1000));
                put(other, t, "k9", "v".repeat(1000));
                other.flush();
            }
            other.compactAll();
            assertThat(other.takeValueDecisions())
                    .as("the last two")
                    .hasSize(2)
                    .allMatch(line -> line.startsWith("compaction of L0 to "))
                    .allMatch(line -> line.contains("merged, "));
            assertThat(other.takeValueDecisions()).as("taken").isEmpty();
            other.setValuePolicy(ValuePolicy.COLLECT);
            put(other, t, "k1", "v".repeat(1000));
            other.flush();
            other.compactAll();
            assertThat(other.takeValueDecisions())
                    .isNotEmpty()
                    .allMatch(line -> line.contains(": left"));
        }
    }

    @Test
    void extremeOptionsOfValueFilesWork() throws Exception {
        for (int extreme = 0; extreme < 2; extreme++) {
            DBOptions options =
                    new DBOptions()
                            .setValueFileBytes(extreme == 0 ? 0 : Long.MAX_VALUE)
                            .setValueCompression(CompressionType.NONE)
                            .setValuePolicy(extreme == 0 ? ValuePolicy.GREEDY : ValuePolicy.MERGE)
                            .setCollectionGarbagePercent(extreme == 0 ? 0 : Integer.MAX_VALUE);
            String path = directory.resolve("extreme " + extreme).toString();
            try (LavaDB other = LavaDB.open(options, path, lease, List.of())) {
                TableHandle t =
                        other.createTable(
                                "t",
                                new TableOptions()
                                        .setSeparationBytes(extreme == 0 ? 1 : Long.MAX_VALUE));
                for (int round = 0; round < 3; round++) {
                    for (int i = 0; i < 20; i++) {
                        put(other, t, "k" + i, i % 3 == 0 ? "" : "v" + round + i);
                    }
                    other.flush();
                }
                other.compactAll();
                assertThat(get(other, t, "k19")).isEqualTo("v219");
                assertThat(get(other, t, "k18")).isEmpty();
                assertThat(s(other).valueFiles() > 0).isEqualTo(extreme == 0);
            }
        }
    }

    /** The shipped library can train a dictionary, however the system's zstd was built. */
    @Test
    void similarValuesOfZstdGetADictionary() throws Exception {
        DBOptions options = new DBOptions().setValueCompression(CompressionType.ZSTD);
        Path path = directory.resolve("similar");
        try (LavaDB other = LavaDB.open(options, path.toString(), lease, List.of())) {
            TableHandle t = other.createTable("t", new TableOptions().setSeparationBytes(100));
            List<String> values = new ArrayList<>();
            Random random = new Random(1);
            for (int i = 0; i < 500; i++) {
                StringBuilder value = new StringBuilder("{\"events\":[");
                while (value.length() < 1000) {
                    value.append("{\"type\":\"page_view\",\"session\":")
                            .append(random.nextLong())
                            .append("},");
                }
                values.add(value.append("]}").toString());
                put(other, t, "k" + i, values.get(i));
            }
            other.flush();
            for (int i = 0; i < values.size(); i++) {
                assertThat(get(other, t, "k" + i)).isEqualTo(values.get(i));
            }
        }
        try (var files = Files.list(path)) {
            List<Path> valueFiles =
                    files.filter(file -> file.toString().endsWith(".vsst"))
                            .collect(Collectors.toList());
            assertThat(valueFiles).hasSize(1);
            byte[] content = Files.readAllBytes(valueFiles.get(0));
            assertThat(content[content.length - 20]).as("format version").isEqualTo((byte) 2);
        }
    }

    @Test
    void filesAreWrittenAndReadPastThePageCache() throws Exception {
        DBOptions options =
                new DBOptions().setUseDirectReads(true).setUseDirectIoForFlushAndCompaction(true);
        String path = directory.resolve("direct").toString();
        for (int opening = 0; opening < 2; opening++) {
            try (LavaDB direct = LavaDB.open(options, path, lease, List.of())) {
                TableHandle t =
                        direct.createTable("t", new TableOptions().setSeparationBytes(4000));
                for (int i = 0; i < 50 && opening == 0; i++) {
                    put(direct, t, "k" + i, "v".repeat(300 * i) + i);
                }
                direct.flush();
                direct.compactAll();
                for (int i = 0; i < 50; i++) {
                    assertThat(get(direct, t, "k" + i)).isEqualTo("v".repeat(300 * i) + i);
                }
                assertThat(s(direct).valueFiles()).isPositive();
            }
        }
    }

    private List<String> valueFiles() throws Exception {
        try (var files = Files.list(Path.of(db.path()))) {
            return files.map(file -> file.getFileName().toString())
                    .filter(name -> name.endsWith(".vsst"))
                    .collect(Collectors.toList());
        }
    }
}
