// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Local files are for their user alone, whatever the process's umask is. */
class PrivateFilesTest {

    @TempDir Path directory;

    /** Makes one file of each kind. */
    static final class Maker {
        public static void main(String[] arguments) throws Exception {
            Path root = Path.of(arguments[0]);
            PrivateFiles.createDirectories(root.resolve("a/b/c"));
            PrivateFiles.createDirectory(root.resolve("d"));
            PrivateFiles.create(root.resolve("created")).close();
            PrivateFiles.newOutputStream(root.resolve("streamed")).close();
            PrivateFiles.write(root.resolve("written"), new byte[10]);
            PrivateFiles.write(root.resolve("written"), new byte[11]);
            PrivateFiles.copy(root.resolve("written"), root.resolve("copied"));
            PrivateFiles.link(root.resolve("copied"), root.resolve("linked"));
            OwnedPath owned = OwnedPath.claim(root.resolve("e"), "owned-", "");
            PrivateFiles.createDirectory(owned.path());
            System.out.println("ready");
            System.in.read();
        }
    }

    private Map<String, String> permissions() throws IOException {
        Map<String, String> found = new TreeMap<>();
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : (Iterable<Path>) files::iterator) {
                if (!file.equals(directory)) {
                    found.put(
                            directory.relativize(file).toString(),
                            PosixFilePermissions.toString(Files.getPosixFilePermissions(file)));
                }
            }
        }
        return found;
    }

    @ParameterizedTest
    @ValueSource(strings = {"0", "0777"})
    void noUmaskWidensOrNarrowsThem(String umask) throws Exception {
        try (ChildProcess child =
                ChildProcess.start(umask, Maker.class, directory.toString()).awaitReady()) {
            Map<String, String> found = permissions();
            assertThat(found).hasSize(12);
            found.forEach(
                    (name, permissions) ->
                            assertThat(permissions)
                                    .as(name)
                                    .isEqualTo(
                                            Files.isDirectory(directory.resolve(name))
                                                    ? "rwx------"
                                                    : "rw-------"));
        }
    }

    @Test
    void whatOthersCouldReadTheyCannotReadUnderItsSecondName() throws Exception {
        Path from = Files.writeString(directory.resolve("from"), "state");
        Files.setPosixFilePermissions(from, PosixFilePermissions.fromString("r-xr-xrwx"));
        PrivateFiles.link(from, directory.resolve("linked"));
        assertThat(permissions())
                .containsEntry("linked", "r-x------")
                .containsEntry("from", "r-x------");
    }

    @Test
    void aCopyIsWholeOrNotThere() throws Exception {
        Path from = Files.writeString(directory.resolve("from"), "state");
        Files.setPosixFilePermissions(from, PosixFilePermissions.fromString("rw-r--r--"));
        Path to = directory.resolve("to");
        PrivateFiles.copy(from, to);
        assertThat(to).hasContent("state");
        assertThat(permissions()).containsEntry("to", "rw-------");
        assertThatThrownBy(() -> PrivateFiles.copy(from, to))
                .isInstanceOf(FileAlreadyExistsException.class);
        assertThat(to).hasContent("state");
        assertThatThrownBy(() -> PrivateFiles.copy(directory, directory.resolve("none")))
                .isInstanceOf(IOException.class);
        assertThat(directory.resolve("none")).doesNotExist();
    }

    @Test
    void aDirectoryThatIsThereStaysAsItIs() throws Exception {
        Path there = Files.createDirectory(directory.resolve("there"));
        Files.setPosixFilePermissions(there, PosixFilePermissions.fromString("rwxr-xr-x"));
        PrivateFiles.createDirectories(there.resolve("below"));
        assertThat(permissions())
                .containsEntry("there", "rwxr-xr-x")
                .containsEntry("there/below", "rwx------");
        Path file = Files.createFile(directory.resolve("file"));
        assertThatThrownBy(() -> PrivateFiles.createDirectories(file))
                .isInstanceOf(FileAlreadyExistsException.class);
    }
}
