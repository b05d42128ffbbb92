// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.storage;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CopySealTest {

    private static final List<String> NAMES = List.of("b.ksst", "a.vsst");

    @TempDir Path directory;
    private Path file;

    @BeforeEach
    void seal() throws Exception {
        file = Files.writeString(directory.resolve("b.ksst"), "some state");
        Files.writeString(directory.resolve("a.vsst"), "values");
        CopySeal.put(directory, NAMES);
    }

    private boolean holds() {
        return CopySeal.claim(directory, List.of("a.vsst", "b.ksst"), "0-63");
    }

    @Test
    void holdsOnceForEachPart() {
        assertThat(holds()).isTrue();
        assertThat(holds()).isFalse();
        assertThat(CopySeal.claim(directory, NAMES, "64-127")).isTrue();
    }

    @Test
    void doesNotHoldAfterAWrite() throws Exception {
        FileTime before = Files.getLastModifiedTime(file);
        Files.writeString(file, "same state", StandardOpenOption.WRITE);
        // The file system's clock may be coarser than this test.
        if (Files.getLastModifiedTime(file).equals(before)) {
            Files.setLastModifiedTime(file, FileTime.fromMillis(before.toMillis() + 1));
        }
        assertThat(holds()).isFalse();
    }

    @Test
    void doesNotHoldForAnotherFileOfTheName() throws Exception {
        FileTime before = Files.getLastModifiedTime(file);
        Path other = Files.writeString(directory.resolve("other"), "some state");
        Files.move(other, directory.resolve("b.ksst"), StandardCopyOption.REPLACE_EXISTING);
        Files.setLastModifiedTime(file, before);
        assertThat(holds()).isFalse();
    }

    @Test
    void doesNotHoldForAFileThatWasCut() throws Exception {
        FileTime before = Files.getLastModifiedTime(file);
        Files.writeString(file, "some");
        Files.setLastModifiedTime(file, before);
        assertThat(holds()).isFalse();
    }

    @Test
    void doesNotHoldWithoutOneOfTheFiles() throws Exception {
        Files.delete(file);
        assertThat(holds()).isFalse();
    }

    @Test
    void doesNotHoldForOtherFiles() {
        assertThat(CopySeal.claim(directory, List.of("b.ksst"), "0-63")).isFalse();
        assertThat(CopySeal.claim(directory, List.of("a.vsst", "b.ksst", "c"), "0-63")).isFalse();
    }

    /** A power cut loses unsynced data. */
    @Test
    void doesNotHoldAfterABoot() throws Exception {
        Path boot = Files.writeString(directory.resolve("boot"), "another one\n");
        assertThat(CopySeal.claim(directory, NAMES, "0-63", boot)).isFalse();
        assertThat(CopySeal.claim(directory, NAMES, "0-63", directory.resolve("none"))).isFalse();
        assertThat(holds()).isTrue();
    }

    @Test
    void whatIsNoSealDoesNotHold() throws Exception {
        Files.write(directory.resolve("LAVA-SEAL"), new byte[] {(byte) 0xff, 0, 10});
        assertThat(holds()).isFalse();
        Files.delete(directory.resolve("LAVA-SEAL"));
        assertThat(holds()).isFalse();
    }

    @Test
    void aDirectoryThatCannotBeWrittenHasNone() {
        CopySeal.put(directory.resolve("missing"), NAMES);
        assertThat(CopySeal.claim(directory.resolve("missing"), NAMES, "0-63")).isFalse();
    }
}
