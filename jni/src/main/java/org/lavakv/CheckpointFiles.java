package org.lavakv;

import java.util.List;

/**
 * What a checkpoint consists of: files to copy, and the metadata from which an instance imports
 * them.
 *
 * <p>Threads: immutable but for the metadata array, which the caller owns.
 */
public final class CheckpointFiles {

    private final List<FileInfo> files;
    private final byte[] metadata;

    CheckpointFiles(List<FileInfo> files, byte[] metadata) {
        this.files = List.copyOf(files);
        this.metadata = metadata;
    }

    /** The files, in no particular order. */
    public List<FileInfo> files() {
        return files;
    }

    /** The bytes for {@link ImportSource} and {@link MetadataInfo#read}; not a copy. */
    public byte[] metadata() {
        return metadata;
    }
}
