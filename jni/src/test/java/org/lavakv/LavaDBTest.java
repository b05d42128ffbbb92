// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Every call works through all layers, from Java to the engine and back. */
class LavaDBTest extends LavaTestBase {

    private Lease lease;
    private LavaDB db;
    private TableHandle values;
    private TableHandle maps;
    private TableHandle lists;

    @BeforeEach
    void openTables() throws Exception {
        lease = lease();
        db = open(lease);
        values = db.createTable("values", new TableOptions());
        maps = db.createTable("maps", new TableOptions().setKind(TableKind.MAP));
        lists = db.createTable("lists", new TableOptions().setKind(TableKind.LIST));
    }

    @AfterEach
    void close() {
        db.close();
        lease.close();
    }

    @Test
    void putGetDelete() throws Exception {
        assertThat(get(db, values, "k")).isNull();
        put(db, values, "k", "v");
        assertThat(get(db, values, "k")).isEqualTo("v");
        put(db, values, "k", "");
        assertThat(get(db, values, "k")).isEmpty();
        byte[] k = key("k");
        db.delete(values, k, 0, k.length, 0);
        assertThat(get(db, values, "k")).isNull();
        assertThat(db.contains(values, k, 0, k.length, 0)).isFalse();
    }

    @Test
    void containsPrefixKnowsWhatEveryRunDeletes() throws Exception {
        byte[] prefix = key("m1");
        byte[] first = key("m1/a");
        byte[] second = key("m1/b");
        assertThat(db.containsPrefix(maps, prefix, 0, 3)).isFalse();
        db.put(maps, first, 0, first.length, 3, first, 0, 1);
        assertThat(db.containsPrefix(maps, prefix, 0, 3)).isTrue();
        assertThat(db.containsPrefix(maps, key("m2"), 0, 3)).isFalse();
        assertThat(db.containsPrefix(values, prefix, 0, 3)).as("another table").isFalse();
        db.flush();
        assertThat(db.containsPrefix(maps, prefix, 0, 3)).as("in a file").isTrue();
        db.delete(maps, first, 0, first.length, 3);
        assertThat(db.containsPrefix(maps, prefix, 0, 3)).as("deleted above").isFalse();
        db.put(maps, second, 0, second.length, 3, second, 0, 1);
        db.flush();
        assertThat(db.containsPrefix(maps, prefix, 0, 3)).as("one of two").isTrue();
        db.deletePrefix(maps, prefix, 0, 3);
        assertThat(db.containsPrefix(maps, prefix, 0, 3)).as("all deleted above").isFalse();
        db.flush();
        assertThat(db.containsPrefix(maps, prefix, 0, 3)).as("by a file").isFalse();
        assertThatThrownBy(() -> db.containsPrefix(maps, prefix, 2, 3))
                .isInstanceOf(IndexOutOfBoundsException.class);
    }

    @Test
    void offsetsAndLengthsSelectBytes() throws Exception {
        byte[] keys = bytes("xx\u0001keyyy");
        byte[] vals = bytes("__value__");
        db.put(values, keys, 2, 4, 0, vals, 2, 5);
        assertThat(get(db, values, "key")).isEqualTo("value");
        assertThat(db.contains(values, keys, 2, 4, 0)).isTrue();
        assertThat(db.contains(values, keys, 2, 5, 0)).isFalse();
        byte[] out = bytes("0123456789");
        assertThat(db.get(values, keys, 2, 4, 0, out, 3)).isEqualTo(5);
        assertThat(out).isEqualTo(bytes("012value89"));
    }

    @Test
    void getIntoTooSmallArrayCopiesNothing() throws Exception {
        put(db, values, "k", "value");
        byte[] k = key("k");
        byte[] out = bytes("abcdefg");
        assertThat(db.get(values, k, 0, k.length, 0, out, 3)).isEqualTo(5);
        assertThat(out).isEqualTo(bytes("abcdefg"));
        assertThat(db.get(values, k, 0, k.length, 0, out, 7)).isEqualTo(5);
        assertThat(db.get(values, k, 0, k.length, 0, out, 2)).isEqualTo(5);
        assertThat(out).isEqualTo(bytes("abvalue"));
        byte[] absent = key("absent");
        assertThat(db.get(values, absent, 0, absent.length, 0, out, 0)).isEqualTo(LavaDB.NOT_FOUND);
    }

