package org.lavakv;

import java.util.Objects;

/** Where an entry, or the value that ends one, is in an {@link EntryLog}. Units: bytes. */
public final class EntryLocation {
    private final long segment;
    private final long offset;
    private final long bytes;

    public EntryLocation(long segment, long offset, long bytes) {
        this.segment = segment;
        this.offset = offset;
        this.bytes = bytes;
    }

    EntryLocation(long[] numbers) {
        this(numbers[0], numbers[1], numbers[2]);
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

    /** Where the next entry of the segment begins. */
    public long end() {
        return offset + bytes;
    }

    @Override
    public boolean equals(Object o) {
        return o instanceof EntryLocation
                && ((EntryLocation) o).segment == segment
                && ((EntryLocation) o).offset == offset
                && ((EntryLocation) o).bytes == bytes;
    }

    @Override
    public int hashCode() {
        return Objects.hash(segment, offset, bytes);
    }

    @Override
    public String toString() {
        return bytes + " bytes at offset " + offset + " of segment " + segment;
    }
}
