// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv;

import java.util.Objects;

/**
 * Counters of an instance at one moment.
 *
 * <p>Threads: immutable.
 *
 * <p>Units: bytes, counts, microseconds.
 */
public final class DBStatistics {

    /** Number of levels with separate counters. */
    public static final int LEVELS = 8;

    private static final int SCALARS = 62;

    static final int NUMBERS = SCALARS + 4 * LEVELS;

    private final long[] numbers;

    DBStatistics(long[] numbers) {
        this.numbers = numbers;
    }

    /** Bytes of the active memtable. */
    public long memtableActiveBytes() {
        return numbers[0];
    }

    /** Bytes of sealed runs that are not in files yet. */
    public long memtableSealedBytes() {
        return numbers[1];
    }

    /** Sealed runs that are not in files yet. */
    public long sealedRuns() {
        return numbers[2];
    }

    /** Bytes of the files that the current version names. */
    public long liveFileBytes() {
        return numbers[3];
    }

    /** Files that the current version names. */
    public long liveFiles() {
        return numbers[4];
    }

    /** Bytes of files that only snapshots keep. */
    public long pinnedFileBytes() {
        return numbers[5];
    }

    /** Bytes that compaction has to rewrite until every level is within its size. */
    public long pendingCompactionBytes() {
        return numbers[6];
    }

    /** Flushes that run now. */
    public long runningFlushes() {
        return numbers[7];
    }

    /** Compactions that run now. */
    public long runningCompactions() {
        return numbers[8];
    }

    /** Flushes done. */
    public long flushes() {
        return numbers[9];
    }

    /** Compactions done, trivial moves not counted. */
    public long compactions() {
        return numbers[10];
    }

    /** Files moved down a level without rewriting. */
    public long trivialMoves() {
        return numbers[11];
    }

    /** Bytes that flushes wrote. */
    public long flushBytesWritten() {
        return numbers[12];
    }

    /** Bytes that compactions read. */
    public long compactionBytesRead() {
        return numbers[13];
    }

    /** Bytes that compactions wrote. */
    public long compactionBytesWritten() {
        return numbers[14];
    }

    /** Bytes of keys and values that callers wrote. */
    public long userBytesWritten() {
        return numbers[15];
    }

    /** Point reads. */
    public long reads() {
        return numbers[16];
    }

    /** Write calls. */
    public long writes() {
        return numbers[17];
    }

    /** Pages scanned. */
    public long scans() {
        return numbers[18];
    }

    /**
     * Records that scans of prefixes read without returning them: deletions, and records that
     * deletions hide. Deletions of the past do not make the counter grow further, because scans
     * remember ranges in which they found nothing.
     */
    public long recordsSteppedOver() {
        return numbers[60];
    }

    /** Files that were not read thanks to a filter. */
    public long filterUseful() {
        return numbers[19];
    }

    /** Blocks read from files instead of the cache. */
    public long blockReads() {
        return numbers[20];
    }

    /** Microseconds for which writes waited. */
    public long stallMicros() {
        return numbers[21];
    }

    /** Files that background jobs found damaged; see {@link BackgroundEvent}. */
    public long damagedFiles() {
        return numbers[59];
    }

    /** Flushes, compactions and collections of garbage that failed. */
    public long backgroundErrors() {
        return numbers[22];
    }

    /** Records that compaction dropped because they had expired. */
    public long recordsExpired() {
        return numbers[23];
    }

    /** Snapshots that are open. */
    public long snapshotsOpen() {
        return numbers[24];
    }

    /** Estimated number of records. */
    public long estimatedRecords() {
        return numbers[25];
    }

    /** Value files of the current version; included in {@link #liveFiles()}. */
    public long valueFiles() {
        return numbers[26];
    }

    /** Bytes of the value files; included in {@link #liveFileBytes()}. */
    public long valueFileBytes() {
        return numbers[27];
    }

    /** Bytes of the values in value files, before compression. */
    public long valueRawBytes() {
        return numbers[28];
    }

    /**
     * Lower bound of the bytes, before compression, of values that no reference reaches. Values
     * whose references are hidden by newer records do not count.
     */
    public long garbageBytesMin() {
        return numbers[29];
    }

    /**
     * Upper bound of the same bytes. Differs from {@link #garbageBytesMin()} only if a file was
     * collected before, or adopted in part.
     */
    public long garbageBytesMax() {
        return numbers[30];
    }

    /** Bytes of value files that flushes and compactions wrote. */
    public long valueBytesWritten() {
        return numbers[31];
    }

    /** Records of value files read from storage. */
    public long valueReads() {
        return numbers[32];
    }