    @Test
    void sizesAroundTheStackBuffer() throws Exception {
        Random random = new Random(7);
        for (int size : new int[] {0, 1, 1023, 1024, 1025, 65536, 3 << 20}) {
            byte[] k = new byte[Math.min(1 << 20, size + 1)];
            random.nextBytes(k);
            k[0] = 1;
            byte[] v = new byte[size];
            random.nextBytes(v);
            db.put(values, k, 0, k.length, 0, v, 0, v.length);
            assertThat(db.get(values, k, 0, k.length, 0)).as("size %d", size).isEqualTo(v);
        }
    }

    @Test
    void limitsAreRefusedWithTheirNumbers() throws Exception {
        byte[] k = new byte[LavaDB.KEY_BYTES_MAX + 1];
        k[0] = 1;
        int max = LavaDB.KEY_BYTES_MAX;
        refused(() -> db.put(values, k, 0, max + 1, 0, k, 0, 1), max);
        refused(() -> db.delete(values, k, 0, max + 1, 0), max);
        refused(() -> db.append(lists, k, 0, max + 1, new byte[] {0}, 0, 1), max);
        refused(() -> db.deletePrefix(values, k, 0, max + 1), max);
        refused(() -> db.deleteRange(values, new byte[] {1}, k), max);
        WriteBatch batch = new WriteBatch();
        batch.put(values, key("in the batch"), 0, 5, 0, k, 0, 1);
        batch.put(values, k, 0, max + 1, 0, k, 0, 1);
        refused(() -> db.write(batch), max);
        assertThat(db.getTableStatistics(values).records()).isZero();
        assertThatThrownBy(() -> db.put(values, k, 0, 0, 0, k, 0, 1))
                .isInstanceOfSatisfying(
                        LavaDBException.class,
                        e -> assertThat(e.getCode()).isEqualTo(Status.Code.INVALID_ARGUMENT));

        // The length is checked before the array, so the test does not need an array of this size.
        int tooLong = LavaDB.VALUE_BYTES_MAX + 1;
        refused(() -> db.put(values, k, 0, 9, 0, k, 0, tooLong), LavaDB.VALUE_BYTES_MAX);
        refused(() -> db.append(lists, k, 0, 9, k, 0, tooLong), LavaDB.VALUE_BYTES_MAX);
        assertThatThrownBy(() -> db.put(values, k, 0, 9, 0, k, 0, LavaDB.VALUE_BYTES_MAX))
                .isInstanceOf(IndexOutOfBoundsException.class);

        db.put(values, k, 0, max, 0, k, 0, 3);
        assertThat(db.get(values, k, 0, max, 0)).isEqualTo(new byte[] {1, 0, 0});
    }

    private static void refused(NativeCalls.Call call, int limit) {
        assertThatThrownBy(call::call)
                .isInstanceOfSatisfying(
                        LavaDBException.class,
                        e -> assertThat(e.getCode()).isEqualTo(Status.Code.INVALID_ARGUMENT))
                .hasMessageContaining(" has " + (limit + 1) + " bytes, the limit is " + limit);
    }

    @Test
    void appendBuildsLists() throws Exception {
        byte[] k = key("list");
        // Segments: varint32(length << 2), bytes.
        byte[] a = {1 << 2, 'a'};
        byte[] bc = {0, 2 << 2, 'b', 'c', 0};
        db.append(lists, k, 0, k.length, a, 0, 2);
        db.append(lists, k, 0, k.length, bc, 1, 3);
        assertThat(db.get(lists, k, 0, k.length, 0))
                .isEqualTo(new byte[] {1 << 2, 'a', 2 << 2, 'b', 'c'});
        assertThatThrownBy(() -> db.append(values, k, 0, k.length, a, 0, 2))
                .isInstanceOf(LavaDBException.class);
    }

