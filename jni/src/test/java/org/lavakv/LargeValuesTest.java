// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Values larger than the memory of their lease are written and read in pieces. */
class LargeValuesTest extends LavaTestBase {

    private static final int MIB = 1 << 20;
    private static final int LARGE = 128 * MIB;

    private Lease lease;
    private LavaDB db;
    private TableHandle values;
    private TableHandle lists;

    @BeforeEach
    void openTables() throws Exception {
        lease = Host.acquire(16 * MIB, 0.5);
        db = open(lease);
        values = db.createTable("values", new TableOptions());
        lists = db.createTable("lists", new TableOptions().setKind(TableKind.LIST));
    }

    @AfterEach
    void close() {
        db.close();
        lease.close();
    }

    private static byte[] random(int length, int seed) {
        byte[] bytes = new byte[length];
        new Random(seed).nextBytes(bytes);
        return bytes;
    }

    /** A list with one element. */
    private static byte[] list(int elementBytes, int seed) {
        byte[] list = random(elementBytes + 5, seed);
        long head = (long) elementBytes << 2;
        for (int i = 0; i < 5; i++, head >>>= 7) {
            list[i] = (byte) (i < 4 ? head & 0x7f | 0x80 : head);
        }
        return list;
    }

    private void expect(TableHandle t, byte[] key, byte[] expected, Snapshot snapshot)
            throws Exception {
        byte[] got = db.get(t, key, 0, key.length, 0, snapshot);
        assertThat(Arrays.equals(got, expected)).isTrue();
        if (snapshot != null) {
            return;
        }
        byte[] out = new byte[expected.length + 7];
        Arrays.fill(out, (byte) 9);
        assertThat(db.get(t, key, 0, key.length, 0, out, 3)).isEqualTo(expected.length);
        assertThat(Arrays.equals(out, 3, 3 + expected.length, expected, 0, expected.length))
                .isTrue();
        for (int i : new int[] {0, 1, 2, 3 + expected.length, out.length - 1}) {
            assertThat(out[i]).as("around the value").isEqualTo((byte) 9);
        }
    }

    @Test
    void valuesOfEverySizeAreTheWhole() throws Exception {
        for (int length : new int[] {MIB, MIB + 1, 2 * MIB + 1, 5 * MIB, 24 * MIB + 12345}) {
            byte[] k = key("k" + length);
            byte[] value = random(length + 4, length);
            byte[] expected = Arrays.copyOfRange(value, 1, 1 + length);
            db.put(values, k, 0, k.length, 0, value, 1, length);
            byte[] list = list(length, length);
            db.put(lists, k, 0, k.length, 0, list, 0, list.length);
            db.append(lists, k, 0, k.length, list, 0, list.length);
            byte[] both = Arrays.copyOf(list, 2 * list.length);
            System.arraycopy(list, 0, both, list.length, list.length);
            expect(values, k, expected, null);
            expect(lists, k, both, null);
            try (Snapshot snapshot = db.getSnapshot()) {
                db.delete(values, k, 0, k.length, 0);
                expect(values, k, expected, snapshot);
            }
            db.flush();
            expect(lists, k, both, null);
            assertThat(db.get(values, k, 0, k.length, 0)).isNull();
        }
    }

    @Test
    void nothingIsCopiedIntoATooSmallArray() throws Exception {
        byte[] k = key("k");
        byte[] value = random(5 * MIB, 1);
        db.put(values, k, 0, k.length, 0, value, 0, value.length);
        byte[] out = new byte[value.length];
        assertThat(db.get(values, k, 0, k.length, 0, out, 1)).isEqualTo(value.length);
        assertThat(Arrays.equals(out, new byte[out.length])).isTrue();
    }

    @Test
    void damageIsTold() throws Exception {
        byte[] k = key("k");
        byte[] value = random(5 * MIB, 1);
        db.put(values, k, 0, k.length, 0, value, 0, value.length);
        db.flush();
        List<Path> files;
        try (Stream<Path> all = Files.list(directory.resolve("db"))) {
            files = all.filter(f -> f.toString().endsWith(".vsst")).collect(Collectors.toList());
        }
        assertThat(files).hasSize(1);
        byte[] out = new byte[value.length];
        for (int at : new int[] {100, 3 * MIB, value.length}) {
            try (RandomAccessFile file = new RandomAccessFile(files.get(0).toFile(), "rw")) {
                file.seek(at);
                int before = file.read();
                file.seek(at);
                file.write(before ^ 1);
                assertThatThrownBy(() -> db.get(values, k, 0, k.length, 0))
                        .isInstanceOf(LavaDBException.class)
                        .hasMessageContaining("checksum");
                assertThatThrownBy(() -> db.get(values, k, 0, k.length, 0, out, 0))
                        .isInstanceOf(LavaDBException.class)
                        .hasMessageContaining("checksum");
                file.seek(at);
                file.write(before);
            }
            expect(values, k, value, null);
        }
    }

    @Test
    void segmentsThatAreNoneAreRefused() throws Exception {
        byte[] k = key("k");
        byte[] list = list(5 * MIB, 1);
        assertThatThrownBy(() -> db.append(lists, k, 0, k.length, list, 0, list.length - 1))
                .isInstanceOf(LavaDBException.class)
                .hasMessageContaining("whole segments");
        assertThat(db.get(lists, k, 0, k.length, 0)).isNull();
    }

    /** The process's resident memory must not grow by another copy of the value. */
    @Test
    void nativeMemoryDoesNotGrowWithValues() throws Exception {
        byte[] k = key("k");
        byte[] value = list(LARGE, 1);
        byte[] out = new byte[value.length];
        Arrays.fill(out, (byte) 1); // touches all its pages
        for (NativeCalls.Call call :
                List.<NativeCalls.Call>of(
                        () -> db.put(values, k, 0, k.length, 0, value, 0, value.length),
                        () -> db.get(values, k, 0, k.length, 0, out, 0),
                        () -> db.append(lists, k, 0, k.length, value, 0, value.length),
                        () -> db.get(lists, k, 0, k.length, 0, out, 0),
                        () -> db.flush(),
                        () -> db.get(values, k, 0, k.length, 0, out, 0),
                        () -> db.get(lists, k, 0, k.length, 0, out, 0))) {
            Files.write(Path.of("/proc/self/clear_refs"), "5".getBytes(StandardCharsets.US_ASCII));
            long before = peakBytes();
            call.call();
            assertThat(peakBytes() - before).isLessThan(LARGE / 2);
        }
        assertThat(Arrays.equals(out, value)).isTrue();
    }

    /** The peak of resident memory since the counter was reset. */
    private static long peakBytes() throws Exception {
        for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
            if (line.startsWith("VmHWM:")) {
                return Long.parseLong(line.replaceAll("\\D", "")) << 10;
            }
        }
        throw new IllegalStateException("/proc/self/status has no VmHWM");
    }
}
