// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv;

import java.util.Collection;
import java.util.List;
import java.util.Objects;

/**
 * A predecessor that an opening instance adopts. Its files must already be in the instance's
 * directory under their names, except for files listed as missing.
 *
 * <p>Threads: immutable as long as the metadata array is not modified.
 */
public final class ImportSource {

    private final byte[] metadata;
    private final int partitionFirst;
    private final int partitionLast;
    private final List<String> missing;

    /**
     * Adopts the partitions (key groups) from first to last, both inclusive.
     *
     * @param metadata from {@link CheckpointFiles#metadata()}; not copied
     */
    public ImportSource(byte[] metadata, int partitionFirst, int partitionLast) {
        this(metadata, partitionFirst, partitionLast, List.of());
    }

    /**
     * The same with files that arrive later, see {@link LavaDB#fileArrived}.
     *
     * @param missing their names
     */
    public ImportSource(
            byte[] metadata, int partitionFirst, int partitionLast, Collection<String> missing) {
        this.metadata = Objects.requireNonNull(metadata, "metadata");
        if (partitionFirst < 0 || partitionLast < partitionFirst) {
            throw new IllegalArgumentException(
                    "not a range of partitions: " + partitionFirst + " to " + partitionLast);
        }
        this.partitionFirst = partitionFirst;
        this.partitionLast = partitionLast;
        this.missing = List.copyOf(missing);
    }

    public byte[] metadata() {
        return metadata;
    }

    public int partitionFirst() {
        return partitionFirst;
    }

    public int partitionLast() {
        return partitionLast;
    }

    public List<String> missing() {
        return missing;
    }
}
