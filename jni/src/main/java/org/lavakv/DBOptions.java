// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv;

import java.util.Objects;

/**
 * Options of one instance.
 *
 * <p>Threads: not safe for concurrent changes; {@link LavaDB#open} copies the options.
 *
 * <p>Units: bytes, unless the name says otherwise.
 *
 * <p>Errors: setters refuse negative numbers and null; {@link LavaDB#open} checks the rest.
 */
public final class DBOptions {

    /**
     * For {@link #setLargeValueBytes}: the engine chooses the size for each table, from the share
     * of its values that die in memory, and from the frequency of scans. Starts at 8 KiB, or at 32
     * KiB with {@link WalMode#WAL_SYNC}.
     */
    public static final long AUTOMATIC_LARGE_VALUES = Long.MAX_VALUE;

    private final long[] numbers = DBOption.defaults();
    private String walDir = "";
    private Volume volume;
    private int eventBufferBytes;

    /** Options with their default values. */
    public DBOptions() {}

    /**
     * Leading bytes of every key before the table id (Flink: the key group), 1 or 2. Default: 1.
     */
    public DBOptions setPartitionBytes(int partitionBytes) {
        return set(DBOption.PARTITION_BYTES, partitionBytes);
    }

    /** The first partition that the instance may hold, as a big-endian number. Default: 0. */
    public DBOptions setPartitionFirst(int partitionFirst) {
        return set(DBOption.PARTITION_FIRST, partitionFirst);
    }

    /** The last partition that the instance may hold, inclusive. Default: 255. */
    public DBOptions setPartitionLast(int partitionLast) {
        return set(DBOption.PARTITION_LAST, partitionLast);
    }

    /** Whether to create an instance in a directory without one. Default: true. */
    public DBOptions setCreateIfMissing(boolean createIfMissing) {
        return set(DBOption.CREATE_IF_MISSING, createIfMissing ? 1 : 0);
    }

    /**
     * Whether files and manifest are synced before they are used (local recovery). Off: a power cut
     * may lose the directory, but never makes it open with wrong data. Default: false.
     */
    public DBOptions setSync(boolean sync) {
        return set(DBOption.SYNC, sync ? 1 : 0);
    }

    /**
     * Whether each write is in a write-ahead log when the call returns. An open after a crash
     * repeats logged writes. Files and manifest are then synced as with {@link #setSync}. An
     * instance that had a log cannot be opened without one. Default: {@link WalMode#NONE}.
     */
    public DBOptions setWalMode(WalMode walMode) {
        return set(DBOption.WAL, Objects.requireNonNull(walMode, "walMode").number());
    }

    /**
     * The directory of the write-ahead log. All instances of the process that name this directory
     * and use the same volume share the log. Default: empty, which means "wal" beside the
     * instance's own directory.
     */
    public DBOptions setWalDir(String walDir) {
        this.walDir = Objects.requireNonNull(walDir, "walDir");
        return this;
    }

    /**
     * With a write-ahead log, values of at least this size go to the instance's value log at their
     * put, if their table separates values of that size. The value log's record replaces the
     * write-ahead record, and the flush leaves the value there: it is written once. 0: never.
     * Default: {@link #AUTOMATIC_LARGE_VALUES}.
     */
    public DBOptions setLargeValueBytes(long largeValueBytes) {
        return set(DBOption.LARGE_VALUE_BYTES, largeValueBytes);
    }

    /**
     * Whether reads by users and by background work use direct I/O. Files that refuse direct I/O
     * use the page cache. Default: false.
     */
    public DBOptions setUseDirectReads(boolean useDirectReads) {
        return set(DBOption.USE_DIRECT_READS, useDirectReads ? 1 : 0);
    }

    /**
     * Whether writes of flushes, compactions and collections use direct I/O. Files that refuse
     * direct I/O use the page cache. Default: false.
     */
    public DBOptions setUseDirectIoForFlushAndCompaction(boolean useDirectIo) {
        return set(DBOption.USE_DIRECT_IO_FOR_FLUSH_AND_COMPACTION, useDirectIo ? 1 : 0);
    }

