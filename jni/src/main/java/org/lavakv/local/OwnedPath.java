// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.local;

import java.io.IOException;
import java.nio.file.Path;

/**
 * A name in a local directory for a file or directory of this process. Closing this object removes
 * the file or directory. If the process is killed before, the next process of the same user and
 * machine that claims a name in the same directory removes it. Therefore such a name is only for
 * files that are useless after the end of the process.
 *
 * <p>{@link Leftovers} decides whether a process is dead.
 *
 * <p>Threads: any.
 *
 * <p>Ownership: the caller creates the file or directory, and closes this object.
 */
public final class OwnedPath implements AutoCloseable {

    private final OwnerFile owner;
    private final Path path;
    private boolean closed;

    private OwnedPath(OwnerFile owner, Path path) {
        this.owner = owner;
        this.path = path;
    }

    /**
     * Claims a new name. The first claim of a process in a directory removes the files that killed
     * processes left there.
     *
     * @param directory created with its parents if missing
     * @param begin prefix of the name
     * @param end suffix of the name
     * @throws IOException naming the directory, when this process cannot create files in it
     */
    public static OwnedPath claim(Path directory, String begin, String end) throws IOException {
        try {
            PrivateFiles.createDirectories(directory);
            OwnerFile owner = OwnerFile.use(directory);
            return new OwnedPath(owner, owner.newName(directory, begin, end));
        } catch (IOException e) {
            throw new IOException("Local files cannot be created in " + directory + ": " + e, e);
        }
    }

    /** Absolute. Nothing exists at this path unless the caller created it. */
    public Path path() {
        return path;
    }

    /**
     * Removes the file or directory with its content. Repeating the call does nothing.
     *
     * @throws IOException when not everything could be removed; the next process tries again
     */
    @Override
    public synchronized void close() throws IOException {
        if (closed) {
            return;
        }
        closed = true;
        boolean gone = false;
        try {
            Leftovers.delete(path);
            gone = true;
        } finally {
            owner.release(!gone);
        }
    }
}
