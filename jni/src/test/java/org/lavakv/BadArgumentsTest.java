// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Null, negative, too large and overflowing arguments are refused by every call. */
class BadArgumentsTest extends LavaTestBase {

    private static final int MAX = Integer.MAX_VALUE;
    private static final int MIN = Integer.MIN_VALUE;

    /** Array length, offset, length: invalid ranges of every kind. */
    private static final int[][] BAD_RANGES = {
        {4, -1, 2},
        {4, 0, -1},
        {4, -1, -1},
        {4, 0, 5},
        {4, 4, 1},
        {4, 5, 0},
        {4, 5, 1},
        {4, 1, 4},
        {4, 3, 2},
        {0, 0, 1},
        {0, 1, 0},
        {4, MAX, 1},
        {4, 1, MAX},
        {4, MAX, MAX},
        {4, MIN, 2},
        {4, 2, MIN},
        {4, MIN, MIN},
        {4, MIN, MAX},
        {4, MAX, MIN},
        {4, MAX - 1, 3},
        {4, 2, MAX - 1},
        {4, -4, 4},
        {4, -2, 6},
        {4, 6, -2},
    };

    private Lease lease;
    private LavaDB db;
    private LavaDB other;
    private TableHandle t;
    private TableHandle list;

    /** A call with one range of one array. */
    private interface RangeCall {
        void call(byte[] array, int off, int len) throws Exception;
    }

    @BeforeEach
    void openTables() throws Exception {
        lease = lease();
        db = open(lease);
        other = open(lease, "other");
        t = db.createTable("t", new TableOptions());
        list = db.createTable("l", new TableOptions().setKind(TableKind.LIST));
    }

    @AfterEach
    void close() {
        other.close();
        db.close();
        lease.close();
    }

    private Map<String, RangeCall> rangeCalls() {
        byte[] k = {1, 'k'};
        byte[] v = {4, 'v'};
        WriteBatch batch = new WriteBatch();
        Map<String, RangeCall> calls = new LinkedHashMap<>();
        calls.put("get into", (a, off, len) -> db.get(t, a, off, len, 0, new byte[9], 0));
        calls.put("get", (a, off, len) -> db.get(t, a, off, len, 0));
        calls.put("get of snapshot", (a, off, len) -> db.get(t, a, off, len, 0, null));
        calls.put("contains", (a, off, len) -> db.contains(t, a, off, len, 0));
        calls.put("containsPrefix", (a, off, len) -> db.containsPrefix(t, a, off, len));
        calls.put("put key", (a, off, len) -> db.put(t, a, off, len, 0, v, 0, 2));
        calls.put("put value", (a, off, len) -> db.put(t, k, 0, 2, 0, a, off, len));
        calls.put("delete", (a, off, len) -> db.delete(t, a, off, len, 0));
        calls.put("append key", (a, off, len) -> db.append(list, a, off, len, v, 0, 2));
        calls.put("append value", (a, off, len) -> db.append(list, k, 0, 2, a, off, len));
        calls.put("deletePrefix", (a, off, len) -> db.deletePrefix(t, a, off, len));
        calls.put("lower", (a, off, len) -> new ScanOptions().setLower(a, off, len));
        calls.put("upper", (a, off, len) -> new ScanOptions().setUpper(a, off, len));
        calls.put("prefix", (a, off, len) -> new ScanOptions().setPrefix(a, off, len));
        calls.put("batch put key", (a, off, len) -> batch.put(t, a, off, len, 0, v, 0, 2));
        calls.put("batch put value", (a, off, len) -> batch.put(t, k, 0, 2, 0, a, off, len));
        calls.put("batch delete", (a, off, len) -> batch.delete(t, a, off, len, 0));
        calls.put("batch append key", (a, off, len) -> batch.append(list, a, off, len, v, 0, 2));
        calls.put("batch append", (a, off, len) -> batch.append(list, k, 0, 2, a, off, len));
        calls.put("batch deletePrefix", (a, off, len) -> batch.deletePrefix(t, a, off, len));
        return calls;
    }

