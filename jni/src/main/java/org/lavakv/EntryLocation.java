package org.lavakv;

import java.util.Objects;

/** Where an entry, or the value that ends one, is in an {@link EntryLog}. Units: bytes. */
public final class EntryLocation {
    private final long segment;
    private final long offset;
    private final long bytes;
    private final long sequence;

    /**
     * @param sequence of the entry; of a value any
     */
    public EntryLocation(long segment, long offset, long bytes, long sequence) {
        this.segment = segment;
        this.offset = offset;
        this.bytes = bytes;
        this.sequence = sequence;
    }

    EntryLocation(long[] numbers) {
        this(numbers[0], numbers[1], numbers[2], numbers[3]);
    }

    /** Ascends while the instance is open; {@link EntryLog#segmentName} is its file. */
    public long segment() {
        return segment;
    }

    public long offset() {
        return offset;
    }

    public long bytes() {
        return bytes;
    }

    /** Ascends from entry to entry, for {@link EntryLog#release}. */
    public long sequence() {
        return sequence;
    }

    /** Where the next entry of the segment begins. */
    public long end() {
        return offset + bytes;
    }

    @Override
    public boolean equals(Object o) {
        return o instanceof EntryLocation
                && ((EntryLocation) o).segment == segment
                && ((EntryLocation) o).offset == offset
                && ((EntryLocation) o).bytes == bytes
                && ((EntryLocation) o).sequence == sequence;
    }

    @Override
    public int hashCode() {
        return Objects.hash(segment, offset, bytes, sequence);
    }

    @Override
    public String toString() {
        return bytes + " bytes at offset " + offset + " of segment " + segment;
    }
}