    @Test
    void deletePrefixTakesEntriesOfOnePrefix() throws Exception {
        for (String e : List.of("m1/a", "m1/b", "m2/a")) {
            byte[] k = key(e);
            db.put(maps, k, 0, k.length, 3, k, 0, k.length);
        }
        byte[] prefix = key("m1");
        db.deletePrefix(maps, prefix, 0, prefix.length);
        byte[] gone = key("m1/b");
        byte[] kept = key("m2/a");
        assertThat(db.get(maps, gone, 0, gone.length, 3)).isNull();
        assertThat(db.get(maps, kept, 0, kept.length, 3)).isEqualTo(kept);
        db.put(maps, gone, 0, gone.length, 3, bytes("new"), 0, 3);
        assertThat(db.get(maps, gone, 0, gone.length, 3)).isEqualTo(bytes("new"));
    }

    @Test
    void deleteRangeIsHalfOpen() throws Exception {
        for (char c = 'a'; c <= 'e'; c++) {
            put(db, values, String.valueOf(c), "v");
        }
        db.deleteRange(values, key("b"), key("d"));
        assertThat(get(db, values, "a")).isEqualTo("v");
        assertThat(get(db, values, "b")).isNull();
        assertThat(get(db, values, "c")).isNull();
        assertThat(get(db, values, "d")).isEqualTo("v");
    }

    @Test
    void writeBatchAppliesAllKinds() throws Exception {
        byte[] old = key("m1/old");
        db.put(maps, old, 0, old.length, 3, old, 0, 1);
        put(db, values, "gone", "v");
        WriteBatch batch = new WriteBatch(1);
        byte[] k = key("k");
        byte[] gone = key("gone");
        byte[] prefix = key("m1");
        batch.put(values, k, 0, k.length, 0, bytes("value"), 0, 5);
        batch.delete(values, gone, 0, gone.length, 0);
        batch.append(lists, k, 0, k.length, new byte[] {4, 'x'}, 0, 2);
        batch.deletePrefix(maps, prefix, 0, prefix.length);
        assertThat(batch.count()).isEqualTo(4);
        db.write(batch);
        assertThat(get(db, values, "k")).isEqualTo("value");
        assertThat(get(db, values, "gone")).isNull();
        assertThat(db.get(lists, k, 0, k.length, 0)).isEqualTo(new byte[] {4, 'x'});
        assertThat(db.contains(maps, old, 0, old.length, 3)).isFalse();
        batch.clear();
        db.write(batch);
        assertThat(batch.byteCount()).isZero();
    }

    @Test
    void scanPagesVisitEverythingOnceInOrder() throws Exception {
        List<String> expected = new ArrayList<>();
        for (int i = 0; i < 500; i++) {
            String name = String.format("%04d", i);
            put(db, values, name, "value" + i);
            expected.add(name + "=value" + i);
        }
        for (int entries : new int[] {1, 7, 500, 1000}) {
            ScanOptions o = new ScanOptions().setEntriesMax(entries).setSkipKeyBytes(1);
            assertThat(scanAll(db, values, o, null)).as("%d a page", entries).isEqualTo(expected);
        }
        ScanOptions small = new ScanOptions().setBytesMax(100).setSkipKeyBytes(1);
        assertThat(scanAll(db, values, small, null)).isEqualTo(expected);
    }

    @Test
    void scanOfRangePrefixAndKeysOnly() throws Exception {
        for (String k : List.of("a1", "a2", "b1", "b2", "c1")) {
            put(db, values, k, "v" + k);
        }
        byte[] lower = key("a2");
        byte[] upper = key("c1");
        ScanOptions range =
                new ScanOptions()
                        .setLower(lower, 0, lower.length)
                        .setUpper(upper, 0, upper.length)
                        .setSkipKeyBytes(1)
                        .setEntriesMax(2);
        assertThat(scanAll(db, values, range, null)).containsExactly("a2=va2", "b1=vb1", "b2=vb2");
        byte[] prefix = key("b");
        ScanOptions ofPrefix =
                new ScanOptions()
                        .setPrefix(prefix, 0, prefix.length)
                        .setSkipKeyBytes(2)
                        .setKeysOnly(true)
                        .setEntriesMax(1);
        assertThat(scanAll(db, values, ofPrefix, null)).containsExactly("1=", "2=");
    }