    @Test
    void badRangesAndNullArrays() {
        rangeCalls()
                .forEach(
                        (name, call) -> {
                            assertThatThrownBy(() -> call.call(null, 0, 0))
                                    .as("%s of null", name)
                                    .isInstanceOf(NullPointerException.class);
                            for (int[] bad : BAD_RANGES) {
                                assertThatThrownBy(
                                                () -> call.call(new byte[bad[0]], bad[1], bad[2]))
                                        .as(
                                                "%s of %d bytes at %d, %d",
                                                name, bad[0], bad[1], bad[2])
                                        .isInstanceOf(expected(name, bad[2]));
                            }
                        });
    }

    /** The limit of a value is checked before its array; batches leave the check to the engine. */
    private static Class<? extends Exception> expected(String call, int length) {
        boolean value = call.equals("put value") || call.equals("append value");
        return value && length > LavaDB.VALUE_BYTES_MAX
                ? LavaDBException.class
                : IndexOutOfBoundsException.class;
    }

    @Test
    void badPrefixes() {
        byte[] k = {1, 'k', 'e', 'y'};
        for (int prefix : new int[] {-1, 5, MAX, MIN}) {
            Map<String, NativeCalls.Call> calls = new LinkedHashMap<>();
            calls.put("get", () -> db.get(t, k, 0, 4, prefix));
            calls.put("get into", () -> db.get(t, k, 0, 4, prefix, new byte[1], 0));
            calls.put("contains", () -> db.contains(t, k, 0, 4, prefix));
            calls.put("put", () -> db.put(t, k, 0, 4, prefix, k, 0, 4));
            calls.put("delete", () -> db.delete(t, k, 0, 4, prefix));
            calls.put("batch", () -> new WriteBatch().put(t, k, 0, 4, prefix, k, 0, 4));
            calls.forEach(
                    (name, call) ->
                            assertThatThrownBy(call::call)
                                    .as("%s with prefix %d", name, prefix)
                                    .isInstanceOf(IndexOutOfBoundsException.class));
        }
    }

    @Test
    void badOutputs() throws Exception {
        put(db, t, "k", "value");
        byte[] k = key("k");
        for (int off : new int[] {-1, 6, MAX, MIN}) {
            assertThatThrownBy(() -> db.get(t, k, 0, 2, 0, new byte[5], off))
                    .isInstanceOf(IndexOutOfBoundsException.class);
        }
        assertThatThrownBy(() -> db.get(t, k, 0, 2, 0, null, 0))
                .isInstanceOf(NullPointerException.class);
    }

