// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv;

import java.util.List;
import java.util.Objects;

/**
 * The content of a checkpoint's metadata, for inspection before an import.
 *
 * <p>Threads: immutable.
 */
public final class MetadataInfo {

    private final int formatVersion;
    private final int partitionBytes;
    private final List<TableInfo> tables;
    private final List<FileInfo> files;

    private MetadataInfo(
            int formatVersion, int partitionBytes, List<TableInfo> tables, List<FileInfo> files) {
        this.formatVersion = formatVersion;
        this.partitionBytes = partitionBytes;
        this.tables = List.copyOf(tables);
        this.files = List.copyOf(files);
    }

    /**
     * Reads metadata of {@link Snapshot#getFiles()}. Requires the library to be loaded.
     *
     * @throws LavaDBException CORRUPTION, or NOT_SUPPORTED when a newer version wrote it
     */
    public static MetadataInfo read(byte[] metadata) throws LavaDBException {
        Objects.requireNonNull(metadata, "metadata");
        LavaLibrary.checkLoaded();
        Decoder in = new Decoder(read0(metadata));
        int formatVersion = in.int32();
        int partitionBytes = in.int32();
        List<TableInfo> tables = in.tables();
        return new MetadataInfo(formatVersion, partitionBytes, tables, in.files());
    }

    public int formatVersion() {
        return formatVersion;
    }

    /** Number of leading bytes of a key that are its partition. */
    public int partitionBytes() {
        return partitionBytes;
    }

    public List<TableInfo> tables() {
        return tables;
    }

    public List<FileInfo> files() {
        return files;
    }

    private static native byte[] read0(byte[] metadata) throws LavaDBException;
}
