package org.lavakv;

/**
 * Counters of one table at one moment.
 *
 * <p>Threads: immutable.
 */
public final class TableStatistics {

    static final int NUMBERS = 2;

    private final long[] numbers;

    TableStatistics(long[] numbers) {
        this.numbers = numbers;
    }

    /** Bytes of keys and values in files, before compression; an upper bound. */
    public long liveBytes() {
        return numbers[0];
    }

    /** Records in files and memtables; an upper bound. */
    public long records() {
        return numbers[1];
    }
}
