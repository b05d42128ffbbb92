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

    private int partitionBytes = 1;
    private int partitionFirst;
    private int partitionLast = 0xff;
    private boolean createIfMissing = true;
    private boolean sync;
    private WalMode walMode = WalMode.NONE;
    private String walDir = "";
    private long largeValueBytes = AUTOMATIC_LARGE_VALUES;
    private boolean useDirectReads;
    private boolean useDirectIoForFlushAndCompaction;
    private long memtableBytes;
    private int blockBytes = 4096;
    private int indexPartitionBytes = 16384;
    private int filterBitsPerKey = 10;
    private CompressionType compression = CompressionType.LZ4;
    private CompressionType bottomCompression = CompressionType.LZ4;
    private long targetFileBytes = 32L << 20;
    private long valueFileBytes = 64L << 20;
    private CompressionType valueCompression = CompressionType.LZ4;
    private ValuePolicy valuePolicy = ValuePolicy.AUTOMATIC;
    private int valueDecisionsMax;
    private int gcGarbagePercent = 25;
    private int gcJobsMax;
    private int gcUploadCostPercent;
    private int spaceLowPercent;
    private int spaceHighPercent;
    private long spaceLowBytes;
    private long spaceHighBytes;
    private long level1Bytes = 128L << 20;
    private int levelMultiplier = 10;
    private int levelCount = 7;
    private int l0CompactionTrigger = 4;
    private int l0StallTrigger = 24;
    private int sealedRunsMax = 4;
    private Volume volume;

    /** Options with the defaults that the setters name. */
    public DBOptions() {}

    /**
     * Leading bytes of every key that come before the table (Flink: the key group), 1 or 2.
     * Default: 1.
     */
    public DBOptions setPartitionBytes(int partitionBytes) {
        this.partitionBytes = (int) notNegative(partitionBytes, "partitionBytes");
        return this;
    }

    /** The first partition that the instance may hold, as a big-endian number. Default: 0. */
    public DBOptions setPartitionFirst(int partitionFirst) {
        this.partitionFirst = (int) notNegative(partitionFirst, "partitionFirst");
        return this;
    }

    /** The last partition that the instance may hold, inclusive. Default: 255. */
    public DBOptions setPartitionLast(int partitionLast) {
        this.partitionLast = (int) notNegative(partitionLast, "partitionLast");
        return this;
    }

    /** Whether a directory without an instance is made one. Default: true. */
    public DBOptions setCreateIfMissing(boolean createIfMissing) {
        this.createIfMissing = createIfMissing;
        return this;
    }

    /**
     * Whether files and manifest are synced before they count (local recovery). Off: a power cut
     * may lose the directory, but never make it open wrongly. Default: false.
     */
    public DBOptions setSync(boolean sync) {
        this.sync = sync;
        return this;
    }

    /**
     * Whether each write is in a write-ahead log when it returns, and is made again when the
     * instance is opened after a crash; files and manifest are synced then as with {@link
     * #setSync}. An instance that had a log is not opened without. Default: {@link WalMode#NONE}.
     */
    public DBOptions setWalMode(WalMode walMode) {
        this.walMode = Objects.requireNonNull(walMode, "walMode");
        return this;
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
        this.largeValueBytes = notNegative(largeValueBytes, "largeValueBytes");
        return this;
    }

    /**
     * Whether files are read past the page cache, by users and background work. A file system that
     * refuses it is read through the page cache. Default: false.
     */
    public DBOptions setUseDirectReads(boolean useDirectReads) {
        this.useDirectReads = useDirectReads;
        return this;
    }

    /**
     * Whether flushes, compactions and collections write past the page cache; what is refused goes
     * through it. Default: false.
     */
    public DBOptions setUseDirectIoForFlushAndCompaction(boolean useDirectIo) {
        this.useDirectIoForFlushAndCompaction = useDirectIo;
        return this;
    }

    /**
     * The active memtable is sealed at this many bytes; 0: taken from the lease's share. Default:
     * 0.
     */
    public DBOptions setMemtableBytes(long memtableBytes) {
        this.memtableBytes = notNegative(memtableBytes, "memtableBytes");
        return this;
    }

    /** Bytes of a data block before compression. Default: 4096. */
    public DBOptions setBlockBytes(int blockBytes) {
        this.blockBytes = (int) notNegative(blockBytes, "blockBytes");
        return this;
    }

    /** Bytes of a partition of a file's index. Default: 16384. */
    public DBOptions setIndexPartitionBytes(int indexPartitionBytes) {
        this.indexPartitionBytes = (int) notNegative(indexPartitionBytes, "indexPartitionBytes");
        return this;
    }

    /** Bits a key in a file's filter; 0: no filters. Default: 10. */
    public DBOptions setFilterBitsPerKey(int filterBitsPerKey) {
        this.filterBitsPerKey = (int) notNegative(filterBitsPerKey, "filterBitsPerKey");
        return this;
    }

    /** Compression of all levels but the last. Default: LZ4. */
    public DBOptions setCompression(CompressionType compression) {
        this.compression = Objects.requireNonNull(compression, "compression");
        return this;
    }

    /** Compression of the last level. Default: LZ4. */
    public DBOptions setBottomCompression(CompressionType bottomCompression) {
        this.bottomCompression = Objects.requireNonNull(bottomCompression, "bottomCompression");
        return this;
    }

    /** Bytes at which compaction starts a new file. Default: 32 MiB. */
    public DBOptions setTargetFileBytes(long targetFileBytes) {
        this.targetFileBytes = notNegative(targetFileBytes, "targetFileBytes");
        return this;
    }

    /**
     * Bytes at which a flush, a compaction or a collection starts a new value file. Default: 64
     * MiB.
     */
    public DBOptions setValueFileBytes(long valueFileBytes) {
        this.valueFileBytes = notNegative(valueFileBytes, "valueFileBytes");
        return this;
    }

    /** Compression of each value in a value file. Default: LZ4. */
    public DBOptions setValueCompression(CompressionType valueCompression) {
        this.valueCompression = Objects.requireNonNull(valueCompression, "valueCompression");
        return this;
    }

    /** Who writes values anew; forced for comparison. Default: AUTOMATIC. */
    public DBOptions setValuePolicy(ValuePolicy valuePolicy) {
        this.valuePolicy = Objects.requireNonNull(valuePolicy, "valuePolicy");
        return this;
    }

    /** How many lines are kept for {@link LavaDB#takeValueDecisions}. Default: none. */
    public DBOptions setValueDecisionsMax(int valueDecisionsMax) {
        this.valueDecisionsMax = (int) notNegative(valueDecisionsMax, "valueDecisionsMax");
        return this;
    }

    /**
     * A value file is collected when about this share of its bytes is garbage, in percent; above
     * 100: never. Default: 25.
     */
    public DBOptions setGcGarbagePercent(int gcGarbagePercent) {
        this.gcGarbagePercent = (int) notNegative(gcGarbagePercent, "gcGarbagePercent");
        return this;
    }

    /**
     * Collections that may run at once when space is short. Default: 0, one less than there are
     * background threads.
     */
    public DBOptions setGcJobsMax(int gcJobsMax) {
        this.gcJobsMax = (int) notNegative(gcJobsMax, "gcJobsMax");
        return this;
    }

    /**
     * What a byte that is written again costs besides reading and writing, in percent of these:
     * with incremental checkpoints it is uploaded. Files that a checkpoint has are then collected
     * at more garbage, and the first level gathers more before it is compacted. Default: 0.
     */
    public DBOptions setGcUploadCostPercent(int gcUploadCostPercent) {
        this.gcUploadCostPercent = (int) notNegative(gcUploadCostPercent, "gcUploadCostPercent");
        return this;
    }

    /**
     * How much space files may take, in percent of what of it is live, as estimated: from here on
     * writes are slowed. Default: 0, where nine tenths of the garbage are there that the high limit
     * allows.
     */
    public DBOptions setSpaceLowPercent(int spaceLowPercent) {
        this.spaceLowPercent = (int) notNegative(spaceLowPercent, "spaceLowPercent");
        return this;
    }

    /**
     * From here on writes answer Busy, as long as collections and compactions can free anything;
     * above 100. Default: 0, no such limit.
     */
    public DBOptions setSpaceHighPercent(int spaceHighPercent) {
        this.spaceHighPercent = (int) notNegative(spaceHighPercent, "spaceHighPercent");
        return this;
    }

    /**
     * The same in bytes, with files that only snapshots keep: from here on writes are slowed.
     * Default: 0, nine tenths of the high limit.
     */
    public DBOptions setSpaceLowBytes(long spaceLowBytes) {
        this.spaceLowBytes = notNegative(spaceLowBytes, "spaceLowBytes");
        return this;
    }

    /**
     * From here on writes answer Busy, and fail with NoSpace when nothing can be freed; deletes do
     * not. Default: 0, no such limit.
     */
    public DBOptions setSpaceHighBytes(long spaceHighBytes) {
        this.spaceHighBytes = notNegative(spaceHighBytes, "spaceHighBytes");
        return this;
    }

    /** Bytes of level 1. Default: 128 MiB. */
    public DBOptions setLevel1Bytes(long level1Bytes) {
        this.level1Bytes = notNegative(level1Bytes, "level1Bytes");
        return this;
    }

    /** How many times larger than the level above it a level may be. Default: 10. */
    public DBOptions setLevelMultiplier(int levelMultiplier) {
        this.levelMultiplier = (int) notNegative(levelMultiplier, "levelMultiplier");
        return this;
    }

    /** Number of levels, level 0 included. Default: 7. */
    public DBOptions setLevelCount(int levelCount) {
        this.levelCount = (int) notNegative(levelCount, "levelCount");
        return this;
    }

    /** Files in level 0 from which it is compacted. Default: 4. */
    public DBOptions setL0CompactionTrigger(int l0CompactionTrigger) {
        this.l0CompactionTrigger = (int) notNegative(l0CompactionTrigger, "l0CompactionTrigger");
        return this;
    }

    /** Files in level 0 from which writes wait. Default: 24. */
    public DBOptions setL0StallTrigger(int l0StallTrigger) {
        this.l0StallTrigger = (int) notNegative(l0StallTrigger, "l0StallTrigger");
        return this;
    }

    /** Unflushed runs from which writes wait. Default: 4. */
    public DBOptions setSealedRunsMax(int sealedRunsMax) {
        this.sealedRunsMax = (int) notNegative(sealedRunsMax, "sealedRunsMax");
        return this;
    }

    public int partitionBytes() {
        return partitionBytes;
    }

    public int partitionFirst() {
        return partitionFirst;
    }

    public int partitionLast() {
        return partitionLast;
    }

    public boolean createIfMissing() {
        return createIfMissing;
    }

    public boolean sync() {
        return sync;
    }

    public WalMode walMode() {
        return walMode;
    }

    public String walDir() {
        return walDir;
    }

    public long largeValueBytes() {
        return largeValueBytes;
    }

    public boolean useDirectReads() {
        return useDirectReads;
    }

    public boolean useDirectIoForFlushAndCompaction() {
        return useDirectIoForFlushAndCompaction;
    }

    public long memtableBytes() {
        return memtableBytes;
    }

    public int blockBytes() {
        return blockBytes;
    }

    public int indexPartitionBytes() {
        return indexPartitionBytes;
    }

    public int filterBitsPerKey() {
        return filterBitsPerKey;
    }

    public CompressionType compression() {
        return compression;
    }

    public CompressionType bottomCompression() {
        return bottomCompression;
    }

    public long targetFileBytes() {
        return targetFileBytes;
    }

    public long valueFileBytes() {
        return valueFileBytes;
    }

    public CompressionType valueCompression() {
        return valueCompression;
    }

    public ValuePolicy valuePolicy() {
        return valuePolicy;
    }

    public int valueDecisionsMax() {
        return valueDecisionsMax;
    }

    public int gcGarbagePercent() {
        return gcGarbagePercent;
    }

    public int gcJobsMax() {
        return gcJobsMax;
    }

    public int gcUploadCostPercent() {
        return gcUploadCostPercent;
    }

    public int spaceLowPercent() {
        return spaceLowPercent;
    }

    public int spaceHighPercent() {
        return spaceHighPercent;
    }

    public long spaceLowBytes() {
        return spaceLowBytes;
    }

    public long spaceHighBytes() {
        return spaceHighBytes;
    }

    public long level1Bytes() {
        return level1Bytes;
    }

    public int levelMultiplier() {
        return levelMultiplier;
    }

    public int levelCount() {
        return levelCount;
    }

    public int l0CompactionTrigger() {
        return l0CompactionTrigger;
    }

    public int l0StallTrigger() {
        return l0StallTrigger;
    }

    public int sealedRunsMax() {
        return sealedRunsMax;
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

    /** The numbers as the native library reads them, by position. */
    long[] toNative() {
        return new long[] {
            partitionBytes,
            partitionFirst,
            partitionLast,
            createIfMissing ? 1 : 0,
            sync ? 1 : 0,
            walMode.number(),
            largeValueBytes,
            useDirectReads ? 1 : 0,
            useDirectIoForFlushAndCompaction ? 1 : 0,
            memtableBytes,
            blockBytes,
            indexPartitionBytes,
            filterBitsPerKey,
            compression.number(),
            bottomCompression.number(),
            targetFileBytes,
            valueFileBytes,
            valueCompression.number(),
            valuePolicy.number(),
            valueDecisionsMax,
            gcGarbagePercent,
            gcJobsMax,
            gcUploadCostPercent,
            spaceLowPercent,
            spaceHighPercent,
            spaceLowBytes,
            spaceHighBytes,
            level1Bytes,
            levelMultiplier,
            levelCount,
            l0CompactionTrigger,
            l0StallTrigger,
            sealedRunsMax,
        };
    }

    private static long notNegative(long value, String name) {
        if (value < 0) {
            throw new IllegalArgumentException(name + " must not be negative: " + value);
        }
        return value;
    }
}