    /** Bytes of {@link #valueReads()}. */
    public long valueBytesRead() {
        return numbers[33];
    }

    /** Collections of garbage done. */
    public long collections() {
        return numbers[34];
    }

    /** Collections of garbage that run now. */
    public long runningCollections() {
        return numbers[35];
    }

    /** Bytes that collections of garbage read. */
    public long collectionBytesRead() {
        return numbers[36];
    }

    /** Bytes that collections of garbage wrote. */
    public long collectionBytesWritten() {
        return numbers[37];
    }

    /** Garbage values that collections dropped. */
    public long collectionValuesDead() {
        return numbers[38];
    }

    /** Estimate of {@link #liveFileBytes()} after all compactions and collections. */
    public long estimatedLiveBytes() {
        return numbers[39];
    }

    /**
     * Estimated bytes of values that newer records hide, but that no compaction has dropped yet.
     */
    public long estimatedHiddenBytes() {
        return numbers[40];
    }

    /** Usage of the tighter space limit, in percent; 0 without a limit. */
    public long spacePressurePercent() {
        return numbers[41];
    }

    /** Part of {@link #stallMicros()} during which writes waited for space. */
    public long spaceStallMicros() {
        return numbers[42];
    }

    /** Bytes of keys and values that were overwritten or deleted before their flush. */
    public long memtableKilledBytes() {
        return numbers[43];
    }

    /** Bytes of values that compactions rewrote together with their keys. */
    public long mergedValueBytes() {
        return numbers[44];
    }

    /** Value files that were dropped unread because all their values had expired. */
    public long valueFilesExpired() {
        return numbers[45];
    }

    /**
     * Bytes of the collected files, including the parts that collections did not read; {@link
     * #collectionBytesRead()} counts the bytes read.
     */
    public long collectionInputBytes() {
        return numbers[46];
    }

    /** CPU time of flushes. */
    public long flushCpuMicros() {
        return numbers[47];
    }

    /** CPU time of compactions. */
    public long compactionCpuMicros() {
        return numbers[48];
    }

    /** CPU time of collections of garbage. */
    public long collectionCpuMicros() {
        return numbers[49];
    }

    /** Files for which the file system refused direct I/O. */
    public long filesRefusedDirect() {
        return numbers[50];
    }

    /** Snapshots given up because writes needed the space of the files that the snapshots kept. */
    public long snapshotsGivenUp() {
        return numbers[51];
    }

    /**
     * Part of {@link #stallMicros()} during which writes waited for flushes. A write that waited
     * for several things counts for the last one.
     */
    public long flushStallMicros() {
        return numbers[52];
    }

    /** Part of {@link #stallMicros()} during which writes waited for compactions of level 0. */
    public long compactionStallMicros() {
        return numbers[53];
    }

    /** Bytes of values that compactions planned to rewrite because of the garbage beside them. */
    public long mergedForGarbageBytes() {
        return numbers[54];
    }

    /** Bytes of values that compactions planned to rewrite in order, for scans. */
    public long mergedForOrderBytes() {
        return numbers[55];
    }

    /** Bytes of values that compactions planned to move down with their keys. */
    public long mergedDownBytes() {
        return numbers[56];
    }

    /** Values stored in entries of the layer above: see {@link EntryLog}. */
    public long externalValues() {
        return numbers[57];
    }

    /** Bytes of logged entries. */
    public long entryBytes() {
        return numbers[58];
    }

    /**
     * Events that the engine did not bring to the buffer of {@link LavaDB#takeEvents}, because its
     * queue was full or memory was refused.
     */
    public long eventsDropped() {
        return numbers[61];
    }

    /** Files at a level, from 0 to {@link #LEVELS} - 1. */
    public long filesAtLevel(int level) {
        return numbers[SCALARS + Objects.checkIndex(level, LEVELS)];
    }

    /** Bytes of the files at a level, from 0 to {@link #LEVELS} - 1. */
    public long bytesAtLevel(int level) {
        return numbers[SCALARS + LEVELS + Objects.checkIndex(level, LEVELS)];
    }

    /**
     * Sorted groups of value files at a level; a group is the files that one job wrote in key
     * order.
     */
    public long valueGroupsAtLevel(int level) {
        return numbers[SCALARS + 2 * LEVELS + Objects.checkIndex(level, LEVELS)];
    }

    /** The largest number of value files of a level whose key ranges contain the same key. */
    public long valueOverlapAtLevel(int level) {
        return numbers[SCALARS + 3 * LEVELS + Objects.checkIndex(level, LEVELS)];
    }
}
