// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Volumes and their files, from Java down to the engine and back. */
class VolumeTest extends LavaTestBase {

    private static final long CAPACITY = 64L << 20;

    private Volume volume;

    @BeforeEach
    void openVolume() throws Exception {
        volume = openVolume("volumes");
    }

    private Volume openVolume(String name) throws LavaDBException {
        return Volume.open(directory.resolve(name).toString(), options());
    }

    private static VolumeOptions options() {
        return new VolumeOptions().setCapacityBytes(CAPACITY);
    }

    @AfterEach
    void close() {
        volume.close();
    }

    private static byte[] random(int length) {
        byte[] content = new byte[length];
        new Random(length).nextBytes(content);
        return content;
    }

    private void write(String in, String name, byte[] content) throws Exception {
        try (OutputStream out = volume.createFile(in, name)) {
            out.write(content);
        }
    }

    private byte[] read(String in, String name) throws Exception {
        try (InputStream file = volume.openFile(in, name)) {
            return file.readAllBytes();
        }
    }

    private static void refused(NativeCalls.Call call, Status.Code code) {
        assertThatThrownBy(call::call)
                .isInstanceOfSatisfying(
                        LavaDBException.class, e -> assertThat(e.getCode()).isEqualTo(code));
    }

    /** The files in the directories of volumes. */
    private List<Path> volumeFiles() throws IOException {
        try (Stream<Path> files = Files.walk(directory)) {
            return files.filter(Files::isRegularFile).collect(Collectors.toList());
        }
    }

    @Test
    void filesAreReadAsTheyWereWritten() throws Exception {
        for (int length : new int[] {0, 1, 1023, 1024, 1025, 64 << 10, (3 << 20) + 7}) {
            byte[] content = random(length);
            write("a/directory", "file-" + length, content);
            assertThat(read("a/directory", "file-" + length)).isEqualTo(content);
        }
        assertThat(volume.listFiles("a/directory")).hasSize(7).contains("file-0", "file-1025");
        refused(() -> volume.listFiles("another"), Status.Code.NOT_FOUND);
    }

    @Test
    void piecesSkipsAndSingleBytes() throws Exception {
        byte[] content = random(300_000);
        try (OutputStream out = volume.createFile("d", "f")) {
            out.write(content[0]);
            out.write(content, 1, 0);
            out.write(content, 1, 99);
            out.write(content, 100, content.length - 100);
            out.flush();
        }
        try (InputStream in = volume.openFile("d", "f")) {
            assertThat(in.available()).isEqualTo(content.length);
            assertThat(in.read()).isEqualTo(content[0] & 0xff);
            assertThat(in.skip(4999)).isEqualTo(4999);
            byte[] part = new byte[9];
            assertThat(in.read(part, 2, 3)).isEqualTo(3);
            assertThat(part)
                    .isEqualTo(
                            new byte[] {
                                0, 0, content[5000], content[5001], content[5002], 0, 0, 0, 0
                            });
            assertThat(in.read(part, 0, 0)).isZero();
            assertThat(in.skip(Long.MAX_VALUE)).isEqualTo(content.length - 5003);
            assertThat(in.read()).isEqualTo(-1);
            assertThat(in.read(part, 0, 9)).isEqualTo(-1);
            assertThat(in.skip(-1)).isZero();
            assertThatThrownBy(() -> in.read(part, 5, 5))
                    .isInstanceOf(IndexOutOfBoundsException.class);
        }
    }

    @Test
    void namesThatAreNotThereOrTaken() throws Exception {
        write("d", "f", random(10));
        refused(() -> volume.openFile("d", "g"), Status.Code.NOT_FOUND);
        refused(() -> volume.openFile("e", "f"), Status.Code.NOT_FOUND);
        refused(() -> volume.createFile("d", "f").close(), Status.Code.IO_ERROR);
        refused(() -> volume.removeFile("d", "g"), Status.Code.NOT_FOUND);
        refused(() -> volume.linkFile("d", "g", "e", "g"), Status.Code.NOT_FOUND);
        refused(() -> volume.linkFile("d", "f", "d", "f"), Status.Code.IO_ERROR);
        for (String bad : new String[] {"", "a\0b", "n".repeat(10_000)}) {
            refused(() -> volume.createFile("d", bad).close(), Status.Code.INVALID_ARGUMENT);
            refused(() -> volume.createFile(bad, "f").close(), Status.Code.INVALID_ARGUMENT);
        }
        assertThat(volume.listFiles("d")).containsExactly("f");
    }

    @Test
    void linksShareAFileAndDirectoriesGoWithTheirFiles() throws Exception {
        byte[] content = random(5000);
        write("d", "f", content);
        volume.linkFile("d", "f", "e", "g");
        volume.removeFile("d", "f");
        assertThat(volume.listFiles("d")).isEmpty();
        assertThat(read("e", "g")).isEqualTo(content);
        volume.removeDirectory("e");
        volume.removeDirectory("e");
        refused(() -> volume.listFiles("e"), Status.Code.NOT_FOUND);
    }

