// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

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

    /** Capacity of the block cache in bytes. */
    public long cacheCapacityBytes() {
        return numbers[0];
    }

    /** Bytes in the block cache. */
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

    /** Bytes of all instances' memtables, including sealed runs. */
    public long memtableBytes() {
        return numbers[5];
    }

    /** Bytes that open files occupy outside the cache. */
    public long tableReaderBytes() {
        return numbers[6];
    }

    /** Buffers of files being written to volumes. */
    public long fileBufferBytes() {
        return numbers[7];
    }

    /** All native bytes currently charged, including the cache. */
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

    /** Time that background jobs slept during their work to stay within the CPU budget. */
    public long backgroundPacedMicros() {
        return numbers[13];
    }

    /**
     * Urgent jobs, for which a writer waits, that no thread has taken yet; the other counters
     * exclude them.
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

    /** Bytes of the instances' metadata of their files. */
    public long metadataBytes() {
        return numbers[20];
    }

    /** Bytes of values being copied into pages of scans. */
    public long scanBytes() {
        return numbers[21];
    }

    /** Working sets of running flushes. */
    public long flushJobBytes() {
        return numbers[22];
    }

    /** Working sets of running compactions. */
    public long compactionJobBytes() {
        return numbers[23];
    }

    /** Working sets of running collections of garbage. */
    public long collectionJobBytes() {
        return numbers[24];
    }

    /** Jobs that were postponed until others return memory. */
    public long jobsPutOff() {
        return numbers[25];
    }

    /** Jobs that were allowed to exceed the memory budget. */
    public long memoryOverdrafts() {
        return numbers[26];
    }

    /** Charged bytes in excess of {@link #budgetBytes}. */
    public long overBudgetBytes() {
        return numbers[27];
    }

    /** Bytes that threads keep for their calls of this library. */
    public long bindingBytes() {
        return numbers[28];
    }

    /** Bytes of indexes and filters in the block cache. */
    public long cacheIndexUsedBytes() {
        return numbers[29];
    }

    /** Part of {@link #cacheHits} for indexes and filters. */
    public long cacheIndexHits() {
        return numbers[30];
    }

    /** Part of {@link #cacheMisses} for indexes and filters. */
    public long cacheIndexMisses() {
        return numbers[31];
    }

    /** Indexes and filters that the cache evicted. */
    public long cacheIndexEvictions() {
        return numbers[32];
    }

    /** Bytes of data blocks in the block cache. */
    public long cacheDataUsedBytes() {
        return numbers[33];
    }

    /** Part of {@link #cacheHits} for data blocks. */
    public long cacheDataHits() {
        return numbers[34];
    }

    /** Part of {@link #cacheMisses} for data blocks. */
    public long cacheDataMisses() {
        return numbers[35];
    }

    /** Data blocks that the cache evicted. */
    public long cacheDataEvictions() {
        return numbers[36];
    }

    /**
     * Size of the block cache's index segment, up to which indexes and filters take precedence over
     * data.
     */
    public long cacheIndexBytesMax() {
        return numbers[37];
    }

    /**
     * Bytes of all instances' files. Files kept only by snapshots are included while there is a
     * limit.
     */
    public long spaceUsedBytes() {
        return numbers[38];
    }

    /** Estimate of {@link #spaceUsedBytes} without garbage. */
    public long spaceLiveBytes() {
        return numbers[39];
    }

    /** The process's space limit; 0: none. */
    public long spaceLimitBytes() {
        return numbers[40];
    }

    /**
     * Number of times that the kernel refused to take back freed pages. The pages are kept and
     * reused.
     */
    public long pageRefusals() {
        return numbers[41];
    }
}
