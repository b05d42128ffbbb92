// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv;

/**
 * Counters of a {@link Volume} at one moment.
 *
 * <p>Threads: immutable.
 *
 * <p>Units: bytes, counts.
 */
public final class VolumeFigures {

    static final int NUMBERS = 11;

    private final long[] numbers;

    VolumeFigures(long[] numbers) {
        this.numbers = numbers;
    }

    /** Maximum size of the volume in bytes. */
    public long capacityBytes() {
        return numbers[0];
    }

    /** Current size of the volume in bytes. */
    public long deviceBytes() {
        return numbers[1];
    }

    /** Bytes of files, of the journal, and of space about to be freed. */
    public long usedBytes() {
        return numbers[2];
    }

    /** Free bytes of {@link #deviceBytes()}. */
    public long freeBytes() {
        return numbers[3];
    }

    /** Bytes of the largest contiguous free space. */
    public long largestFreeRunBytes() {
        return numbers[4];
    }

    /**
     * Number of files. A file with two names counts once. A removed file counts until it is closed.
     */
    public long files() {
        return numbers[5];
    }

    /** Pins that keep files. */
    public long pins() {
        return numbers[6];
    }

    /** Bytes written to the metadata journal since the mount. */
    public long journalWrittenBytes() {
        return numbers[7];
    }

    /** Number of times the journal was rewritten to make it shorter. */
    public long journalCompactions() {
        return numbers[8];
    }

    /** Memory used by the metadata. */
    public long metadataMemoryBytes() {
        return numbers[9];
    }

    /** Whether the files use direct I/O: it was requested, and not refused. */
    public boolean directIo() {
        return numbers[10] != 0;
    }
}
