// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.storage;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import javax.annotation.Nullable;
import org.lavakv.DBOptions;
import org.lavakv.ImportSource;
import org.lavakv.LavaDB;
import org.lavakv.LavaDBException;
import org.lavakv.Lease;
import org.lavakv.TableInfo;
import org.lavakv.VolumeFigures;

/**
 * Files in an ordinary directory.
 *
 * <p>Threads: immutable. Ownership: the directory and its content are the caller's.
 */
public final class PosixFiles implements InstanceFiles {

    private final Path directory;

    /**
     * @param directory exists
     */
    public PosixFiles(Path directory) {
        this.directory = directory;
    }

    @Override
    public LavaDB open(DBOptions options, Lease lease, List<ImportSource> imports)
            throws LavaDBException {
        return LavaDB.open(options, directory.toString(), lease, imports);
    }

    @Override
    public LocalFile file(String name) {
        return new PosixFile(directory.resolve(name));
    }

    @Override
    public OutputStream create(String name) throws IOException {
        return new LocalFileOutput(directory.resolve(name));
    }

    @Override
    public boolean link(LocalFile from, String name) throws IOException {
        if (!(from instanceof PosixFile)) {
            return false;
        }
        HardLinks.linkOrCopy(((PosixFile) from).path(), directory.resolve(name));
        return true;
    }

    @Override
    public void deleteIfExists(String name) throws IOException {
        Files.deleteIfExists(directory.resolve(name));
    }

    @Override
    public void verify(String name, List<TableInfo> tables) throws LavaDBException {
        LavaDB.verifyFile(directory.resolve(name).toString(), tables);
    }

    /** Uses hard links, or copies if the target is on another file system. */
    @Override
    public void keep(Path to, List<String> names) throws IOException {
        for (String name : names) {
            HardLinks.linkOrCopy(directory.resolve(name), to.resolve(name));
        }
    }

    @Override
    public void releaseKept() {}

    @Nullable
    @Override
    public String volumePath() {
        return null;
    }

    @Nullable
    @Override
    public VolumeFigures volumeFigures() {
        return null;
    }

    @Override
    public String toString() {
        return directory.toString();
    }

    @Override
    public void close() {}
}
