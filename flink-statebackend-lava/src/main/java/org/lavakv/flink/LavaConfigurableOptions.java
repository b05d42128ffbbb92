// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink;

import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;
import org.apache.flink.configuration.MemorySize;
import org.lavakv.CompressionType;
import org.lavakv.ValuePolicy;

/**
 * Options of the engine: its files, background jobs and limits of space. The defaults are right for
 * most jobs.
 */
public final class LavaConfigurableOptions {

    /** Default minimum size of values in value files. */
    private static final MemorySize VALUE_SEPARATION_DEFAULT = MemorySize.parse("4kb");

    public static final ConfigOption<Integer> BACKGROUND_THREADS =
            ConfigOptions.key(LavaOptions.PREFIX + "background.threads")
                    .intType()
                    .defaultValue(2)
                    .withDescription(
                            "Number of threads for flushes, compactions and collections of value"
                                    + " files, shared by all backends of a TaskManager. The job"
                                    + " that sets the option last decides.");

    public static final ConfigOption<Double> BACKGROUND_CPU =
            ConfigOptions.key(LavaOptions.PREFIX + "background.cpu")
                    .doubleType()
                    .noDefaultValue()
                    .withDescription(
                            "CPU limit for background jobs, in cores, for example 0.5, averaged"
                                    + " over about a second. All backends of a TaskManager share"
                                    + " the limit. The job that sets the option last decides."
                                    + " Flushes ignore the limit; compactions and collections"
                                    + " make up for the CPU time of flushes. Without this option"
                                    + " only background.threads limits background jobs.");

    public static final ConfigOption<MemorySize> MEMTABLE_SIZE =
            ConfigOptions.key(LavaOptions.PREFIX + "memtable.size")
                    .memoryType()
                    .noDefaultValue()
                    .withDescription(
                            "Size at which a memtable is sealed and flushed. Without this option"
                                    + " the engine derives the size from its memory.");

    public static final ConfigOption<MemorySize> BLOCK_SIZE =
            ConfigOptions.key(LavaOptions.PREFIX + "block.size")
                    .memoryType()
                    .defaultValue(MemorySize.ofMebiBytes(4).divide(1024))
                    .withDescription("Size of a data block before compression.");

    public static final ConfigOption<CompressionType> COMPRESSION =
            ConfigOptions.key(LavaOptions.PREFIX + "compression")
                    .enumType(CompressionType.class)
                    .defaultValue(CompressionType.LZ4)
                    .withDescription(
                            "Compression of blocks above the last level. Values in value files"
                                    + " are compressed in the same way unless"
                                    + " value-separation.compression is set.");

    public static final ConfigOption<CompressionType> BOTTOM_COMPRESSION =
            ConfigOptions.key(LavaOptions.PREFIX + "bottom-compression")
                    .enumType(CompressionType.class)
                    .defaultValue(CompressionType.LZ4)
                    .withDescription("Compression of blocks of the last level.");

    public static final ConfigOption<MemorySize> TARGET_FILE_SIZE =
            ConfigOptions.key(LavaOptions.PREFIX + "file.target-size")
                    .memoryType()
                    .defaultValue(MemorySize.ofMebiBytes(32))
                    .withDescription("Size at which a compaction starts a new file.");

    public static final ConfigOption<MemorySize> LEVEL_BASE_SIZE =
            ConfigOptions.key(LavaOptions.PREFIX + "level.base-size")
                    .memoryType()
                    .defaultValue(MemorySize.ofMebiBytes(128))
                    .withDescription(
                            "Target size of level 1. The target size of each further level is"
                                    + " ten times that of the level above.");

    public static final ConfigOption<Integer> FILTER_BITS_PER_KEY =
            ConfigOptions.key(LavaOptions.PREFIX + "filter.bits-per-key")
                    .intType()
                    .defaultValue(10)
                    .withDescription("Bits for each key in a file's filter; 0: no filters.");