    /**
     * Size at which the active memtable is sealed; 0: derived from the lease's share. Default: 0.
     */
    public DBOptions setMemtableBytes(long memtableBytes) {
        return set(DBOption.MEMTABLE_BYTES, memtableBytes);
    }

    /** Size of a data block before compression. Default: 4096. */
    public DBOptions setBlockBytes(int blockBytes) {
        return set(DBOption.BLOCK_BYTES, blockBytes);
    }

    /** Size of a partition of a file's index. Default: 16384. */
    public DBOptions setIndexPartitionBytes(int indexPartitionBytes) {
        return set(DBOption.INDEX_PARTITION_BYTES, indexPartitionBytes);
    }

    /** Bits for each key in a file's filter; 0: no filters. Default: 10. */
    public DBOptions setFilterBitsPerKey(int filterBitsPerKey) {
        return set(DBOption.FILTER_BITS_PER_KEY, filterBitsPerKey);
    }

    /** Compression of all levels except the last. Default: LZ4. */
    public DBOptions setCompression(CompressionType compression) {
        return set(
                DBOption.COMPRESSION, Objects.requireNonNull(compression, "compression").number());
    }

    /** Compression of the last level. Default: LZ4. */
    public DBOptions setBottomCompression(CompressionType bottomCompression) {
        return set(
                DBOption.BOTTOM_COMPRESSION,
                Objects.requireNonNull(bottomCompression, "bottomCompression").number());
    }

    /** Size at which a compaction starts a new file. Default: 32 MiB. */
    public DBOptions setTargetFileBytes(long targetFileBytes) {
        return set(DBOption.TARGET_FILE_BYTES, targetFileBytes);
    }

    /**
     * Size at which a flush, a compaction or a collection starts a new value file. Default: 64 MiB.
     */
    public DBOptions setValueFileBytes(long valueFileBytes) {
        return set(DBOption.VALUE_FILE_BYTES, valueFileBytes);
    }

    /** Compression of each value in a value file. Default: LZ4. */
    public DBOptions setValueCompression(CompressionType valueCompression) {
        return set(
                DBOption.VALUE_COMPRESSION,
                Objects.requireNonNull(valueCompression, "valueCompression").number());
    }

    /**
     * Jobs that rewrite values. The policies other than AUTOMATIC exist for comparison. Default:
     * AUTOMATIC.
     */
    public DBOptions setValuePolicy(ValuePolicy valuePolicy) {
        return set(
                DBOption.VALUE_POLICY, Objects.requireNonNull(valuePolicy, "valuePolicy").number());
    }

    /** Number of lines that are kept for {@link LavaDB#takeValueDecisions}. Default: 0. */
    public DBOptions setValueDecisionsMax(int valueDecisionsMax) {
        return set(DBOption.VALUE_DECISIONS_MAX, valueDecisionsMax);
    }

    /**
     * Garbage, in percent of a value file's bytes, at which the file is collected (approximate);
     * above 100: never. Default: 25.
     */
    public DBOptions setCollectionGarbagePercent(int collectionGarbagePercent) {
        return set(DBOption.COLLECTION_GARBAGE_PERCENT, collectionGarbagePercent);
    }

    /**
     * Concurrent collections while space is short. Default: 0, the number of background threads
     * minus one.
     */
    public DBOptions setCollectionJobsMax(int collectionJobsMax) {
        return set(DBOption.COLLECTION_JOBS_MAX, collectionJobsMax);
    }

    /**
     * Additional cost of a rewritten byte, in percent of the cost of reading and writing it:
     * incremental checkpoints upload it. A higher cost means that files in a checkpoint are
     * collected with more garbage, and that level 0 grows more before it is compacted. Default: 0.
     */
    public DBOptions setCollectionUploadCostPercent(int collectionUploadCostPercent) {
        return set(DBOption.COLLECTION_UPLOAD_COST_PERCENT, collectionUploadCostPercent);
    }