    @Test
    void nullsAndForeignObjects() throws Exception {
        byte[] k = {1, 'k'};
        TableHandle foreign = other.createTable("t", new TableOptions());
        WriteBatch foreignBatch = new WriteBatch();
        foreignBatch.delete(foreign, k, 0, 2, 0);
        NativeCalls.ofDatabase(db, foreign, foreign)
                .forEach(
                        (name, call) -> {
                            Throwable thrown = catchThrowable(call::call);
                            if (thrown != null) {
                                assertThat(thrown)
                                        .as(name)
                                        .isInstanceOf(IllegalArgumentException.class);
                            }
                        });
        assertThatThrownBy(() -> db.write(foreignBatch))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> foreignBatch.delete(t, k, 0, 2, 0))
                .isInstanceOf(IllegalArgumentException.class);
        try (Snapshot s = other.getSnapshot()) {
            assertThatThrownBy(() -> db.get(t, k, 0, 2, 0, s))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> db.scan(t, new ScanOptions(), new ScanPage(), s))
                    .isInstanceOf(IllegalArgumentException.class);
        }
        Map<String, NativeCalls.Call> nulls = new LinkedHashMap<>();
        nulls.put("table", () -> db.get(null, k, 0, 2, 0));
        nulls.put("name", () -> db.createTable(null, new TableOptions()));
        nulls.put("options", () -> db.createTable("x", null));
        nulls.put("a key", () -> db.get(t, null, 0, 0, 0));
        nulls.put("batch", () -> db.write(null));
        nulls.put("scan", () -> db.scan(t, null, new ScanPage(), null));
        nulls.put("page", () -> db.scan(t, new ScanOptions(), null, null));
        nulls.put("tables of a scan", () -> new TablesScan(null));
        nulls.put("a table", () -> new TablesScan(Arrays.asList(t, null)));
        nulls.put("scan of tables", () -> db.scanTables(null, new ScanPage(), null));
        nulls.put("its page", () -> db.scanTables(new TablesScan(List.of(t)), null, null));
        nulls.put("lower", () -> db.deleteRange(t, null, k));
        nulls.put("upper", () -> db.deleteRange(t, k, null));
        nulls.put("path", () -> LavaDB.open(new DBOptions(), null, lease, List.of()));
        nulls.put("lease", () -> LavaDB.open(new DBOptions(), "x", null, List.of()));
        nulls.put("db options", () -> LavaDB.open(null, "x", lease, List.of()));
        nulls.put("imports", () -> LavaDB.open(new DBOptions(), "x", lease, null));
        nulls.put("metadata", () -> MetadataInfo.read(null));
        nulls.put("file", () -> LavaDB.verifyFile(null, List.of()));
        nulls.put("tables", () -> LavaDB.verifyFile("x", null));
        nulls.forEach(
                (name, call) ->
                        assertThatThrownBy(call::call)
                                .as(name)
                                .isInstanceOf(NullPointerException.class));
    }

    @Test
    void badNumbers() {
        assertThatThrownBy(() -> Host.acquire(0, 0.5)).isInstanceOf(IllegalArgumentException.class);
        for (double ratio : new double[] {0, 1, -1, Double.NaN, Double.POSITIVE_INFINITY}) {
            assertThatThrownBy(() -> Host.acquire(1 << 20, ratio))
                    .isInstanceOf(IllegalArgumentException.class);
        }
        assertThatThrownBy(() -> Host.setSpaceLimit(-1))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("not -1");
        assertThatThrownBy(() -> Host.setBackgroundThreads(0))
                .isInstanceOf(IllegalArgumentException.class);
        for (double cores : new double[] {-0.5, Double.NaN, Double.POSITIVE_INFINITY}) {
            assertThatThrownBy(() -> Host.setBackgroundCpu(cores))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("not " + cores);
        }
        assertThatThrownBy(() -> new TableOptions().setTtlMs(-1))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new TableOptions().setSeparationBytes(-1))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("separationBytes must not be negative: -1");
        assertThatThrownBy(() -> new DBOptions().setPartitionBytes(-1))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new DBOptions().setValueFileBytes(-1))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("valueFileBytes must not be negative: -1");
        assertThatThrownBy(() -> new DBOptions().setCollectionGarbagePercent(-1))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("collectionGarbagePercent must not be negative: -1");
        assertThatThrownBy(() -> new DBOptions().setValueCompression(null))
                .isInstanceOf(NullPointerException.class);
        assertThatThrownBy(() -> new ScanOptions().setEntriesMax(0))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new ScanOptions().setBytesMax(0))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new TablesScan(List.of()).setEntriesMax(0))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new TablesScan(List.of()).setBytesMax(0))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new ScanOptions().setSkipKeyBytes(-1))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new ImportSource(new byte[1], 5, 4))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(
                        () ->
                                LavaDB.open(
                                        new DBOptions().setPartitionBytes(9),
                                        directory.resolve("bad").toString(),
                                        lease,
                                        List.of()))
                .isInstanceOfSatisfying(
                        LavaDBException.class,
                        e -> assertThat(e.getCode()).isEqualTo(Status.Code.INVALID_ARGUMENT));
    }

    /** The native side checks ranges again: here it is called without the Java checks. */
    @Test
    void nativeSideChecksRanges() throws Exception {
        long h = db.handle;
        long p = t.pointer;
        byte[] k = {1, 'k'};
        for (int[] bad : BAD_RANGES) {
            byte[] a = new byte[bad[0]];
            int off = bad[1];
            int len = bad[2];
            refuses("get0", h, p, a, off, len, 0, new byte[9], 0, 9);
            refuses("getNew0", h, p, a, off, len, 0, 0L);
            refuses("contains0", h, p, a, off, len, 0, 0L);
            refuses("put0", h, p, a, off, len, 0, k, 0, 2);
            refuses("put0", h, p, k, 0, 2, 0, a, off, len);
            refuses("delete0", h, p, a, off, len, 0);
            refuses("append0", h, list.pointer, a, off, len, k, 0, 2);
            refuses("append0", h, list.pointer, k, 0, 2, a, off, len);
            refuses("deletePrefix0", h, p, a, off, len);
        }
        DatabaseScan scans = new DatabaseScan(db);
        for (int len : new int[] {-1, 3, MAX, MIN}) {
            refuses("deleteRange0", h, p, k, len, k, 2);
            refuses("deleteRange0", h, p, k, 2, k, len);
            refuses("write0", h, k, len);
            refusedBy(scans, "scan0", h, p, k, len, k, 0, 0, 0, 0, 9, 9, 0L, new byte[99], 99);
            refusedBy(scans, "scan0", h, p, k, 0, k, len, 0, 0, 0, 9, 9, 0L, new byte[99], 99);
        }
        long[] ts = {p};
        for (int len : new int[] {-1, 3, MAX, MIN}) {
            refusedBy(scans, "scanTables0", h, ts, 0, k, len, 0, 9, 9, 0L, new byte[99], 99);
        }
        refusedBy(scans, "scanTables0", h, ts, -1, k, 2, 0, 9, 9, 0L, new byte[99], 99);
        refusedBy(scans, "scanTables0", h, ts, 1, k, 2, 0, 9, 9, 0L, new byte[99], 99);
        refusedBy(scans, "scanTables0", h, null, 0, k, 0, 0, 9, 9, 0L, new byte[99], 99);
        for (int capacity : new int[] {-1, 100, MAX, MIN}) {
            refusedBy(scans, "scanTables0", h, ts, 0, k, 0, 0, 9, 9, 0L, new byte[99], capacity);
            refusedBy(scans, "scan0", h, p, k, 0, k, 0, 0, 0, 0, 9, 9, 0L, new byte[99], capacity);
        }
        put(db, t, "k", "value");
        refuses("get0", h, p, k, 0, 2, 0, new byte[4], 0, 5);
        refuses("get0", h, p, k, 0, 2, 0, new byte[4], -1, 5);
        refuses("get0", h, p, k, 0, 2, 0, new byte[4], MAX, 5);
        refuses("put0", h, p, k, 0, 2, 3, k, 0, 2);
        refuses("put0", h, p, k, 0, 2, -1, k, 0, 2);
        assertThat(get(db, t, "k")).isEqualTo("value");
    }

    @Test
    void nativeSideChecksNullsAndPackedBytes() throws Exception {
        long h = db.handle;
        long p = t.pointer;
        byte[] k = {1, 'k'};
        refuses("get0", h, p, null, 0, 0, 0, k, 0, 2);
        refuses("put0", h, p, k, 0, 2, 0, null, 0, 0);
        refuses("put0", h, 0L, k, 0, 2, 0, k, 0, 2);
        refuses("put0", lease.handle, p, k, 0, 2, 0, k, 0, 2);
        refuses("put0", 0L, p, k, 0, 2, 0, k, 0, 2);
        refuses("createTable0", h, null, 0, 0, 0L, 0L);
        refuses("createTable0", h, k, 9, 0, 0L, 0L);
        refuses("createTable0", h, k, 0, -1, 0L, 0L);
        refuses("createTable0", h, k, 0, 0, -1L, 0L);
        refuses("createTable0", h, k, 0, 0, 0L, -1L);
        refuses("createTable0", h, k, 0, 0, 0L, Long.MIN_VALUE);
        refuses("setTableOptions0", h, p, 0, 0, 0L, -1L);
        refuses("setTableOptions0", h, p, 0, 9, 0L, 0L);
        refuses("setTableOptions0", h, 0L, 0, 0, 0L, 0L);
        refuses("statistics0", h, new long[3]);
        refuses("statistics0", h, null);
        // Batches: truncated at every position, an unknown operation.
        WriteBatch batch = new WriteBatch();
        batch.put(t, k, 0, 2, 0, k, 0, 2);
        for (int cut = 1; cut < batch.length; cut++) {
            refuses("write0", h, batch.bytes, cut);
        }
        byte[] odd = batch.bytes.clone();
        odd[0] = 77;
        refuses("write0", h, odd, batch.length);
        refuses("open0", new long[2], bytes("x"), lease.handle, 0L, new byte[0], 0, new byte[4]);
        refuses(
                "open0",
                new DBOptions().toNative(),
                bytes("x"),
                lease.handle,
                0L,
                new byte[0],
                0,
                new byte[3]);
        for (int i = 0; i < new DBOptions().toNative().length; i++) {
            long[] negative = new DBOptions().toNative();
            negative[i] = -1;
            refuses("open0", negative, bytes("x"), lease.handle, 0L, new byte[0], 0, new byte[4]);
        }
        long[] noCompression = new DBOptions().setValueFileBytes(4711).toNative();
        for (int i = 0; i < noCompression.length; i++) {
            if (noCompression[i] == 4711) {
                noCompression[i + 1] = 9;
            }
        }
        refuses("open0", noCompression, bytes("x"), lease.handle, 0L, new byte[0], 0, new byte[4]);
        refuses(
                "open0",
                new DBOptions().toNative(),
                bytes("x"),
                h,
                0L,
                new byte[0],
                0,
                new byte[4]);
        refuses(
                "open0",
                new DBOptions().toNative(),
                new byte[0],
                lease.handle,
                0L,
                new byte[0],
                0,
                new byte[4]);
        refuses(
                "open0",
                new DBOptions().toNative(),
                bytes("x"),
                lease.handle,
                h,
                new byte[0],
                0,
                new byte[4]);
        long[] noSuchMode = new DBOptions().toNative();
        noSuchMode[5] = 3;
        refuses("open0", noSuchMode, bytes("x"), lease.handle, 0L, new byte[0], 0, new byte[4]);
        long[] numbers = new DBOptions().toNative();
        refuses("open0", numbers, bytes("x"), lease.handle, 0L, new byte[1], 0, new byte[4]);
        for (int bytes : new int[] {-1, (16 << 20) + 1, MAX, MIN}) {
            refuses(
                    "open0",
                    numbers,
                    bytes("x"),
                    lease.handle,
                    0L,
                    new byte[0],
                    bytes,
                    new byte[4]);
        }
        refuses("destroy0", new long[2], bytes("x"), lease.handle, 0L, new byte[0]);
        refuses("destroy0", numbers, new byte[0], lease.handle, 0L, new byte[0]);
        refuses("destroy0", numbers, bytes("x"), h, 0L, new byte[0]);
        refuses("destroy0", numbers, bytes("x"), lease.handle, h, new byte[0]);
        refuses("destroy0", numbers, bytes("x"), lease.handle, 0L, new byte[1]);
        refuses("verifyFile0", bytes("x"), new byte[4], h);
        assertThat(db.get(t, k, 0, 2, 0)).isNull();
    }

    @Test
    void nativeSideChecksVolumes() throws Exception {
        byte[] x = bytes("x");
        long[] options = new VolumeOptions().setCapacityBytes(32 << 20).toNative();
        try (Volume volume =
                        Volume.open(directory.resolve("volumes").toString(), new VolumeOptions());
                VolumeOutputStream out = (VolumeOutputStream) volume.createFile("d", "f")) {
            out.write(x);
            volume.createFile("d", "g").close();
            try (VolumeInputStream in = (VolumeInputStream) volume.openFile("d", "g")) {
                for (int[] bad : BAD_RANGES) {
                    byte[] a = new byte[bad[0]];
                    refusedBy(out.output, "append0", out.output.handle, a, bad[1], bad[2]);
                    if (bad[1] < 0 || bad[2] < 0 || bad[1] > MAX - bad[2]) {
                        refusedBy(in.input, "read0", in.input.handle, 0L, a, bad[1], bad[2]);
                    }
                }
                refusedBy(in.input, "read0", in.input.handle, -1L, x, 0, 1);
                refusedBy(in.input, "read0", in.input.handle, 0L, null, 0, 0);
                refusedBy(in.input, "read0", volume.handle, 0L, x, 0, 1);
                refusedBy(out.output, "append0", in.input.handle, x, 0, 1);
                refusedBy(out.output, "append0", 0L, x, 0, 1);
                refusedBy(out.output, "append0", out.output.handle, new byte[2 << 20], 0, 2 << 20);
            }
            long h = volume.handle;
            for (int i = 0; i < options.length; i++) {
                long[] negative = options.clone();
                negative[i] = -1;
                refusedBy(volume, "open0", x, negative, x);
                refusedBy(volume, "openPinned0", x, negative, x);
            }
            refusedBy(volume, "open0", x, new long[7], x);
            refusedBy(volume, "open0", null, options, x);
            refusedBy(volume, "open0", new byte[0], options, x);
            refusedBy(volume, "open0", x, options, null);
            refusedBy(volume, "open0", x, options, new byte[0]);
            refusedBy(volume, "removeStale0", (Object) null);
            refusedBy(volume, "removeStale0", new byte[0]);
            refusedBy(volume, "openFile0", db.handle, x, x);
            refusedBy(volume, "openFile0", h, null, x);
            refusedBy(volume, "createFile0", h, x, null);
            refusedBy(volume, "linkFile0", h, x, x, x, null);
            refusedBy(volume, "figures0", h, new long[3]);
            // Names: a count that is too large, a name that ends after the array, trailing bytes.
            byte[] marker = bytes(directory.resolve("marker").toString());
            for (byte[] names :
                    new byte[][] {
                        {}, {0, 0, 0, 9}, {0, 0, 0, 1, 127, 0, 0, 0}, {0, 0, 0, 0, 1}, null
                    }) {
                refusedBy(volume, "pin0", h, marker, bytes("d"), names);
            }
            refusedBy(volume, "pin0", h, marker, bytes("d"), new byte[] {-1, -1, -1, -1});
        }
    }

    @Test
    void nullsAndBadNumbersOfVolumes() throws Exception {
        assertThatThrownBy(() -> new VolumeOptions().setGrowBytes(-1))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("growBytes must not be negative: -1");
        VolumeOptions options = new VolumeOptions();
        try (Volume volume = Volume.open(directory.resolve("volumes").toString(), options)) {
            Map<String, NativeCalls.Call> nulls = new LinkedHashMap<>();
            nulls.put("directory", () -> Volume.open(null, options));
            nulls.put("options", () -> Volume.open("x", null));
            nulls.put("stale", () -> Volume.removeStale(null));
            nulls.put("marker", () -> Volume.openPinned(null, options));
            nulls.put("name", () -> volume.createFile("d", null));
            nulls.put("names", () -> volume.pin("x", "d", null));
            nulls.put("volume", () -> LavaDB.verifyFile(null, "x", List.of()));
            nulls.forEach(
                    (name, call) ->
                            assertThatThrownBy(call::call)
                                    .as(name)
                                    .isInstanceOf(NullPointerException.class));
        }
    }

    private void refuses(String name, Object... arguments) throws Exception {
        refusedBy(db, name, arguments);
    }

    /** Calls a private native method; it must throw one of the exceptions for bad arguments. */
    private static void refusedBy(Object object, String name, Object... arguments)
            throws Exception {
        Method method = null;
        for (Method m : object.getClass().getDeclaredMethods()) {
            if (m.getName().equals(name)) {
                method = m;
            }
        }
        assertThat(method).as(name).isNotNull();
        method.setAccessible(true);
        Throwable thrown = null;
        try {
            method.invoke(object, arguments);
        } catch (InvocationTargetException e) {
            thrown = e.getCause();
        }
        assertThat(thrown)
                .as("%s of %s", name, List.of(java.util.Arrays.toString(arguments)))
                .isInstanceOfAny(
                        IndexOutOfBoundsException.class,
                        NullPointerException.class,
                        LavaDBException.class,
                        InternalError.class);
    }
}
