// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.storage;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import javax.annotation.Nullable;
import org.lavakv.LavaDBException;
import org.lavakv.PinnedFiles;
import org.lavakv.Volume;
import org.lavakv.VolumeOptions;

/**
 * The files that {@link InstanceFiles#keep} kept for a directory: files in it, or files of a volume
 * named by a marker in it.
 *
 * <p>Threads: any. Ownership: the caller closes this object after use of its files. The files exist
 * as long as the directory does.
 */
public final class KeptFiles implements AutoCloseable {

    private static final String MARKER = "volume-pin";

    private final Path directory;
    @Nullable private final PinnedFiles pinned;

    private KeptFiles(Path directory, @Nullable PinnedFiles pinned) {
        this.directory = directory;
        this.pinned = pinned;
    }

    /**
     * Finds the kept files of a directory.
     *
     * @param options take effect if this call mounts the volume
     * @throws IOException when there is a marker, and the volume's files are gone
     */
    public static KeptFiles in(Path directory, VolumeOptions options) throws IOException {
        String marker = marker(directory);
        if (!Files.exists(directory.resolve(MARKER))) {
            return new KeptFiles(directory, null);
        }
        try {
            return new KeptFiles(directory, Volume.openPinned(marker, options));
        } catch (LavaDBException e) {
            throw new IOException(
                    "Finding the files that "
                            + marker
                            + " keeps in a LavaFS volume failed: "
                            + e.getMessage(),
                    e);
        }
    }

    /** The marker's path, which identifies the pin in the volume. */
    static String marker(Path directory) {
        return directory.toAbsolutePath().resolve(MARKER).toString();
    }

    /** One of the engine's files. */
    public LocalFile file(String name) {
        return pinned == null
                ? new PosixFile(directory.resolve(name))
                : new VolumeFile(pinned.volume(), pinned.directory(), name);
    }

    /** Repeating the call does nothing. */
    @Override
    public void close() {
        if (pinned != null) {
            pinned.close();
            LingeringVolumes.ALL.closed(pinned.volume());
        }
    }
}
