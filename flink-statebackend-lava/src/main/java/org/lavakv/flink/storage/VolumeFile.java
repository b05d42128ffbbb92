// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.storage;

import java.io.IOException;
import java.io.InputStream;
import org.lavakv.LavaClosedException;
import org.lavakv.LavaDBException;
import org.lavakv.Volume;

/**
 * A file of a volume. Threads: immutable. Ownership: the volume belongs to the creator of this
 * object.
 */
final class VolumeFile implements LocalFile {

    private final Volume volume;
    private final String directory;
    private final String name;

    VolumeFile(Volume volume, String directory, String name) {
        this.volume = volume;
        this.directory = directory;
        this.name = name;
    }

    Volume volume() {
        return volume;
    }

    String directory() {
        return directory;
    }

    String name() {
        return name;
    }

    @Override
    public InputStream open() throws IOException {
        try {
            return volume.openFile(directory, name);
        } catch (LavaDBException | LavaClosedException e) {
            throw new IOException("Opening " + displayName() + " failed: " + e.getMessage(), e);
        }
    }

    @Override
    public String displayName() {
        return volume.path() + ":" + directory + "/" + name;
    }
}
