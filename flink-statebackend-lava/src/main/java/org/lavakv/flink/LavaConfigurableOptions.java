package org.lavakv.flink;

import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;
import org.apache.flink.configuration.MemorySize;
import org.lavakv.CompressionType;
import org.lavakv.ValuePolicy;

/** How the engine lays out its files. The defaults are right for most jobs. */
public final class LavaConfigurableOptions {

    /** Values of at least this size go to value files unless configured otherwise. */
    private static final MemorySize VALUE_SEPARATION_DEFAULT = MemorySize.parse("4kb");

    public static final ConfigOption<Integer> BACKGROUND_THREADS =
            ConfigOptions.key(LavaOptions.PREFIX + "background.threads")
                    .intType()
                    .defaultValue(2)
                    .withDescription(
                            "How many threads flush, compact and collect garbage, for all"
                                    + " backends of a TaskManager together; the job that sets it last"
                                    + " decides.");

    public static final ConfigOption<Double> BACKGROUND_CPU =
            ConfigOptions.key(LavaOptions.PREFIX + "background.cpu")
                    .doubleType()
                    .noDefaultValue()
                    .withDescription(
                            "How many cores' time flushes, compactions and garbage collections may"
                                    + " use, as 0.5, for all backends of a TaskManager together,"
                                    + " averaged over about a second; the job that sets it last"
                                    + " decides. Flushes never wait for it: what they use, the others"
                                    + " make up for. Without it only background.threads limits them.");

    public static final ConfigOption<MemorySize> MEMTABLE_SIZE =
            ConfigOptions.key(LavaOptions.PREFIX + "memtable.size")
                    .memoryType()
                    .noDefaultValue()
                    .withDescription(
                            "At which size a memtable is sealed and flushed. Without it, the"
                                    + " engine chooses by the memory it has.");

    public static final ConfigOption<MemorySize> BLOCK_SIZE =
            ConfigOptions.key(LavaOptions.PREFIX + "block.size")
                    .memoryType()
                    .defaultValue(MemorySize.ofMebiBytes(4).divide(1024))
                    .withDescription("Bytes of a data block before compression.");

    public static final ConfigOption<CompressionType> COMPRESSION =
            ConfigOptions.key(LavaOptions.PREFIX + "compression")
                    .enumType(CompressionType.class)
                    .defaultValue(CompressionType.LZ4)
                    .withDescription(
                            "How blocks are compressed above the last level, and, unless"
                                    + " value-separation.compression says otherwise, each value in"
                                    + " a value file.");

    public static final ConfigOption<CompressionType> BOTTOM_COMPRESSION =
            ConfigOptions.key(LavaOptions.PREFIX + "bottom-compression")
                    .enumType(CompressionType.class)
                    .defaultValue(CompressionType.LZ4)
                    .withDescription("How blocks of the last level are compressed.");

    public static final ConfigOption<MemorySize> TARGET_FILE_SIZE =
            ConfigOptions.key(LavaOptions.PREFIX + "file.target-size")
                    .memoryType()
                    .defaultValue(MemorySize.ofMebiBytes(32))
                    .withDescription("At which size compaction begins another file.");

    public static final ConfigOption<MemorySize> LEVEL_BASE_SIZE =
            ConfigOptions.key(LavaOptions.PREFIX + "level.base-size")
                    .memoryType()
                    .defaultValue(MemorySize.ofMebiBytes(128))
                    .withDescription("Bytes of the first level; each further level has ten times.");

    public static final ConfigOption<Integer> FILTER_BITS_PER_KEY =
            ConfigOptions.key(LavaOptions.PREFIX + "filter.bits-per-key")
                    .intType()
                    .defaultValue(10)
                    .withDescription("Bits that a file's filter has for each key; 0: no filters.");

    public static final ConfigOption<MemorySize> VALUE_SEPARATION_THRESHOLD =
            ConfigOptions.key(LavaOptions.PREFIX + "value-separation.threshold")
                    .memoryType()
                    .defaultValue(VALUE_SEPARATION_DEFAULT)
                    .withDescription(
                            "From which size on values, values of map entries, and what is added"
                                    + " to a list, go to value files, which compactions leave"
                                    + " alone; 0: never. Timers, and lists whose elements expire,"
                                    + " never do.");

    public static final ConfigOption<Boolean> VALUE_SEPARATION_AUTOMATIC =
            ConfigOptions.key(LavaOptions.PREFIX + "value-separation.automatic")
                    .booleanType()
                    .noDefaultValue()
                    .withDescription(
                            "Finds for each state from which size on values go to value files, by"
                                    + " the size of the instance and how often the state is"
                                    + " iterated, instead of value-separation.threshold. Without"
                                    + " it, it does so under the lava changelog, unless"
                                    + " value-separation.threshold is set.");

    public static final ConfigOption<CompressionType> VALUE_SEPARATION_COMPRESSION =
            ConfigOptions.key(LavaOptions.PREFIX + "value-separation.compression")
                    .enumType(CompressionType.class)
                    .noDefaultValue()
                    .withDescription(
                            "How each value in a value file is compressed; without it, as"
                                    + " compression says. With ZSTD, a file whose first values"
                                    + " show that it pays has a dictionary of what its values have"
                                    + " in common.");

    public static final ConfigOption<MemorySize> VALUE_FILE_SIZE =
            ConfigOptions.key(LavaOptions.PREFIX + "value-file.size")
                    .memoryType()
                    .defaultValue(MemorySize.ofMebiBytes(64))
                    .withDescription("At which size another value file begins.");

