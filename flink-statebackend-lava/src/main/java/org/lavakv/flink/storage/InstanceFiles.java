// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.storage;

import java.io.IOException;
import java.io.OutputStream;
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
 * The directory of an instance's files.
 *
 * <p>Threads: any; each file is created by one thread.
 *
 * <p>Ownership: {@link #close} releases the resources of this object.
 *
 * <p>Errors: IOException that names the file.
 */
public interface InstanceFiles extends AutoCloseable {

    /** Opens the instance; the caller closes it before this object. */
    LavaDB open(DBOptions options, Lease lease, List<ImportSource> imports) throws LavaDBException;

    /** A file of the directory, which need not exist. */
    LocalFile file(String name);

    /**
     * Creates a file, which must not exist. The file is complete only after the caller has closed
     * it.
     */
    OutputStream create(String name) throws IOException;

    /**
     * Gives a file of another directory a second name here.
     *
     * @return false when the file cannot be linked here, and must be copied
     */
    boolean link(LocalFile from, String name) throws IOException;

    /** Removes a file. */
    void deleteIfExists(String name) throws IOException;

    /**
     * Reads every byte of one of the engine's files and checks it.
     *
     * @param tables to name the table of damaged data
     * @throws LavaDBException CORRUPTION, naming the file
     */
    void verify(String name, List<TableInfo> tables) throws LavaDBException;

    /**
     * Keeps files for local recovery until the given directory is deleted. {@link KeptFiles} finds
     * them again.
     *
     * @param directory an existing ordinary directory
     */
    void keep(Path directory, List<String> names) throws IOException;

    /** Releases the files kept for directories that no longer exist. Cheap. */
    void releaseKept() throws IOException;

    /** The volume's path, for people; null when the files are not in a volume. */
    @Nullable
    String volumePath();

    /** The volume's counters; null when the files are not in a volume. */
    @Nullable
    VolumeFigures volumeFigures();

    /** The directory's path, for people. */
    @Override
    String toString();

    /**
     * Removes the files of a volume's directory and releases the volume. Ordinary files belong to
     * the owner of their directory and are kept. Repeating the call does nothing.
     */
    @Override
    void close() throws IOException;
}
