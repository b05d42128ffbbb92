// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv;

/**
 * Files that {@link Volume#pin} kept in a directory of a volume.
 *
 * <p>Threads: any thread.
 *
 * <p>Ownership: the caller closes it, or its volume, which has the same effect. The files exist as
 * long as their marker does.
 */
public final class PinnedFiles implements AutoCloseable {

    private final Volume volume;
    private final String directory;

    PinnedFiles(Volume volume, String directory) {
        this.volume = volume;
        this.directory = directory;
    }

    /** The volume with the files. */
    public Volume volume() {
        return volume;
    }

    /** The directory of the volume with the files, which have their own names. */
    public String directory() {
        return directory;
    }

    /** Closes the volume. Repeating the call does nothing. */
    @Override
    public void close() {
        volume.close();
    }
}