    @Test
    void streamsThatAreClosedSaySoAndNameTheFile() throws Exception {
        write("d", "f", random(10));
        InputStream in = volume.openFile("d", "f");
        in.close();
        in.close();
        assertThatThrownBy(in::read)
                .isInstanceOf(IOException.class)
                .hasMessageContaining(volume.path())
                .hasMessageContaining("d/f")
                .hasMessageContaining("closed");
        OutputStream out = volume.createFile("d", "g");
        out.close();
        out.close();
        assertThatThrownBy(() -> out.write(1))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("d/g")
                .hasMessageContaining("closed");
        assertThat(read("d", "g")).isEmpty();
    }

    @Test
    void filesKeepTheVolumeThatWasClosedBeforeThem() throws Exception {
        byte[] content = random(100_000);
        write("d", "f", content);
        InputStream in = volume.openFile("d", "f");
        OutputStream out = volume.createFile("d", "g");
        volume.close();
        assertThat(in.readAllBytes()).isEqualTo(content);
        out.write(content);
        out.close();
        in.close();
        assertThat(volumeFiles()).isEmpty();
    }

    @Test
    void directoryHasOneVolumeThatGoesWithItsLastUser() throws Exception {
        write("d", "f", random(10));
        Volume second = openVolume("volumes");
        assertThat(second.path()).isEqualTo(volume.path()).startsWith(directory.toString());
        assertThat(second.leftBehind()).isEmpty();
        volume.close();
        assertThat(second.listFiles("d")).containsExactly("f");
        Volume elsewhere = openVolume("elsewhere");
        assertThat(elsewhere.path()).isNotEqualTo(second.path());
        refused(() -> elsewhere.listFiles("d"), Status.Code.NOT_FOUND);
        elsewhere.close();
        assertThat(volumeFiles()).isNotEmpty();
        second.close();
        assertThat(volumeFiles()).isEmpty();
    }

    @Test
    void figuresFollowTheFiles() throws Exception {
        VolumeFigures before = volume.figures();
        write("d", "f", random(5 << 20));
        VolumeFigures after = volume.figures();
        assertThat(after.capacityBytes()).isEqualTo(CAPACITY);
        assertThat(after.deviceBytes()).isBetween(5L << 20, CAPACITY);
        assertThat(after.usedBytes() - before.usedBytes()).isGreaterThanOrEqualTo(5 << 20);
        assertThat(after.freeBytes()).isPositive();
        assertThat(after.largestFreeRunBytes()).isBetween(1L, after.freeBytes());
        assertThat(after.files()).isEqualTo(before.files() + 1);
        assertThat(after.pins()).isZero();
        assertThat(after.journalWrittenBytes()).isPositive();
        assertThat(after.metadataMemoryBytes()).isPositive();
        assertThat(after.journalCompactions()).isNotNegative();
    }

    @Test
    void fullVolumeSaysItsFigures() throws Exception {
        byte[] content = random(1 << 20);
        assertThatThrownBy(
                        () -> {
                            for (int i = 0; i < 2 * CAPACITY / content.length; i++) {
                                write("d", "f" + i, content);
                            }
                        })
                .isInstanceOf(IOException.class)
                .hasMessageContaining(volume.path())
                .hasRootCauseInstanceOf(LavaDBException.class)
                .rootCause()
                .isInstanceOfSatisfying(
                        LavaDBException.class,
                        e -> assertThat(e.getCode()).isEqualTo(Status.Code.NO_SPACE));
        assertThat(read("d", "f1")).isEqualTo(content);
        volume.removeDirectory("d");
        write("d", "f", content);
        assertThat(read("d", "f")).isEqualTo(content);
    }

    @Test
    void capacityThatIsTooSmallIsRefused() {
        String other = directory.resolve("small").toString();
        assertThatThrownBy(() -> Volume.open(other, new VolumeOptions().setCapacityBytes(1 << 20)))
                .isInstanceOfSatisfying(
                        LavaDBException.class,
                        e -> assertThat(e.getCode()).isEqualTo(Status.Code.INVALID_ARGUMENT));
    }

    @Test
    void pinKeepsFilesUntilItsMarkerGoes() throws Exception {
        byte[] content = random(70_000);
        write("d", "kept", content);
        write("d", "other", content);
        Path marker = directory.resolve("marker");
        volume.pin(marker.toString(), "d", List.of("kept"));
        refused(() -> volume.pin(marker.toString(), "d", List.of("kept")), Status.Code.IO_ERROR);
        assertThat(volume.figures().pins()).isEqualTo(1);
        volume.removeDirectory("d");
        volume.close();

        PinnedFiles pinned = Volume.openPinned(marker.toString(), options());
        try (pinned) {
            volume = pinned.volume();
            assertThat(volume.listFiles(pinned.directory())).containsExactly("kept");
            assertThat(read(pinned.directory(), "kept")).isEqualTo(content);
            volume.linkFile(pinned.directory(), "kept", "new", "name");
            Files.delete(marker);
            volume.dropStalePins();
            assertThat(volume.figures().pins()).isZero();
            refused(() -> volume.listFiles(pinned.directory()), Status.Code.NOT_FOUND);
            assertThat(read("new", "name")).isEqualTo(content);
        }
        assertThat(volumeFiles()).isEmpty();
        refused(() -> Volume.openPinned(marker.toString(), options()), Status.Code.NOT_FOUND);
    }