    /**
     * Size of the files, in percent of their estimated live bytes, at which writes are slowed.
     * Default: 0, which means 90 % of the garbage that the high limit allows.
     */
    public DBOptions setSpaceLowPercent(int spaceLowPercent) {
        return set(DBOption.SPACE_LOW_PERCENT, spaceLowPercent);
    }

    /**
     * Size of the files, in percent of their estimated live bytes, at which writes return Busy as
     * long as collections and compactions can free space; above 100. Default: 0, no limit.
     */
    public DBOptions setSpaceHighPercent(int spaceHighPercent) {
        return set(DBOption.SPACE_HIGH_PERCENT, spaceHighPercent);
    }

    /**
     * Size of the files in bytes, including files kept only by snapshots, at which writes are
     * slowed. Default: 0, which means 90 % of the high limit.
     */
    public DBOptions setSpaceLowBytes(long spaceLowBytes) {
        return set(DBOption.SPACE_LOW_BYTES, spaceLowBytes);
    }

    /**
     * Size of the files in bytes at which writes return Busy, or NoSpace when nothing can be freed.
     * Deletes are exempt. Default: 0, no limit.
     */
    public DBOptions setSpaceHighBytes(long spaceHighBytes) {
        return set(DBOption.SPACE_HIGH_BYTES, spaceHighBytes);
    }

    /** Target size of level 1. Default: 128 MiB. */
    public DBOptions setLevel1Bytes(long level1Bytes) {
        return set(DBOption.LEVEL1_BYTES, level1Bytes);
    }

    /** Ratio of the sizes of a level and of the level above it. Default: 10. */
    public DBOptions setLevelMultiplier(int levelMultiplier) {
        return set(DBOption.LEVEL_MULTIPLIER, levelMultiplier);
    }

    /** Number of levels, including level 0. Default: 7. */
    public DBOptions setLevelCount(int levelCount) {
        return set(DBOption.LEVEL_COUNT, levelCount);
    }

    /** Number of files in level 0 at which it is compacted. Default: 4. */
    public DBOptions setL0CompactionTrigger(int l0CompactionTrigger) {
        return set(DBOption.L0_COMPACTION_TRIGGER, l0CompactionTrigger);
    }

    /** Number of files in level 0 over one key at which writes wait. Default: 24. */
    public DBOptions setL0StallTrigger(int l0StallTrigger) {
        return set(DBOption.L0_STALL_TRIGGER, l0StallTrigger);
    }

    /** Number of unflushed runs at which writes wait. Default: 4. */
    public DBOptions setSealedRunsMax(int sealedRunsMax) {
        return set(DBOption.SEALED_RUNS_MAX, sealedRunsMax);
    }

    public int partitionBytes() {
        return (int) get(DBOption.PARTITION_BYTES);
    }

    public int partitionFirst() {
        return (int) get(DBOption.PARTITION_FIRST);
    }

    public int partitionLast() {
        return (int) get(DBOption.PARTITION_LAST);
    }

    public boolean createIfMissing() {
        return get(DBOption.CREATE_IF_MISSING) != 0;
    }

    public boolean sync() {
        return get(DBOption.SYNC) != 0;
    }

    public WalMode walMode() {
        return WalMode.values()[(int) get(DBOption.WAL)];
    }

    public String walDir() {
        return walDir;
    }

    public long largeValueBytes() {
        return get(DBOption.LARGE_VALUE_BYTES);
    }

    public boolean useDirectReads() {
        return get(DBOption.USE_DIRECT_READS) != 0;
    }

    public boolean useDirectIoForFlushAndCompaction() {
        return get(DBOption.USE_DIRECT_IO_FOR_FLUSH_AND_COMPACTION) != 0;
    }

    public long memtableBytes() {
        return get(DBOption.MEMTABLE_BYTES);
    }

    public int blockBytes() {
        return (int) get(DBOption.BLOCK_BYTES);
    }

    public int indexPartitionBytes() {
        return (int) get(DBOption.INDEX_PARTITION_BYTES);
    }

