package org.lavakv;

import java.util.Objects;

/**
 * Options of one instance.
 *
 * <p>Threads: not safe for changes from several threads; {@link LavaDB#open} copies it.
 *
 * <p>Units: bytes, unless the name says otherwise.
 *
 * <p>Errors: setters refuse negative numbers and null; the rest is checked by {@link LavaDB#open}.
 */
public final class DBOptions {

    /**
     * For {@link #setLargeValueBytes}: found for each table, from how many of its values die in
     * memory, and how often scans show them. Begins at 8 KiB, or 32 KiB with {@link
     * WalMode#WAL_SYNC}.
     */
    public static final long AUTOMATIC_LARGE_VALUES = Long.MAX_VALUE;

    private final long[] numbers = DBOption.defaults();
    private String walDir = "";
    private Volume volume;
    private int eventBufferBytes;

    /** Options with the defaults that the setters name. */
    public DBOptions() {}

    /**
     * Leading bytes of every key that come before the table (Flink: the key group), 1 or 2.
     * Default: 1.
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

    /** Whether a directory without an instance is made one. Default: true. */
    public DBOptions setCreateIfMissing(boolean createIfMissing) {
        return set(DBOption.CREATE_IF_MISSING, createIfMissing ? 1 : 0);
    }

    /**
     * Whether files and manifest are synced before they count (local recovery). Off: a power cut
     * may lose the directory, but never make it open wrongly. Default: false.
     */
    public DBOptions setSync(boolean sync) {
        return set(DBOption.SYNC, sync ? 1 : 0);
    }

    /**
     * Whether each write is in a write-ahead log when it returns, and is made again when the
     * instance is opened after a crash; files and manifest are synced then as with {@link
     * #setSync}. An instance that had a log is not opened without. Default: {@link WalMode#NONE}.
     */
    public DBOptions setWalMode(WalMode walMode) {
        return set(DBOption.WAL, Objects.requireNonNull(walMode, "walMode").number());
    }

    /**
     * The directory of the write-ahead log, which all instances of the process share that name it
     * and are in the same volume. Default: empty, "wal" beside the instance's own directory.
     */
    public DBOptions setWalDir(String walDir) {
        this.walDir = Objects.requireNonNull(walDir, "walDir");
        return this;
    }

    /**
     * With a write-ahead log, a value of at least so many bytes, of a table whose values of that
     * size are separated, goes to the instance's value log as it is put, which is its write-ahead
     * record, too, and a flush leaves it there: it is written once. 0: never. Default: {@link
     * #AUTOMATIC_LARGE_VALUES}.
     */
    public DBOptions setLargeValueBytes(long largeValueBytes) {
        return set(DBOption.LARGE_VALUE_BYTES, largeValueBytes);
    }

    /**
     * Whether files are read past the page cache, by users and background work. A file system that
     * refuses it is read through the page cache. Default: false.
     */
    public DBOptions setUseDirectReads(boolean useDirectReads) {
        return set(DBOption.USE_DIRECT_READS, useDirectReads ? 1 : 0);
    }

    /**
     * Whether flushes, compactions and collections write past the page cache; what is refused goes
     * through it. Default: false.
     */
    public DBOptions setUseDirectIoForFlushAndCompaction(boolean useDirectIo) {
        return set(DBOption.USE_DIRECT_IO_FOR_FLUSH_AND_COMPACTION, useDirectIo ? 1 : 0);
    }

    /**
     * The active memtable is sealed at this many bytes; 0: taken from the lease's share. Default:
     * 0.
     */
    public DBOptions setMemtableBytes(long memtableBytes) {
        return set(DBOption.MEMTABLE_BYTES, memtableBytes);
    }

    /** Bytes of a data block before compression. Default: 4096. */
    public DBOptions setBlockBytes(int blockBytes) {
        return set(DBOption.BLOCK_BYTES, blockBytes);
    }

    /** Bytes of a partition of a file's index. Default: 16384. */
    public DBOptions setIndexPartitionBytes(int indexPartitionBytes) {
        return set(DBOption.INDEX_PARTITION_BYTES, indexPartitionBytes);
    }

    /** Bits a key in a file's filter; 0: no filters. Default: 10. */
    public DBOptions setFilterBitsPerKey(int filterBitsPerKey) {
        return set(DBOption.FILTER_BITS_PER_KEY, filterBitsPerKey);
    }

    /** Compression of all levels but the last. Default: LZ4. */
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

    /** Bytes at which compaction starts a new file. Default: 32 MiB. */
    public DBOptions setTargetFileBytes(long targetFileBytes) {
        return set(DBOption.TARGET_FILE_BYTES, targetFileBytes);
    }

    /**
     * Bytes at which a flush, a compaction or a collection starts a new value file. Default: 64
     * MiB.
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

    /** Who writes values anew; forced for comparison. Default: AUTOMATIC. */
    public DBOptions setValuePolicy(ValuePolicy valuePolicy) {
        return set(
                DBOption.VALUE_POLICY, Objects.requireNonNull(valuePolicy, "valuePolicy").number());
    }

