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

    /** Levels that are told apart. */
    public static final int LEVELS = 8;

    private static final int SCALARS = 61;

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
     * Records that scans of prefixes met and did not show: deletions, and what these hide. It does
     * not grow with what was removed before, as scans remember where they found nothing.
     */
    public long recordsSteppedOver() {
        return numbers[60];
    }

    /** Files that a filter kept from being read. */
    public long filterUseful() {
        return numbers[19];
    }

    /** Blocks read from files, not from the cache. */
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

    /** Records that compaction dropped because their time was over. */
    public long recordsExpired() {
        return numbers[23];
    }

    /** Snapshots that are open. */
    public long snapshotsOpen() {
        return numbers[24];
    }

    /** An estimate of the number of records. */
    public long estimatedRecords() {
        return numbers[25];
    }

    /** Value files of the current version; they count into {@link #liveFiles()}, too. */
    public long valueFiles() {
        return numbers[26];
    }

    /** Bytes of the value files; they count into {@link #liveFileBytes()}, too. */
    public long valueFileBytes() {
        return numbers[27];
    }

    /** Bytes of the values in value files, before compression. */
    public long valueRawBytes() {
        return numbers[28];
    }

    /**
     * Bytes, before compression, of values that no reference reaches: at least so many. Values
     * whose references are only hidden yet do not count.
     */
    public long garbageBytesMin() {
        return numbers[29];
    }

    /**
     * The same: at most so many. More than {@link #garbageBytesMin()} only when a file was
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
    public long gcJobs() {
        return numbers[34];
    }

    /** Collections of garbage that run now. */
    public long runningGc() {
        return numbers[35];
    }

    /** Bytes that collections of garbage read. */
    public long gcBytesRead() {
        return numbers[36];
    }

    /** Bytes that collections of garbage wrote. */
    public long gcBytesWritten() {
        return numbers[37];
    }

    /** Values that collections of garbage left behind. */
    public long gcValuesDead() {
        return numbers[38];
    }

    /**
     * About how many of {@link #liveFileBytes()} would be left after all compactions and
     * collections.
     */
    public long estimatedLiveBytes() {
        return numbers[39];
    }

    /** About how many bytes of values newer records hide that no compaction has dropped yet. */
    public long estimatedHiddenBytes() {
        return numbers[40];
    }

    /** Percent of the nearer limit of space that are used; 0 without one. */
    public long spacePressurePercent() {
        return numbers[41];
    }

    /** Of {@link #stallMicros()}, what writes waited for space. */
    public long spaceStallMicros() {
        return numbers[42];
    }

    /** Bytes of keys and values that were overwritten or deleted before they were flushed. */
    public long memtableKilledBytes() {
        return numbers[43];
    }

    /** Bytes of values that compactions wrote anew together with their keys. */
    public long mergedValueBytes() {
        return numbers[44];
    }

    /** Value files that were dropped whole and unread, since all in them had expired. */
    public long valueFilesExpired() {
        return numbers[45];
    }

    /** Bytes of the whole files that were collected; {@link #gcBytesRead()} is what was read. */
    public long gcInputBytes() {
        return numbers[46];
    }

    /** Processor time of flushes. */
    public long flushCpuMicros() {
        return numbers[47];
    }

    /** Processor time of compactions. */
    public long compactionCpuMicros() {
        return numbers[48];
    }

    /** Processor time of collections of garbage. */
    public long gcCpuMicros() {
        return numbers[49];
    }

    /** Files that the file system would not read or write past the page cache, though asked to. */
    public long filesRefusedDirect() {
        return numbers[50];
    }

    /** Snapshots given up because writes needed the space of the files that they kept. */
    public long snapshotsGivenUp() {
        return numbers[51];
    }

    /**
     * Of {@link #stallMicros()}, what writes waited for flushes; one that waited for several things
     * counts where it waited last.
     */
    public long flushStallMicros() {
        return numbers[52];
    }

    /** Of {@link #stallMicros()}, what writes waited for compactions of level 0. */
    public long compactionStallMicros() {
        return numbers[53];
    }

    /** Bytes of values that compactions planned to write anew for the garbage beside them. */
    public long mergedForGarbageBytes() {
        return numbers[54];
    }

    /** Bytes of values that compactions planned to write anew for the sake of scans. */
    public long mergedForOrderBytes() {
        return numbers[55];
    }

    /** Bytes of values that compactions planned to take down with their keys. */
    public long mergedDownBytes() {
        return numbers[56];
    }

    /** Values that are stored in entries of the layer above: see {@link EntryLog}. */
    public long externalValues() {
        return numbers[57];
    }

    /** Bytes of entries that were logged. */
    public long entryBytes() {
        return numbers[58];
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
     * Sorted groups of value files that were written to a level: files that one job wrote in key
     * order.
     */
    public long valueGroupsAtLevel(int level) {
        return numbers[SCALARS + 2 * LEVELS + Objects.checkIndex(level, LEVELS)];
    }

    /** Value files of a level that hold values around one key, where they are most. */
    public long valueOverlapAtLevel(int level) {
        return numbers[SCALARS + 3 * LEVELS + Objects.checkIndex(level, LEVELS)];
    }
}