    public int filterBitsPerKey() {
        return (int) get(DBOption.FILTER_BITS_PER_KEY);
    }

    public CompressionType compression() {
        return CompressionType.values()[(int) get(DBOption.COMPRESSION)];
    }

    public CompressionType bottomCompression() {
        return CompressionType.values()[(int) get(DBOption.BOTTOM_COMPRESSION)];
    }

    public long targetFileBytes() {
        return get(DBOption.TARGET_FILE_BYTES);
    }

    public long valueFileBytes() {
        return get(DBOption.VALUE_FILE_BYTES);
    }

    public CompressionType valueCompression() {
        return CompressionType.values()[(int) get(DBOption.VALUE_COMPRESSION)];
    }

    public ValuePolicy valuePolicy() {
        return ValuePolicy.values()[(int) get(DBOption.VALUE_POLICY)];
    }

    public int valueDecisionsMax() {
        return (int) get(DBOption.VALUE_DECISIONS_MAX);
    }

    public int collectionGarbagePercent() {
        return (int) get(DBOption.COLLECTION_GARBAGE_PERCENT);
    }

    public int collectionJobsMax() {
        return (int) get(DBOption.COLLECTION_JOBS_MAX);
    }

    public int collectionUploadCostPercent() {
        return (int) get(DBOption.COLLECTION_UPLOAD_COST_PERCENT);
    }

    public int spaceLowPercent() {
        return (int) get(DBOption.SPACE_LOW_PERCENT);
    }

    public int spaceHighPercent() {
        return (int) get(DBOption.SPACE_HIGH_PERCENT);
    }

    public long spaceLowBytes() {
        return get(DBOption.SPACE_LOW_BYTES);
    }

    public long spaceHighBytes() {
        return get(DBOption.SPACE_HIGH_BYTES);
    }

    public long level1Bytes() {
        return get(DBOption.LEVEL1_BYTES);
    }

    public int levelMultiplier() {
        return (int) get(DBOption.LEVEL_MULTIPLIER);
    }

    public int levelCount() {
        return (int) get(DBOption.LEVEL_COUNT);
    }

    public int l0CompactionTrigger() {
        return (int) get(DBOption.L0_COMPACTION_TRIGGER);
    }

    public int l0StallTrigger() {
        return (int) get(DBOption.L0_STALL_TRIGGER);
    }

    public int sealedRunsMax() {
        return (int) get(DBOption.SEALED_RUNS_MAX);
    }

    /**
     * The volume for the files; the path given to {@link LavaDB#open} is then a directory in the
     * volume. Null: a directory of the machine. The instance keeps the volume mounted; this object
     * does not own it. Default: null.
     */
    public DBOptions setVolume(Volume volume) {
        this.volume = volume;
        return this;
    }

    /** Null for a directory of the machine. */
    public Volume volume() {
        return volume;
    }

    /**
     * Size of the buffer of events for {@link LavaDB#takeEvents}, at most 16 MiB; 0: no events are
     * kept. The buffer is native memory that is allocated when the instance is opened. An event
     * takes little more than 1 KiB at most. A full buffer drops the oldest events. Default: 0.
     */
    public DBOptions setEventBufferBytes(int eventBufferBytes) {
        if (eventBufferBytes < 0) {
            throw new IllegalArgumentException(
                    "eventBufferBytes must not be negative: " + eventBufferBytes);
        }
        this.eventBufferBytes = eventBufferBytes;
        return this;
    }

    public int eventBufferBytes() {
        return eventBufferBytes;
    }

    private DBOptions set(DBOption option, long value) {
        if (value < 0) {
            throw new IllegalArgumentException(
                    option.javaName() + " must not be negative: " + value);
        }
        numbers[option.ordinal()] = value;
        return this;
    }

    private long get(DBOption option) {
        return numbers[option.ordinal()];
    }

    /** The numbers as the native library reads them, in the order of {@link DBOption}. */
    long[] toNative() {
        return numbers.clone();
    }
}