    /** How many lines are kept for {@link LavaDB#takeValueDecisions}. Default: none. */
    public DBOptions setValueDecisionsMax(int valueDecisionsMax) {
        return set(DBOption.VALUE_DECISIONS_MAX, valueDecisionsMax);
    }

    /**
     * A value file is collected when about this share of its bytes is garbage, in percent; above
     * 100: never. Default: 25.
     */
    public DBOptions setGcGarbagePercent(int gcGarbagePercent) {
        return set(DBOption.GC_GARBAGE_PERCENT, gcGarbagePercent);
    }

    /**
     * Collections that may run at once when space is short. Default: 0, one less than there are
     * background threads.
     */
    public DBOptions setGcJobsMax(int gcJobsMax) {
        return set(DBOption.GC_JOBS_MAX, gcJobsMax);
    }

    /**
     * What a byte that is written again costs besides reading and writing, in percent of these:
     * with incremental checkpoints it is uploaded. Files that a checkpoint has are then collected
     * at more garbage, and the first level gathers more before it is compacted. Default: 0.
     */
    public DBOptions setGcUploadCostPercent(int gcUploadCostPercent) {
        return set(DBOption.GC_UPLOAD_COST_PERCENT, gcUploadCostPercent);
    }

    /**
     * How much space files may take, in percent of what of it is live, as estimated: from here on
     * writes are slowed. Default: 0, where nine tenths of the garbage are there that the high limit
     * allows.
     */
    public DBOptions setSpaceLowPercent(int spaceLowPercent) {
        return set(DBOption.SPACE_LOW_PERCENT, spaceLowPercent);
    }

    /**
     * From here on writes answer Busy, as long as collections and compactions can free anything;
     * above 100. Default: 0, no such limit.
     */
    public DBOptions setSpaceHighPercent(int spaceHighPercent) {
        return set(DBOption.SPACE_HIGH_PERCENT, spaceHighPercent);
    }

    /**
     * The same in bytes, with files that only snapshots keep: from here on writes are slowed.
     * Default: 0, nine tenths of the high limit.
     */
    public DBOptions setSpaceLowBytes(long spaceLowBytes) {
        return set(DBOption.SPACE_LOW_BYTES, spaceLowBytes);
    }

    /**
     * From here on writes answer Busy, and fail with NoSpace when nothing can be freed; deletes do
     * not. Default: 0, no such limit.
     */
    public DBOptions setSpaceHighBytes(long spaceHighBytes) {
        return set(DBOption.SPACE_HIGH_BYTES, spaceHighBytes);
    }

    /** Bytes of level 1. Default: 128 MiB. */
    public DBOptions setLevel1Bytes(long level1Bytes) {
        return set(DBOption.LEVEL1_BYTES, level1Bytes);
    }

    /** How many times larger than the level above it a level may be. Default: 10. */
    public DBOptions setLevelMultiplier(int levelMultiplier) {
        return set(DBOption.LEVEL_MULTIPLIER, levelMultiplier);
    }

    /** Number of levels, level 0 included. Default: 7. */
    public DBOptions setLevelCount(int levelCount) {
        return set(DBOption.LEVEL_COUNT, levelCount);
    }

    /** Files in level 0 from which it is compacted. Default: 4. */
    public DBOptions setL0CompactionTrigger(int l0CompactionTrigger) {
        return set(DBOption.L0_COMPACTION_TRIGGER, l0CompactionTrigger);
    }

    /** Files in level 0 from which writes wait. Default: 24. */
    public DBOptions setL0StallTrigger(int l0StallTrigger) {
        return set(DBOption.L0_STALL_TRIGGER, l0StallTrigger);
    }

    /** Unflushed runs from which writes wait. Default: 4. */
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

    public int gcGarbagePercent() {
        return (int) get(DBOption.GC_GARBAGE_PERCENT);
    }

    public int gcJobsMax() {
        return (int) get(DBOption.GC_JOBS_MAX);
    }

    public int gcUploadCostPercent() {
        return (int) get(DBOption.GC_UPLOAD_COST_PERCENT);
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
     * Where the files go, the path that {@link LavaDB#open} gets then being a directory in it;
     * null: to a directory of the machine. The instance keeps the volume mounted; this does not own
     * it. Default: null.
     */
    public DBOptions setVolume(Volume volume) {
        this.volume = volume;
        return this;
    }

    /** Null: a directory of the machine. */
    public Volume volume() {
        return volume;
    }

    /**
     * How many bytes of events are kept for {@link LavaDB#takeEvents}, in native memory that is
     * allocated when the instance is opened. An event takes 20 to 100 bytes, and more with a long
     * message. When the bytes are full, the oldest events are dropped. At most 16 MiB. 0: no events
     * are kept. Default: 0.
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
