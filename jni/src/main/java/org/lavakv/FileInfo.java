// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv;

import java.util.Objects;

/**
 * A file of a checkpoint.
 *
 * <p>Threads: immutable.
 */
public final class FileInfo {

    private final String name;
    private final long bytes;
    private final int crc32c;

    /** A file's name in the directory of its instance, its length and its checksum. */
    public FileInfo(String name, long bytes, int crc32c) {
        this.name = Objects.requireNonNull(name, "name");
        this.bytes = bytes;
        this.crc32c = crc32c;
    }

    /** The name in the instance's directory, never used by any other file of any instance. */
    public String name() {
        return name;
    }

    public long bytes() {
        return bytes;
    }

    /** The checksum of the whole file, as {@link java.util.zip.CRC32C} computes it. */
    public int crc32c() {
        return crc32c;
    }

    @Override
    public String toString() {
        return name + " (" + bytes + " bytes, crc32c " + Integer.toHexString(crc32c) + ")";
    }
}
