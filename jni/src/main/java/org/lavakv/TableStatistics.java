// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv;

/**
 * Counters of one table at one moment.
 *
 * <p>Threads: immutable.
 */
public final class TableStatistics {

    static final int NUMBERS = 7;

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

    /**
     * Bytes of the table's values in value files, before compression. Excludes files of an older
     * format, which do not name the tables of their values.
     */
    public long valueBytes() {
        return numbers[2];
    }

    /** Estimate of the garbage in {@link #valueBytes()}. */
    public long valueGarbageBytes() {
        return numbers[3];
    }

    /** Value files with values of the table. */
    public long valueFiles() {
        return numbers[4];
    }

    /** Current minimum size of values that go to value files; 0: none do. */
    public long separationBytes() {
        return numbers[5];
    }

    /**
     * Minimum size of values that go to the value log at their put; 0: none do, for example without
     * a write-ahead log.
     */
    public long largeBytes() {
        return numbers[6];
    }
}