    public static final ConfigOption<MemorySize> VALUE_SEPARATION_THRESHOLD =
            ConfigOptions.key(LavaOptions.PREFIX + "value-separation.threshold")
                    .memoryType()
                    .defaultValue(VALUE_SEPARATION_DEFAULT)
                    .withDescription(
                            "Minimum size of values, map values and list additions that are"
                                    + " stored in value files; 0: none are stored there."
                                    + " Compactions need not rewrite value files. Timers, and"
                                    + " lists whose elements expire, are never stored there."
                                    + " Values too large for a memtable always are stored in"
                                    + " value files.");

    public static final ConfigOption<Boolean> VALUE_SEPARATION_AUTOMATIC =
            ConfigOptions.key(LavaOptions.PREFIX + "value-separation.automatic")
                    .booleanType()
                    .noDefaultValue()
                    .withDescription(
                            "Whether Lava chooses the minimum size of values in value files for"
                                    + " each state, instead of value-separation.threshold. The"
                                    + " choice depends on the size of the instance and on the"
                                    + " frequency of iterations over the state. Without this"
                                    + " option, Lava chooses only under the lava changelog, and"
                                    + " only if value-separation.threshold is not set.");

    public static final ConfigOption<CompressionType> VALUE_SEPARATION_COMPRESSION =
            ConfigOptions.key(LavaOptions.PREFIX + "value-separation.compression")
                    .enumType(CompressionType.class)
                    .noDefaultValue()
                    .withDescription(
                            "Compression of each value in a value file. Without this option the"
                                    + " compression of blocks applies (option compression). With"
                                    + " ZSTD, a file gets a dictionary of the content that its"
                                    + " values share, if its first values show that a dictionary"
                                    + " pays off.");

    public static final ConfigOption<MemorySize> VALUE_FILE_SIZE =
            ConfigOptions.key(LavaOptions.PREFIX + "value-file.size")
                    .memoryType()
                    .defaultValue(MemorySize.ofMebiBytes(64))
                    .withDescription("Size at which a new value file is started.");

    public static final ConfigOption<ValuePolicy> VALUE_POLICY =
            ConfigOptions.key(LavaOptions.PREFIX + "value-separation.policy")
                    .enumType(ValuePolicy.class)
                    .defaultValue(ValuePolicy.AUTOMATIC)
                    .withDescription(
                            "Jobs that rewrite values in value files, to reclaim garbage and to"
                                    + " keep values in order. AUTOMATIC: the cheaper job in each"
                                    + " case. COLLECT: only collections. MERGE: only"
                                    + " compactions, for the keys that they move down. GREEDY:"
                                    + " only collections, of the file with most garbage at any"
                                    + " cost. The last three exist for comparison with"
                                    + " AUTOMATIC.");

    public static final ConfigOption<Boolean> VALUE_DECISIONS_LOGGED =
            ConfigOptions.key(LavaOptions.PREFIX + "value-separation.log-decisions")
                    .booleanType()
                    .defaultValue(false)
                    .withDescription(
                            "Whether the reasons for which compactions rewrote or kept values in"
                                    + " value files are logged, together with the host's reports"
                                    + " (host.report-interval). The log has a line for each file"
                                    + " and compaction, with names and sizes but without keys.");

    public static final ConfigOption<Integer> COLLECTION_GARBAGE_THRESHOLD =
            ConfigOptions.key(LavaOptions.PREFIX + "collection.garbage-threshold")
                    .intType()
                    .defaultValue(25)
                    .withFallbackKeys(LavaOptions.PREFIX + "gc.garbage-threshold")
                    .withDescription(
                            "Garbage, in percent of a value file's bytes, at which the file is"
                                    + " collected (approximate). A collection moves the"
                                    + " remaining values to another file.");

