package org.lavakv;

import java.util.Collection;
import java.util.List;
import java.util.Objects;

/**
 * One predecessor to adopt when an instance is opened. Its files must lie in the instance's
 * directory under their names already, but for those that are named missing.
 *
 * <p>Threads: immutable as long as the metadata array is left alone.
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
     * The same with files that come later: {@link LavaDB#fileArrived} says when.
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
