// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.lavakv.flink.LavaOptions.FileSystemType;
import org.lavakv.flink.testing.BackendFixture;

/** The files that a process keeps on its machine: their permissions, and their removal. */
@Timeout(180)
class LocalStateTest {

    @TempDir Path root;

    private static List<Path> below(Path directory) throws Exception {
        try (Stream<Path> all = Files.walk(directory)) {
            return all.filter(path -> !path.equals(directory)).collect(Collectors.toList());
        }
    }

    private static List<String> namesIn(Path directory) throws Exception {
        try (Stream<Path> all = Files.list(directory)) {
            return all.map(path -> path.getFileName().toString())
                    .sorted()
                    .collect(Collectors.toList());
        }
    }

    /** With a umask of 0 no permissions are masked. */
    @ParameterizedTest
    @EnumSource(FileSystemType.class)
    void allLocalStateIsForItsUserAloneWhateverTheUmask(FileSystemType files) throws Exception {
        try (LocalStateProcess process = LocalStateProcess.start(root, files, "0")) {
            List<Path> all = new ArrayList<>();
            for (String directory : List.of("instances", "local", "library")) {
                all.addAll(below(root.resolve(directory)));
            }
            assertThat(all).hasSizeGreaterThan(files == FileSystemType.POSIX ? 30 : 15);
            assertThat(
                            all.stream()
                                    .filter(path -> !isPrivate(path))
                                    .map(root::relativize)
                                    .collect(Collectors.toList()))
                    .isEmpty();
            process.kill();
        }
    }

    private static boolean isPrivate(Path path) {
        try {
            return PosixFilePermissions.toString(Files.getPosixFilePermissions(path))
                    .equals(Files.isDirectory(path) ? "rwx------" : "rw-------");
        } catch (java.io.IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    /**
     * The next process removes the files of a killed one, for any file system, but nothing from
     * which a later attempt restores.
     */
    @ParameterizedTest
    @EnumSource(FileSystemType.class)
    void aKilledTaskManagerLeavesNothingBehindTheNextOne(FileSystemType files) throws Exception {
        Path foreign = Files.createDirectories(root.resolve("instances/job_1_op_2_3/db"));
        List<String> left;
        try (LocalStateProcess killed = LocalStateProcess.start(root, files, "022");
                LocalStateProcess living = LocalStateProcess.start(root, files, "022")) {
            List<String> ofBoth = namesIn(root.resolve("instances"));
            assertThat(LocalStateProcess.pages(root.resolve("instances"))).hasSize(2);
            killed.kill();
            List<Path> copies = below(root.resolve("local"));
            try (BackendFixture next = new BackendFixture(root).enableLocalRecovery()) {
                AbstractKeyedStateBackend<Integer> backend =
                        next.use(next.newLava(true)).create(BackendFixture.ALL);
                List<String> now = namesIn(root.resolve("instances"));
                left = new ArrayList<>(ofBoth);
                left.retainAll(now);
                // For each process: four directories of instances, a page and the owner file.
                assertThat(ofBoth).hasSizeGreaterThanOrEqualTo(2 * 6 + 1);
                assertThat(ofBoth.size() - left.size()).as("of %s", ofBoth).isEqualTo(6);
                next.close(backend);
            }
            assertThat(below(root.resolve("local"))).containsAll(copies);
            assertThat(LocalStateProcess.pages(root.resolve("instances"))).hasSize(1);
            living.kill();
        }
        try (BackendFixture next = new BackendFixture(root).enableLocalRecovery()) {
            AbstractKeyedStateBackend<Integer> backend =
                    next.use(next.newLava(true)).create(BackendFixture.ALL);
            assertThat(namesIn(root.resolve("instances")))
                    .as("one directory, its owner file, and what is nobody's")
                    .hasSize(files == FileSystemType.POSIX ? 3 : 4)
                    .contains("job_1_op_2_3");
            next.close(backend);
        }
        assertThat(foreign).exists();
        assertThat(namesIn(root.resolve("instances")))
                .allMatch(name -> List.of("job_1_op_2_3", "lavafs-volumes").contains(name));
    }

    /** After a change of localdir from LAVAFS to POSIX no unnecessary volume is kept. */
    @Test
    void aVolumeOfAKilledTaskManagerGoesWithoutAnotherVolume() throws Exception {
        Path volumes = root.resolve("instances/lavafs-volumes");
        try (LocalStateProcess process =
                LocalStateProcess.start(root, FileSystemType.LAVAFS, "022")) {
            assertThat(below(volumes)).hasSize(1);
            process.kill();
        }
        // Without Flink's local copies, the files that the volume keeps for them are unnecessary.
        for (Path copy : below(root.resolve("local"))) {
            if (Files.isRegularFile(copy)) {
                Files.delete(copy);
            }
        }
        try (BackendFixture next = new BackendFixture(root)) {
            next.use(
                            next.newLava(true)
                                    .set(LavaOptions.FILE_SYSTEM, FileSystemType.POSIX)
                                    .set(LavaOptions.HOST_REPORT_INTERVAL, Duration.ZERO))
                    .create(BackendFixture.ALL);
            assertThat(below(volumes)).isEmpty();
        }
    }
}
