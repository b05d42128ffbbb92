package org.lavakv;

/**
 * Counters of the process, for this copy of the library, at one moment.
 *
 * <p>Threads: immutable.
 *
 * <p>Units: bytes, counts, microseconds.
 */
public final class HostStatistics {

    static final int NUMBERS = 42;

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

    /** CPU time that background jobs used. */
    public long backgroundCpuMicros() {
        return numbers[12];
    }

    /** How long background jobs slept amid their work to keep to the CPU budget. */
    public long backgroundPacedMicros() {
        return numbers[13];
    }

    /**
     * Jobs that no thread has taken yet and that a writer waits for; the others do not count them.
     */
    public long queuedUrgentJobs() {
        return numbers[14];
    }

    /** Flushes that no thread has taken yet. */
    public long queuedFlushes() {
        return numbers[15];
    }

    /** Compactions of level 0 that no thread has taken yet. */
    public long queuedL0Compactions() {
        return numbers[16];
    }

    /** Compactions of other levels that no thread has taken yet. */
    public long queuedCompactions() {
        return numbers[17];
    }

    /** Garbage collections that no thread has taken yet. */
    public long queuedCollections() {
        return numbers[18];
    }

    /** All jobs that no thread has taken yet. */
    public long queuedJobs() {
        return queuedUrgentJobs()
                + queuedFlushes()
                + queuedL0Compactions()
                + queuedCompactions()
                + queuedCollections();
    }

    /** Native memory of all leases. */
    public long budgetBytes() {
        return numbers[19];
    }

    /** Bytes of what instances know of their files. */
    public long metadataBytes() {
        return numbers[20];
    }

    /** Bytes of values on their way into pages of scans. */
    public long scanBytes() {
        return numbers[21];
    }

    /** Working sets of flushes that run. */
    public long flushJobBytes() {
        return numbers[22];
    }

    /** Working sets of compactions that run. */
    public long compactionJobBytes() {
        return numbers[23];
    }

    /** Working sets of collections of garbage that run. */
    public long gcJobBytes() {
        return numbers[24];
    }

    /** Jobs that were put off until others give memory back. */
    public long jobsPutOff() {
        return numbers[25];
    }

    /** Jobs that were let go on with more memory than the budget has. */
    public long memoryOverdrafts() {
        return numbers[26];
    }

    /** Charged bytes that {@link #budgetBytes} does not have. */
    public long overBudgetBytes() {
        return numbers[27];
    }

    /** Bytes that threads keep for their calls of this library. */
    public long bindingBytes() {
        return numbers[28];
    }

    /** Bytes of the block cache that are indexes and filters. */
    public long cacheIndexUsedBytes() {
        return numbers[29];
    }

    /** Of {@link #cacheHits}, indexes and filters. */
    public long cacheIndexHits() {
        return numbers[30];
    }

    /** Of {@link #cacheMisses}, indexes and filters. */
    public long cacheIndexMisses() {
        return numbers[31];
    }

    /** Indexes and filters that the cache gave up. */
    public long cacheIndexEvictions() {
        return numbers[32];
    }

    /** Bytes of the block cache that are data. */
    public long cacheDataUsedBytes() {
        return numbers[33];
    }

    /** Of {@link #cacheHits}, data. */
    public long cacheDataHits() {
        return numbers[34];
    }

    /** Of {@link #cacheMisses}, data. */
    public long cacheDataMisses() {
        return numbers[35];
    }

    /** Blocks of data that the cache gave up. */
    public long cacheDataEvictions() {
        return numbers[36];
    }

    /** Bytes of the block cache up to which indexes and filters go before data. */
    public long cacheIndexBytesMax() {
        return numbers[37];
    }

    /** Bytes of all instances' files; of those that only snapshots keep while there is a limit. */
    public long spaceUsedBytes() {
        return numbers[38];
    }

    /** Of {@link #spaceUsedBytes}, what is thought to be left if nothing was garbage. */
    public long spaceLiveBytes() {
        return numbers[39];
    }

    /** The process's limit of space; 0: none. */
    public long spaceLimitBytes() {
        return numbers[40];
    }

    /** Times that the kernel did not take freed pages back; they are kept and used again. */
    public long pageRefusals() {
        return numbers[41];
    }
}