    @Test
    void scanPastTheCacheShowsTheSameAndKeepsNothing() throws Exception {
        for (int i = 0; i < 2000; i++) {
            put(db, values, "k" + (10_000 + i), "value of " + i);
        }
        try (Snapshot s = db.getSnapshot()) {
            db.flush();
            ScanOptions past = new ScanOptions().setFillCache(false).setEntriesMax(300);
            long before = Host.getStatistics().cacheDataUsedBytes();
            List<String> found = scanAll(db, values, past, s);
            assertThat(Host.getStatistics().cacheDataUsedBytes()).isEqualTo(before);
            assertThat(found).hasSize(2000);
            assertThat(scanAll(db, values, new ScanOptions(), s)).isEqualTo(found);
            assertThat(Host.getStatistics().cacheDataUsedBytes()).isGreaterThan(before);
        }
    }

    @Test
    void scanGrowsThePageForOneLargeEntry() throws Exception {
        byte[] k = key("large");
        byte[] v = new byte[1 << 20];
        Arrays.fill(v, (byte) 7);
        db.put(values, k, 0, k.length, 0, v, 0, v.length);
        put(db, values, "z", "after");
        ScanPage page = new ScanPage();
        ScanOptions o = new ScanOptions().setBytesMax(1000);
        db.scan(values, o, page, null);
        assertThat(page.count()).isEqualTo(1);
        assertThat(page.next()).isTrue();
        assertThat(page.key()).isEqualTo(k);
        assertThat(page.value()).isEqualTo(v);
        assertThat(page.next()).isFalse();
        assertThat(page.lastKey()).isEqualTo(k);
        db.scan(values, o.continueAfter(page), page, null);
        assertThat(page.next()).isTrue();
        assertThat(page.value()).isEqualTo(bytes("after"));
        page.rewind();
        assertThat(page.next()).isTrue();
        assertThat(page.key()).isEqualTo(key("z"));
    }

    @Test
    void emptyScanIsDone() throws Exception {
        ScanPage page = new ScanPage();
        db.scan(values, new ScanOptions(), page, null);
        assertThat(page.done()).isTrue();
        assertThat(page.count()).isZero();
        assertThat(page.next()).isFalse();
        assertThat(page.lastKey()).isEmpty();
    }

    @Test
    void snapshotShowsWhatWasThere() throws Exception {
        put(db, values, "k", "old");
        try (Snapshot s = db.getSnapshot()) {
            put(db, values, "k", "new");
            put(db, values, "later", "v");
            byte[] k = key("k");
            byte[] later = key("later");
            assertThat(db.get(values, k, 0, k.length, 0, s)).isEqualTo(bytes("old"));
            assertThat(db.get(values, k, 0, k.length, 0, (Snapshot) null)).isEqualTo(bytes("new"));
            assertThat(db.contains(values, later, 0, later.length, 0, s)).isFalse();
            assertThat(db.get(values, later, 0, later.length, 0, s)).isNull();
            assertThat(scanAll(db, values, new ScanOptions().setSkipKeyBytes(1), s))
                    .containsExactly("k=old");
        }
    }

    @Test
    void checkpointFilesImportIntoAnotherInstance() throws Exception {
        for (int i = 0; i < 1000; i++) {
            put(db, values, "k" + i, "v" + i);
        }
        TableHandle large = db.createTable("large", new TableOptions().setSeparationBytes(10));
        put(db, large, "k", "v".repeat(100));
        Path target = directory.resolve("imported");
        Files.createDirectories(target);
        CheckpointFiles files;
        try (Snapshot s = db.getSnapshot()) {
            s.waitFlushed();
            files = s.getFiles();
            assertThat(files.files()).hasSize(2);
            assertThat(files.flushedBytes())
                    .as("bytes of key and value files, all of which are new")
                    .isEqualTo(files.files().stream().mapToLong(FileInfo::bytes).sum());
            assertThat(files.sealedBytes()).isGreaterThan(1000);
            for (FileInfo file : files.files()) {
                byte[] content = Files.readAllBytes(Path.of(db.path(), file.name()));
                CRC32C crc = new CRC32C();
                crc.update(content);
                assertThat(content.length).isEqualTo((int) file.bytes());
                assertThat((int) crc.getValue()).as(file.toString()).isEqualTo(file.crc32c());
                Files.write(target.resolve(file.name()), content);
                LavaDB.verifyFile(target.resolve(file.name()).toString(), db.listTables());
            }
        }
        MetadataInfo info = MetadataInfo.read(files.metadata());
        assertThat(info.partitionBytes()).isEqualTo(1);
        assertThat(info.tables()).extracting(TableInfo::name).contains("values", "maps", "lists");
        assertThat(info.files()).hasSameSizeAs(files.files());
        try (LavaDB other =
                LavaDB.open(
                        new DBOptions(),
                        target.toString(),
                        lease,
                        List.of(new ImportSource(files.metadata(), 0, 255)))) {
            TableHandle t = other.createTable("values", new TableOptions());
            assertThat(get(other, t, "k999")).isEqualTo("v999");
            assertThat(t.id()).isEqualTo(values.id());
        }
    }

