// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The files of a killed process in a directory are removed; all other files are kept. */
class OwnedPathTest {

    private static final String OTHER_BOOT = "1 5c0d9b9c-0000-0000-0000-000000000000\n";

    @TempDir Path directory;

    /** Owns a directory and a file. */
    static final class Owner {
        public static void main(String[] arguments) throws Exception {
            Path in = Path.of(arguments[0]);
            Path db = OwnedPath.claim(in, "job_", "").path().resolve("db");
            PrivateFiles.createDirectories(db);
            Files.writeString(db.resolve("000001.kst"), "state");
            Path page = OwnedPath.claim(in, "page-", ".json").path();
            Files.writeString(page, "{}");
            Files.writeString(page.resolveSibling(page.getFileName() + ".tmp"), "{");
            System.out.println("ready");
            System.in.read();
        }
    }

    /** Repeatedly claims and releases names for a while; no other process may remove its files. */
    static final class Claimer {
        public static void main(String[] arguments) throws Exception {
            for (int turn = 0; turn < 100; ++turn) {
                try (OwnedPath owned = OwnedPath.claim(Path.of(arguments[0]), "job_", "")) {
                    PrivateFiles.createDirectory(owned.path());
                    Path file = owned.path().resolve("file");
                    Files.writeString(file, "state");
                    if (!Files.readString(file).equals("state")) {
                        throw new AssertionError(file + " is not what was written");
                    }
                }
            }
        }
    }

    private ChildProcess owner() throws Exception {
        return ChildProcess.start("022", Owner.class, directory.toString()).awaitReady();
    }

