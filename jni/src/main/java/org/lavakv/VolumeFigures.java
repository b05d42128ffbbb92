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

    /** Bytes that it may grow to. */
    public long capacityBytes() {
        return numbers[0];
    }

    /** Bytes that it has grown to. */
    public long deviceBytes() {
        return numbers[1];
    }

    /** Bytes of files, of its journal, and of what is about to be freed. */
    public long usedBytes() {
        return numbers[2];
    }

    /** Free bytes of {@link #deviceBytes()}. */
    public long freeBytes() {
        return numbers[3];
    }

    /** Bytes of the largest free space in one piece. */
    public long largestFreeRunBytes() {
        return numbers[4];
    }

    /** Files in it; one with two names counts once, and one that was removed until it is closed. */
    public long files() {
        return numbers[5];
    }

    /** Pins that keep files. */
    public long pins() {
        return numbers[6];
    }

    /** Bytes that its journal of metadata has written since the mount. */
    public long journalWrittenBytes() {
        return numbers[7];
    }

    /** How often its journal was written anew, to be short. */
    public long journalCompactions() {
        return numbers[8];
    }

    /** Memory that its metadata takes. */
    public long metadataMemoryBytes() {
        return numbers[9];
    }

    /** Whether its files go past the page cache: that was asked for, and not refused. */
    public boolean directIo() {
        return numbers[10] != 0;
    }
}