    @Test
    void damagedFileIsNamed() throws Exception {
        put(db, values, "k", "v".repeat(500));
        db.flush();
        try (Snapshot s = db.getSnapshot()) {
            s.waitFlushed();
            FileInfo file = s.getFiles().files().get(0);
            byte[] content = Files.readAllBytes(Path.of(db.path(), file.name()));
            content[10] ^= 1;
            Path damaged = directory.resolve("damaged.sst");
            Files.write(damaged, content);
            assertThatThrownBy(() -> LavaDB.verifyFile(damaged.toString(), db.listTables()))
                    .isInstanceOfSatisfying(
                            LavaDBException.class,
                            e -> assertThat(e.getCode()).isEqualTo(Status.Code.CORRUPTION))
                    .hasMessageContaining("damaged.sst");
        }
        assertThatThrownBy(() -> MetadataInfo.read(bytes("no metadata at all")))
                .isInstanceOfSatisfying(
                        LavaDBException.class,
                        e -> assertThat(e.getCode()).isEqualTo(Status.Code.CORRUPTION));
    }

    @Test
    void flushedDataSurvivesReopening() throws Exception {
        put(db, values, "k", "v");
        db.flush();
        db.compactAll();
        assertThat(db.getStatistics().liveFiles()).isPositive();
        db.close();
        db = open(lease);
        TableHandle again = db.createTable("values", new TableOptions());
        assertThat(get(db, again, "k")).isEqualTo("v");
        assertThat(again.id()).isEqualTo(values.id());
    }

    @Test
    void tablesKeepNamesAndOptions() throws Exception {
        String name = "t\u00e4ble \u4e2d \ud83c\udf0b";
        TableOptions o =
                new TableOptions()
                        .setKind(TableKind.MAP)
                        .setTtlLayout(TtlLayout.MAP)
                        .setTtlMs(86_400_000L);
        TableHandle t = db.createTable(name, o);
        assertThat(find(name).options()).isEqualTo(o);
        o.setSeparationBytes(77);
        db.setTableOptions(t, o);
        assertThat(find(name).options()).isEqualTo(o);
        assertThat(find(name).id()).isEqualTo(t.id()).isBetween(0L, (1L << 40) - 1);
        o.setTtlMs(5);
        db.setTableOptions(t, o);
        assertThat(find(name).options()).isEqualTo(o);
        put(db, t, "k", "v");
        db.dropTable(t);
        TableHandle again = db.createTable(name, o);
        assertThat(get(db, again, "k")).isNull();
    }

    @Test
    void expiredRecordsGoInCompaction() throws Exception {
        TableHandle t =
                db.createTable(
                        "ttl", new TableOptions().setTtlLayout(TtlLayout.VALUE).setTtlMs(1000));
        db.setTime(10_000);
        byte[] old = key("old");
        byte[] young = key("young");
        db.put(t, old, 0, old.length, 0, new byte[] {0, 0, 0, 0, 0, 0, 0, 1}, 0, 8);
        db.put(t, young, 0, young.length, 0, new byte[] {0, 0, 0, 0, 0, 0, 0x27, 0x10}, 0, 8);
        db.flush();
        db.compactAll();
        assertThat(db.contains(t, old, 0, old.length, 0)).isFalse();
        assertThat(db.contains(t, young, 0, young.length, 0)).isTrue();
        assertThat(db.getStatistics().recordsExpired()).isPositive();
    }

