// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv;

import java.util.List;
import java.util.Set;

/**
 * The content of a checkpoint: files to copy, and the metadata from which an instance imports them.
 *
 * <p>Threads: immutable except for the metadata array, which the caller owns.
 */
public final class CheckpointFiles {

    private final List<FileInfo> files;
    private final byte[] metadata;
    private final long sealedBytes;
    private final long flushedBytes;
    private final Set<String> missing;

    CheckpointFiles(
            List<FileInfo> files,
            byte[] metadata,
            long sealedBytes,
            long flushedBytes,
            List<String> missing) {
        this.files = List.copyOf(files);
        this.metadata = metadata;
        this.sealedBytes = sealedBytes;
        this.flushedBytes = flushedBytes;
        this.missing = Set.copyOf(missing);
    }

    /** The files, in no particular order. */
    public List<FileInfo> files() {
        return files;
    }

    /** The bytes for {@link ImportSource} and {@link MetadataInfo#read}; not a copy. */
    public byte[] metadata() {
        return metadata;
    }

    /** Bytes of the sealed memtables that were in no file when the snapshot was taken. */
    public long sealedBytes() {
        return sealedBytes;
    }

    /** Bytes of the files to which these memtables were flushed. */
    public long flushedBytes() {
        return flushedBytes;
    }

    /**
     * Names of the files that had not arrived when this was made: see {@link LavaDB#missingFiles}.
     */
    public Set<String> missing() {
        return missing;
    }
}
