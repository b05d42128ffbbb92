package org.lavakv;

/**
 * Counters of the process, for this copy of the library, at one moment.
 *
 * <p>Threads: immutable.
 *
 * <p>Units: bytes, counts.
 */
public final class HostStatistics {

    static final int NUMBERS = 12;

    private final long[] numbers;

    HostStatistics(long[] numbers) {
        this.numbers = numbers;
    }

    /** Bytes that the block cache may hold. */
    public long cacheCapacityBytes() {
        return numbers[0];
    }

    /** Bytes that the block cache holds. */
    public long cacheUsedBytes() {
        return numbers[1];
    }

    /** Bytes of the block cache that are in use and cannot be evicted. */
    public long cachePinnedBytes() {
        return numbers[2];
    }

    /** Blocks found in the cache. */
    public long cacheHits() {
        return numbers[3];
    }

    /** Blocks not found in the cache. */
    public long cacheMisses() {
        return numbers[4];
    }

    /** Bytes of all instances' memtables, sealed runs included. */
    public long memtableBytes() {
        return numbers[5];
    }

    /** Bytes that open files keep outside the cache. */
    public long tableReaderBytes() {
        return numbers[6];
    }

    /** Bytes that files being written to volumes buffer. */
    public long fileBufferBytes() {
        return numbers[7];
    }

    /** All native bytes that are charged now, the cache included. */
    public long chargedBytes() {
        return numbers[8];
    }

    /** Instances that are open. */
    public long instancesOpen() {
        return numbers[9];
    }

    /** Native threads. */
    public long threads() {
        return numbers[10];
    }

    /** Leases that are open. */
    public long leasesOpen() {
        return numbers[11];
    }
}