    @Test
    void statisticsCount() throws Exception {
        // The host's counters cover the whole process: earlier tests may have paced or overdrawn
        // jobs.
        HostStatistics earlier = Host.getStatistics();
        put(db, values, "k", "v".repeat(10_000));
        DBStatistics s = db.getStatistics();
        assertThat(s.memtableActiveBytes()).isGreaterThan(10_000);
        assertThat(s.writes()).isEqualTo(1);
        assertThat(s.snapshotsOpen()).isZero();
        db.flush();
        s = db.getStatistics();
        assertThat(s.flushes()).isPositive();
        assertThat(s.filesAtLevel(0) + s.filesAtLevel(1) + s.filesAtLevel(6)).isPositive();
        assertThat(db.getTableStatistics(values).records()).isEqualTo(1);
        assertThat(lease.capacityBytes()).isEqualTo(LEASE_BYTES);
        assertThat(lease.writeBufferBytes()).isBetween(LEASE_BYTES / 4, LEASE_BYTES);
        assertThat(lease.usedBytes()).isNotNegative();
        assertThat(lease.writeBufferUsedBytes()).isNotNegative();
        HostStatistics host = Host.getStatistics();
        assertThat(host.instancesOpen()).isEqualTo(1);
        assertThat(host.leasesOpen()).isEqualTo(1);
        Host.setBackgroundThreads(2);
        assertThat(host.backgroundCpuMicros()).isPositive();
        assertThat(host.backgroundPacedMicros()).isEqualTo(earlier.backgroundPacedMicros());
        assertThat(host.queuedJobs()).isNotNegative();
        assertThat(host.budgetBytes()).isEqualTo(LEASE_BYTES);
        assertThat(host.metadataBytes()).isPositive();
        assertThat(host.tableReaderBytes()).isPositive();
        assertThat(
                        host.cacheUsedBytes()
                                + host.memtableBytes()
                                + host.tableReaderBytes()
                                + host.metadataBytes()
                                + host.scanBytes()
                                + host.flushJobBytes()
                                + host.compactionJobBytes()
                                + host.collectionJobBytes()
                                + host.fileBufferBytes()
                                + host.bindingBytes())
                .as("the purposes, which other threads may change meanwhile, make up the charge")
                .isPositive();
        assertThat(host.chargedBytes()).isBetween(1L, host.budgetBytes());
        assertThat(host.jobsPutOff()).isNotNegative();
        assertThat(host.memoryOverdrafts()).isEqualTo(earlier.memoryOverdrafts());
        assertThat(host.overBudgetBytes()).isZero();
        assertThat(host.cacheIndexUsedBytes() + host.cacheDataUsedBytes())
                .isEqualTo(host.cacheUsedBytes());
        assertThat(host.cacheIndexHits() + host.cacheDataHits()).isEqualTo(host.cacheHits());
        assertThat(host.cacheIndexMisses() + host.cacheDataMisses()).isEqualTo(host.cacheMisses());
        assertThat(host.cacheIndexEvictions() + host.cacheDataEvictions()).isNotNegative();
        assertThat(host.cacheIndexBytesMax()).isBetween(1L, host.cacheCapacityBytes());
        assertThat(host.spaceUsedBytes()).isPositive();
        assertThat(host.spaceLiveBytes()).isBetween(1L, host.spaceUsedBytes());
        assertThat(host.spaceLimitBytes()).isZero();
        Host.setBackgroundCpu(2.5);
        Host.setBackgroundCpu(0);
        assertThatThrownBy(() -> s(db).filesAtLevel(DBStatistics.LEVELS))
                .isInstanceOf(IndexOutOfBoundsException.class);
    }

    @Test
    void failedOpenNamesThePathAndLeavesNothing() throws Exception {
        Path file = directory.resolve("a file \u4e2d");
        Files.write(file, new byte[] {1});
        long before = Host.openNativeObjects();
        assertThatThrownBy(
                        () ->
                                LavaDB.open(
                                        new DBOptions(), file.toString() + "/db", lease, List.of()))
                .isInstanceOf(LavaDBException.class)
                .hasMessageContaining("a file \u4e2d");
        assertThatThrownBy(() -> LavaDB.open(new DBOptions(), "a\0b", lease, List.of()))
                .isInstanceOfSatisfying(
                        LavaDBException.class,
                        e -> assertThat(e.getCode()).isEqualTo(Status.Code.INVALID_ARGUMENT));
        assertThat(Host.openNativeObjects()).isEqualTo(before);
    }

    private TableInfo find(String name) throws LavaDBException {
        return db.listTables().stream()
                .filter(t -> t.name().equals(name))
                .findFirst()
                .orElseThrow();
    }
}