    public static final ConfigOption<Integer> COLLECTION_UPLOAD_COST =
            ConfigOptions.key(LavaOptions.PREFIX + "collection.upload-cost")
                    .intType()
                    .defaultValue(300)
                    .withFallbackKeys(LavaOptions.PREFIX + "gc.upload-cost")
                    .withDescription(
                            "Cost of uploading a rewritten byte in the next incremental"
                                    + " checkpoint, in percent of the cost of rewriting the"
                                    + " byte. After the first checkpoint, files in a checkpoint"
                                    + " are collected at more garbage (by default 57 % instead"
                                    + " of 25 %), and level 0 is compacted at more files. With"
                                    + " 0, and with full checkpoints, uploads are not counted.");

    public static final ConfigOption<Double> SPACE_LIMIT_RATIO =
            ConfigOptions.key(LavaOptions.PREFIX + "space.limit-ratio")
                    .doubleType()
                    .noDefaultValue()
                    .withDescription(
                            "Maximum size of an instance's files as a multiple of its live data,"
                                    + " for example 1.5. The live data is counted as at least"
                                    + " 256 mb. Writes are slowed above space.soft-limit-ratio."
                                    + " At the limit, writes wait as long as garbage can be"
                                    + " freed. Without this option there is no such limit.");

    public static final ConfigOption<Double> SPACE_SOFT_LIMIT_RATIO =
            ConfigOptions.key(LavaOptions.PREFIX + "space.soft-limit-ratio")
                    .doubleType()
                    .noDefaultValue()
                    .withDescription(
                            "Ratio at which writes are slowed. Without this option, writes are"
                                    + " slowed at 90 % of the garbage that space.limit-ratio"
                                    + " allows (1.45 for 1.5).");

    public static final ConfigOption<MemorySize> SPACE_LIMIT =
            ConfigOptions.key(LavaOptions.PREFIX + "space.limit")
                    .memoryType()
                    .noDefaultValue()
                    .withDescription(
                            "Maximum size of an instance's files, including files that only"
                                    + " checkpoints keep. At the limit, writes wait for space."
                                    + " If checkpoints keep the space for half a minute, the"
                                    + " oldest unfinished checkpoint fails. When nothing can be"
                                    + " freed, the job fails with an error that gives the limit"
                                    + " in bytes; deletes remain possible. Without this option"
                                    + " there is no such limit.");

    public static final ConfigOption<MemorySize> SPACE_SOFT_LIMIT =
            ConfigOptions.key(LavaOptions.PREFIX + "space.soft-limit")
                    .memoryType()
                    .noDefaultValue()
                    .withDescription(
                            "Size of an instance's files at which writes are slowed. Without"
                                    + " this option, writes are slowed at 90 % of space.limit.");

    public static final ConfigOption<MemorySize> SPACE_PROCESS_LIMIT =
            ConfigOptions.key(LavaOptions.PREFIX + "space.process-limit")
                    .memoryType()
                    .noDefaultValue()
                    .withDescription(
                            "Maximum size of the files of all instances of a TaskManager"
                                    + " together, in addition to the limit of each instance"
                                    + " (space.limit). The job that sets the option last"
                                    + " decides. From 75 % of the limit on, the instances with"
                                    + " most garbage collect. From 90 % on, all writes are"
                                    + " slowed. At the limit, writes behave as at space.limit."
                                    + " Without this option there is no such limit.");

    public static final ConfigOption<Boolean> DIRECT_IO =
            ConfigOptions.key(LavaOptions.PREFIX + "direct-io")
                    .booleanType()
                    .noDefaultValue()
                    .withDescription(
                            "Whether the engine's files, or the volume that contains them, are"
                                    + " read and written with direct I/O, without the operating"
                                    + " system's page cache. State then takes no more memory"
                                    + " than configured, but only the block cache saves reads"
                                    + " from the disk. If the file system refuses direct I/O,"
                                    + " the page cache is used. Without this option: true with"
                                    + " LAVAFS, false with POSIX.");

    private LavaConfigurableOptions() {}
}