    public static final ConfigOption<ValuePolicy> VALUE_POLICY =
            ConfigOptions.key(LavaOptions.PREFIX + "value-separation.policy")
                    .enumType(ValuePolicy.class)
                    .defaultValue(ValuePolicy.AUTOMATIC)
                    .withDescription(
                            "Who writes values in value files anew, to give garbage back and to"
                                    + " keep them in order: AUTOMATIC, what costs less each time;"
                                    + " COLLECT, a collector alone; MERGE, compactions alone, with"
                                    + " the keys that they move down; GREEDY, a collector that"
                                    + " takes the file with most garbage, whatever it costs"
                                    + " besides. The others are there to be compared with"
                                    + " AUTOMATIC.");

    public static final ConfigOption<Boolean> VALUE_DECISIONS_LOGGED =
            ConfigOptions.key(LavaOptions.PREFIX + "value-separation.log-decisions")
                    .booleanType()
                    .defaultValue(false)
                    .withDescription(
                            "Logs, with the host's reports (host.report-interval), why compactions"
                                    + " wrote values in value files anew or left them: a line for"
                                    + " each file and compaction, with names and sizes, no keys.");

    public static final ConfigOption<Integer> COLLECTION_GARBAGE_THRESHOLD =
            ConfigOptions.key(LavaOptions.PREFIX + "collection.garbage-threshold")
                    .intType()
                    .defaultValue(25)
                    .withFallbackKeys(LavaOptions.PREFIX + "gc.garbage-threshold")
                    .withDescription(
                            "Which share of a value file, in percent, is garbage, about, when what"
                                    + " is left of it is moved to another file.");

    public static final ConfigOption<Integer> COLLECTION_UPLOAD_COST =
            ConfigOptions.key(LavaOptions.PREFIX + "collection.upload-cost")
                    .intType()
                    .defaultValue(300)
                    .withFallbackKeys(LavaOptions.PREFIX + "gc.upload-cost")
                    .withDescription(
                            "What it costs that the next incremental checkpoint uploads what is"
                                    + " written again, in percent of writing it. Once there was a"
                                    + " checkpoint, files that it has wait for more garbage before"
                                    + " they are collected (57 % instead of 25), and compactions for"
                                    + " more files of the first level. 0, or full checkpoints:"
                                    + " nothing.");

    public static final ConfigOption<Double> SPACE_LIMIT_RATIO =
            ConfigOptions.key(LavaOptions.PREFIX + "space.limit-ratio")
                    .doubleType()
                    .noDefaultValue()
                    .withDescription(
                            "How many times its live data, from 256 mb on, an instance's files may"
                                    + " take, as 1.5. Writes are slowed from space.soft-limit-ratio"
                                    + " on, and wait at the limit, while garbage can be freed."
                                    + " Without it there is no such limit.");

    public static final ConfigOption<Double> SPACE_SOFT_LIMIT_RATIO =
            ConfigOptions.key(LavaOptions.PREFIX + "space.soft-limit-ratio")
                    .doubleType()
                    .noDefaultValue()
                    .withDescription(
                            "From which ratio on writes are slowed. Without it, where nine tenths"
                                    + " of the garbage are there that space.limit-ratio allows:"
                                    + " 1.45 at 1.5.");

    public static final ConfigOption<MemorySize> SPACE_LIMIT =
            ConfigOptions.key(LavaOptions.PREFIX + "space.limit")
                    .memoryType()
                    .noDefaultValue()
                    .withDescription(
                            "How many bytes an instance's files may take, those that only"
                                    + " checkpoints keep included: for those writes wait half a"
                                    + " minute, then the oldest unfinished checkpoint fails. When"
                                    + " nothing can be freed any more the job fails with an error"
                                    + " that says so; deletes still go through. Without it there"
                                    + " is no such limit.");

    public static final ConfigOption<MemorySize> SPACE_SOFT_LIMIT =
            ConfigOptions.key(LavaOptions.PREFIX + "space.soft-limit")
                    .memoryType()
                    .noDefaultValue()
                    .withDescription(
                            "From how many bytes on writes are slowed. Without it, at nine tenths"
                                    + " of space.limit.");

    public static final ConfigOption<MemorySize> SPACE_PROCESS_LIMIT =
            ConfigOptions.key(LavaOptions.PREFIX + "space.process-limit")
                    .memoryType()
                    .noDefaultValue()
                    .withDescription(
                            "How many bytes the files of all instances of a TaskManager may take"
                                    + " together, beside what space.limit allows each; the job that"
                                    + " sets it last decides. From nine tenths of it on all writes"
                                    + " are slowed, and the instances with most garbage collect"
                                    + " first. Full, it is as space.limit is. Without it there is"
                                    + " no such limit.");

    public static final ConfigOption<Boolean> DIRECT_IO =
            ConfigOptions.key(LavaOptions.PREFIX + "direct-io")
                    .booleanType()
                    .noDefaultValue()
                    .withDescription(
                            "Whether the engine's files, or the volume that has them, are read and"
                                    + " written past the operating system's page cache, so that"
                                    + " state takes no more memory than it was given. Reads then"
                                    + " depend on the block cache alone. Where the file system"
                                    + " refuses it, the page cache is used. Without it, true with"
                                    + " LAVAFS and false with POSIX.");

    private LavaConfigurableOptions() {}
}
