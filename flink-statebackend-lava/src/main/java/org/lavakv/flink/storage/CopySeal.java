// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.storage;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Collection;
import java.util.TreeSet;
import org.lavakv.local.PrivateFiles;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells whether the files of a local copy are unchanged, without reading them: a restore from local
 * files should cost no more than opening them. A seal is valid until the machine reboots, because a
 * power cut may lose unsynced data. It is valid for files that were not replaced, truncated or
 * written to, and for one restore of each part. Therefore damage that only a full read finds, such
 * as bytes lost by a disk, fails at most one restore attempt, by the checksum of a block. The next
 * attempt checks every byte and falls back to the remote copy.
 *
 * <p>Threads: any, without state. Errors: none; a copy that cannot be judged counts as not sealed.
 */
public final class CopySeal {

    private static final Logger LOG = LoggerFactory.getLogger(CopySeal.class);

    private static final String SEAL = "LAVA-SEAL";
    private static final String CLAIMED = "restored-";
    private static final Path BOOT = Path.of("/proc/sys/kernel/random/boot_id");

    private CopySeal() {}

    /**
     * Seals the current files.
     *
     * @param directory the directory of the local copy
     * @param names the engine's files, which are in the directory or, kept by a marker, in a volume
     */
    public static void put(Path directory, Collection<String> names) {
        try {
            PrivateFiles.write(
                    directory.resolve(SEAL),
                    describe(directory, names, BOOT).getBytes(StandardCharsets.UTF_8));
        } catch (IOException e) {
            LOG.debug(
                    "Sealing the local copy {} failed. A restore will read the whole copy.",
                    directory,
                    e);
        }
    }

    /**
     * Returns whether the files are unchanged since they were sealed and this part of them is
     * restored for the first time. Never returns true again for this part.
     *
     * @param names the same names as for the seal
     * @param part a plain name
     */
    public static boolean claim(Path directory, Collection<String> names, String part) {
        return claim(directory, names, part, BOOT);
    }

    static boolean claim(Path directory, Collection<String> names, String part, Path boot) {
        try {
            String sealed = Files.readString(directory.resolve(SEAL), StandardCharsets.UTF_8);
            if (!sealed.equals(describe(directory, names, boot))) {
                LOG.info(
                        "The local copy {} has changed since it was sealed. The whole copy is"
                                + " read.",
                        directory);
                return false;
            }
            PrivateFiles.create(directory.resolve(CLAIMED + part)).close();
            return true;
        } catch (FileAlreadyExistsException e) {
            LOG.info("The local copy {} was restored before. The whole copy is read.", directory);
            return false;
        } catch (IOException e) {
            LOG.debug(
                    "The local copy {} has no readable seal. The whole copy is read.",
                    directory,
                    e);
            return false;
        }
    }

    private static String describe(Path directory, Collection<String> names, Path boot)
            throws IOException {
        StringBuilder seal = new StringBuilder("1 ").append(Files.readString(boot));
        for (String name : new TreeSet<>(names)) {
            seal.append(name);
            Path file = directory.resolve(name);
            // Files of a volume are found by the volume's journal, whose checksums cover their
            // lengths.
            if (Files.exists(file)) {
                BasicFileAttributes is = Files.readAttributes(file, BasicFileAttributes.class);
                seal.append(' ').append(is.size());
                seal.append(' ').append(is.lastModifiedTime());
                seal.append(' ').append(is.fileKey());
            }
            seal.append('\n');
        }
        return seal.toString();
    }
}