    @Test
    void volumeWhosePinsAreGoneIsRemovedThoughNobodyOpensIt() throws Exception {
        write("d", "kept", random(100));
        Path marker = directory.resolve("marker");
        volume.pin(marker.toString(), "d", List.of("kept"));
        String volumes = Path.of(volume.path()).getParent().toString();
        assertThat(Volume.removeStale(volumes)).as("in use").isZero();
        volume.close();
        assertThat(Volume.removeStale(volumes)).isEqualTo(1);
        assertThat(Path.of(volume.path())).exists();
        Files.delete(marker);
        assertThat(Volume.removeStale(volumes)).isZero();
        assertThat(Path.of(volume.path())).doesNotExist();
        assertThat(Volume.removeStale(directory.resolve("absent").toString())).isZero();
    }

    @Test
    void damagedMarkerIsRefused() throws Exception {
        write("d", "f", random(10));
        Path marker = directory.resolve("marker");
        volume.pin(marker.toString(), "d", List.of("f"));
        byte[] bytes = Files.readAllBytes(marker);
        bytes[bytes.length / 2] ^= 1;
        Files.write(marker, bytes);
        assertThatThrownBy(() -> Volume.openPinned(marker.toString(), options()))
                .isInstanceOf(LavaDBException.class)
                .hasMessageContaining(marker.toString());
        Files.delete(marker);
        volume.dropStalePins();
    }

    @Test
    void instanceLivesInAVolumeAndKeepsIt() throws Exception {
        List<TableInfo> tables;
        byte[] metadata;
        List<String> names;
        try (Lease lease = lease()) {
            DBOptions options = new DBOptions().setVolume(volume);
            try (LavaDB db = LavaDB.open(options, "one", lease, List.of())) {
                Exercise.use(db);
                TableHandle t = db.createTable("values", new TableOptions());
                put(db, t, "k", "v");
                try (Snapshot s = db.getSnapshot()) {
                    s.waitFlushed();
                    metadata = s.getFiles().metadata();
                    names =
                            s.getFiles().files().stream()
                                    .map(FileInfo::name)
                                    .collect(Collectors.toList());
                    for (String name : names) {
                        volume.linkFile("one", name, "two", name);
                    }
                }
                tables = db.listTables();
                for (String name : names) {
                    LavaDB.verifyFile(volume, "one/" + name, tables);
                }
                assertThat(Host.getStatistics().fileBufferBytes()).isNotNegative();
            }
            byte[] damaged = read("two", names.get(0));
            damaged[10] ^= 1;
            write("three", names.get(0), damaged);
            assertThatThrownBy(() -> LavaDB.verifyFile(volume, "three/" + names.get(0), tables))
                    .isInstanceOfSatisfying(
                            LavaDBException.class,
                            e -> assertThat(e.getCode()).isEqualTo(Status.Code.CORRUPTION))
                    .hasMessageContaining(names.get(0));
            LavaDB other =
                    LavaDB.open(options, "two", lease, List.of(new ImportSource(metadata, 0, 255)));
            volume.close();
            assertThat(get(other, other.createTable("values", new TableOptions()), "k"))
                    .isEqualTo("v");
            assertThat(volumeFiles()).hasSize(1);
            other.close();
            assertThat(volumeFiles()).isEmpty();
            assertThatThrownBy(() -> LavaDB.open(options, "x", lease, List.of()))
                    .isInstanceOf(LavaClosedException.class)
                    .hasMessageContaining(volume.path());
        }
    }

    @Test
    void everyCallAfterCloseThrows() throws Exception {
        write("d", "f", random(10));
        volume.close();
        volume.close();
        NativeCalls.ofVolume(volume, directory.resolve("marker").toString())
                .forEach(
                        (name, entry) ->
                                assertThatThrownBy(entry::call)
                                        .as(name)
                                        .isInstanceOf(LavaClosedException.class)
                                        .hasMessageContaining(volume.path()));
    }

    @Test
    void closeEndsAReadOfAnotherThread() throws Exception {
        write("d", "f", random(1 << 20));
        for (int i = 0; i < 50; i++) {
            InputStream in = volume.openFile("d", "f");
            Thread closing = new Thread(() -> closeQuietly(in));
            closing.start();
            byte[] buffer = new byte[4096];
            try {
                for (int n = 0; n >= 0; n = in.read(buffer)) {
                    assertThat(n).isBetween(0, buffer.length);
                }
            } catch (IOException e) {
                assertThat(e).hasMessageContaining("closed");
            }
            closing.join();
        }
    }

    private static void closeQuietly(InputStream in) {
        try {
            in.close();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }
}
