// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv;

import java.util.Objects;

/**
 * Location in an {@link EntryLog} of an entry, or of the value at the end of an entry. Units:
 * bytes.
 */
public final class EntryLocation {
    private final long segment;
    private final long offset;
    private final long bytes;
    private final long sequence;

    /**
     * @param sequence the entry's sequence; any number for a value
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

    /** Increases while the instance is open; {@link EntryLog#segmentName} is the segment's file. */
    public long segment() {
        return segment;
    }

    public long offset() {
        return offset;
    }

    public long bytes() {
        return bytes;
    }

    /** Increases from entry to entry, for {@link EntryLog#release}. */
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