    private List<String> names() throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.map(file -> file.getFileName().toString())
                    .sorted()
                    .collect(Collectors.toList());
        }
    }

    @Test
    void aKilledProcessLeavesNothingBehindTheNextOne() throws Exception {
        try (ChildProcess child = owner()) {
            assertThat(names()).as("directory, page, its copy, owner").hasSize(4);
            child.kill();
        }
        assertThat(names()).hasSize(4);
        try (OwnedPath next = OwnedPath.claim(directory, "job_", "")) {
            assertThat(names()).hasSize(1).allMatch(name -> name.startsWith("lava-owner-"));
            assertThat(next.path()).doesNotExist().hasParentRaw(directory);
        }
        assertThat(names()).isEmpty();
    }

    @Test
    void whatALivingProcessOwnsStays() throws Exception {
        try (ChildProcess living = owner()) {
            List<String> before = names();
            try (OwnedPath next = OwnedPath.claim(directory, "job_", "")) {
                assertThat(names()).containsAll(before).hasSize(before.size() + 1);
            }
            try (ChildProcess second = owner()) {
                assertThat(names()).containsAll(before);
                second.kill();
            }
            OwnedPath.claim(directory, "job_", "").close();
            assertThat(names()).as("of the one that lives").isEqualTo(before);
            living.kill();
            OwnedPath.claim(directory, "job_", "").close();
            assertThat(names()).isEmpty();
        }
    }

    /** Each process removes files that it considers dead, while others create their owner files. */
    @Test
    void processesThatOpenAndCloseAtOnceDoNotHarmEachOther() throws Exception {
        List<ChildProcess> children = new ArrayList<>();
        try {
            for (int i = 0; i < 3; ++i) {
                children.add(ChildProcess.start("022", Claimer.class, directory.toString()));
            }
            for (ChildProcess child : children) {
                child.passed();
            }
        } finally {
            children.forEach(ChildProcess::close);
        }
        OwnedPath.claim(directory, "job_", "").close();
        assertThat(names()).isEmpty();
    }

    @Test
    void whatHasNoOwnerFileStays() throws Exception {
        Path someones = Files.createDirectories(directory.resolve("job_1_op_2_3/db"));
        Files.writeString(someones.resolve("000001.kst"), "state");
        Files.createDirectories(directory.resolve("aid_1/jid_2/chk_3"));
        String token = "0123456789abcdef0123456789abcdef-1-1";
        Files.createDirectories(directory.resolve("job_" + token + "-1"));
        Files.createDirectories(directory.resolve("lava-owner-" + token));
        Files.writeString(directory.resolve("lava-owner-x"), "");
        List<String> before = names();
        OwnedPath.claim(directory, "job_", "").close();
        assertThat(names()).isEqualTo(before);
        assertThat(someones.resolve("000001.kst")).exists();
    }

    @Test
    void linksAreRemovedAndNotWhatTheyPointTo() throws Exception {
        Path elsewhere = Files.createDirectories(directory.resolve("elsewhere"));
        Files.writeString(elsewhere.resolve("precious"), "state");
        String token = dead("");
        Path left = Files.createDirectories(directory.resolve("job_" + token + "-1"));
        Files.createSymbolicLink(left.resolve("link"), elsewhere);
        Files.createSymbolicLink(directory.resolve("job_" + token + "-2"), elsewhere);
        OwnedPath.claim(directory, "job_", "").close();
        assertThat(names()).containsExactly("elsewhere");
        assertThat(elsewhere.resolve("precious")).exists();
    }

    /** The owner file of a process that is gone. */
    private String dead(String content) throws IOException {
        String token = "0123456789abcdef0123456789abcdef-1-1";
        Files.writeString(directory.resolve("lava-owner-" + token), content);
        return token;
    }

    @Test
    void theMachineMayHaveStartedAnew() throws Exception {
        for (String content : List.of(OTHER_BOOT, "", "1 ", "damage")) {
            Files.createDirectories(directory.resolve("job_" + dead(content) + "-1"));
            OwnedPath.claim(directory, "job_", "").close();
            assertThat(names()).isEmpty();
        }
    }

    @Test
    void anotherHostIsNotJudgedByThisOnesBoot() throws Exception {
        String thisBoot =
                "1 " + Files.readString(Path.of("/proc/sys/kernel/random/boot_id")).trim() + "\n";
        for (String shared : List.of("nfs", "nfs4", "cifs", "fuse.sshfs", "ceph", "9p", "")) {
            assertThat(Leftovers.isDead(OTHER_BOOT, shared)).isFalse();
            assertThat(Leftovers.isDead("", shared)).isFalse();
            assertThat(Leftovers.isDead("1 \n", shared)).isFalse();
            assertThat(Leftovers.isDead(thisBoot, shared)).isTrue();
        }
        for (String own : List.of("ext4", "xfs", "overlay", "tmpfs")) {
            assertThat(Leftovers.isDead(OTHER_BOOT, own)).isTrue();
        }
    }

    /** The JDK's locks belong to the process: reading its own owner file would release the lock. */
    @Test
    void copiesOfTheClassesInOneProcessLeaveEachOthersFilesAlone() throws Exception {
        URL[] classes = {OwnedPath.class.getProtectionDomain().getCodeSource().getLocation()};
        try (OwnedPath first = OwnedPath.claim(directory, "job_", "");
                URLClassLoader loader =
                        new URLClassLoader(classes, ClassLoader.getPlatformClassLoader())) {
            Files.createDirectory(first.path());
            Class<?> copy = loader.loadClass(OwnedPath.class.getName());
            assertThat(copy).isNotSameAs(OwnedPath.class);
            Object second =
                    copy.getMethod("claim", Path.class, String.class, String.class)
                            .invoke(null, directory, "job_", "");
            assertThat(first.path()).exists();
            try (ChildProcess other = owner()) {
                assertThat(first.path()).as("held still, seen by another process").exists();
            }
            ((AutoCloseable) second).close();
        }
        OwnedPath.claim(directory, "job_", "").close();
        assertThat(names()).isEmpty();
    }

    @Test
    void closingRemovesWhatHasTheNameAndRepeatingItDoesNothing() throws Exception {
        OwnedPath one = OwnedPath.claim(directory.resolve("made/when/missing"), "a-", ".x");
        OwnedPath two = OwnedPath.claim(directory.resolve("made/when/missing"), "a-", ".x");
        assertThat(one.path()).isNotEqualTo(two.path());
        Files.createDirectories(one.path().resolve("sub"));
        Files.writeString(two.path(), "file");
        one.close();
        one.close();
        assertThat(one.path()).doesNotExist();
        assertThat(two.path()).exists();
        two.close();
        assertThat(directory.resolve("made/when/missing")).isEmptyDirectory();
    }

    /** Simulates a process that has a file which cannot be deleted. */
    @Test
    void deletingGoesOnBehindWhatCannotBeDeletedAndSaysSo() throws Exception {
        assertThatThrownBy(() -> Leftovers.delete(Path.of("/proc/self/fdinfo")))
                .isInstanceOf(IOException.class);
    }

    @Test
    void aDirectoryThatCannotBeUsedIsNamed() throws Exception {
        Path file = Files.createFile(directory.resolve("file"));
        assertThatThrownBy(() -> OwnedPath.claim(file.resolve("below"), "job_", ""))
                .isInstanceOf(IOException.class)
                .hasMessageContaining(file.resolve("below").toString());
        assertThat(new TreeSet<>(names())).containsExactly("file");
    }
}
