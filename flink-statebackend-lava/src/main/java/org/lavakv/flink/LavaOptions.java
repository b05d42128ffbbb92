package org.lavakv.flink;

import java.time.Duration;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;
import org.apache.flink.configuration.MemorySize;

/** Options for Lava's files, memory and integration with Flink. */
public final class LavaOptions {

    /** Prefix of all keys. */
    static final String PREFIX = "state.backend.lava.";

    /** Where the engine's files are stored. */
    public enum FileSystemType {
        /** In ordinary directories, each as a file of its own. */
        POSIX,
        /**
         * In volumes: one large file for all backends of a TaskManager that use the same directory.
         */
        LAVAFS
    }

    /** Where timers are stored. */
    public enum TimerService {
        /** In the engine, like other state. */
        LAVA,
        /** On the Java heap; each checkpoint then writes all timers. */
        HEAP
    }

    public static final ConfigOption<String> LOCAL_DIRECTORIES =
            ConfigOptions.key(PREFIX + "localdir")
                    .stringType()
                    .noDefaultValue()
                    .withDescription(
                            "Absolute local directories for the engine's files, separated by"
                                    + " commas; backends take turns. Without it, the"
                                    + " TaskManager's working directory.");

    public static final ConfigOption<FileSystemType> FILE_SYSTEM =
            ConfigOptions.key(PREFIX + "filesystem")
                    .enumType(FileSystemType.class)
                    .defaultValue(FileSystemType.POSIX)
                    .withDescription(
                            "Where the engine's files are: POSIX keeps each in a directory of its"
                                    + " backend, LAVAFS all of a TaskManager in one large file, a"
                                    + " volume, in each directory of localdir. Without localdir"
                                    + " volumes are where local recovery has its files, or else in"
                                    + " the TaskManager's working directory.");

    public static final ConfigOption<MemorySize> FILE_SYSTEM_CAPACITY =
            ConfigOptions.key(PREFIX + "filesystem-capacity")
                    .memoryType()
                    .noDefaultValue()
                    .withDescription(
                            "How large a volume of LAVAFS may grow, at least 32 MiB; the job that"
                                    + " opens it first decides. It should be at least twice the"
                                    + " live state of all instances in the volume, plus 64 MiB."
                                    + " Writes are slowed, and compactions and collections free"
                                    + " space, before a volume is full; writes to a full one fail."
                                    + " Without it, the size of the disk.");

    public static final ConfigOption<String> LIBRARY_DIRECTORY =
            ConfigOptions.key(PREFIX + "library.dir")
                    .stringType()
                    .noDefaultValue()
                    .withDescription(
                            "Absolute directory that the native library is copied to and loaded"
                                    + " from; it must not be mounted noexec. Without it, the"
                                    + " TaskManager's working directory.");

    public static final ConfigOption<TimerService> TIMER_SERVICE_FACTORY =
            ConfigOptions.key(PREFIX + "timer-service.factory")
                    .enumType(TimerService.class)
                    .defaultValue(TimerService.LAVA)
                    .withDescription(
                            "Where timers live: LAVA keeps them in the engine, HEAP on the Java"
                                    + " heap, from where every checkpoint writes all of them.");

    public static final ConfigOption<Integer> TIMER_SERVICE_CACHE_SIZE =
            ConfigOptions.key(PREFIX + "timer-service.cache-size")
                    .intType()
                    .defaultValue(128)
                    .withDescription(
                            "How many of the first timers of each key group are kept on the heap"
                                    + " when timers live in the engine.");

    public static final ConfigOption<Boolean> USE_MANAGED_MEMORY =
            ConfigOptions.key(PREFIX + "memory.managed")
                    .booleanType()
                    .defaultValue(true)
                    .withDescription(
                            "Whether native memory comes from the managed memory of the slot.");

    public static final ConfigOption<MemorySize> FIX_PER_SLOT_MEMORY_SIZE =
            ConfigOptions.key(PREFIX + "memory.fixed-per-slot")
                    .memoryType()
                    .noDefaultValue()
                    .withDescription(
                            "Native memory of each slot. When set, managed memory is not used.");

    public static final ConfigOption<MemorySize> FIX_PER_TM_MEMORY_SIZE =
            ConfigOptions.key(PREFIX + "memory.fixed-per-tm")
                    .memoryType()
                    .noDefaultValue()
                    .withDescription(
                            "Native memory of a whole TaskManager, for all its slots together. It"
                                    + " is read from the TaskManager's configuration, and used"
                                    + " when managed memory is off and no size per slot is set."
                                    + " Put the jar into lib/ then: each copy of it that jobs"
                                    + " bring along takes this much.");

    public static final ConfigOption<Double> WRITE_BUFFER_RATIO =
            ConfigOptions.key(PREFIX + "memory.write-buffer-ratio")
                    .doubleType()
                    .defaultValue(0.5)
                    .withDescription(
                            "The share of native memory that is for memtables, between 0 and 1,"
                                    + " both excluded; the block cache has what they leave.");

    public static final ConfigOption<Integer> CHECKPOINT_TRANSFER_THREAD_NUM =
            ConfigOptions.key(PREFIX + "checkpoint.transfer.thread.num")
                    .intType()
                    .defaultValue(4)
                    .withDescription(
                            "How many threads of a backend upload files of a checkpoint, or"
                                    + " download them in a restore.");

    public static final ConfigOption<MemorySize> CHECKPOINT_PACK_FILE_SIZE =
            ConfigOptions.key(PREFIX + "checkpoint.pack.file-size")
                    .memoryType()
                    .defaultValue(MemorySize.ofMebiBytes(1))
                    .withDescription(
                            "Files of a checkpoint that are smaller are uploaded together, one"
                                    + " behind the other in few larger files, packs; 0: each by"
                                    + " itself. A pack that less than half is still needed of is"
                                    + " uploaded anew.");

    public static final ConfigOption<MemorySize> CHECKPOINT_PACK_SIZE =
            ConfigOptions.key(PREFIX + "checkpoint.pack.size")
                    .memoryType()
                    .defaultValue(MemorySize.ofMebiBytes(16))
                    .withDescription(
                            "How large a pack of small files may grow. Several are uploaded at a"
                                    + " time, as checkpoint.transfer.thread.num says.");

    public static final ConfigOption<Boolean> RESTORE_ON_DEMAND =
            ConfigOptions.key(PREFIX + "restore.on-demand")
                    .booleanType()
                    .defaultValue(false)
                    .withDescription(
                            "Whether a restore from a checkpoint or native savepoint of Lava only"
                                    + " reads what describes it, and the job begins while the files"
                                    + " of its state are fetched in the background. What reads"
                                    + " them waits until the files that it needs are there, which"
                                    + " come first; the first checkpoint that must upload all of"
                                    + " them (after a restore with NO_CLAIM or with another"
                                    + " parallelism) and native savepoints wait for all. A file"
                                    + " that cannot be fetched fails what needs it.");

    public static final ConfigOption<Boolean> METRICS_PER_STATE =
            ConfigOptions.key(PREFIX + "metrics.per-state")
                    .booleanType()
                    .defaultValue(true)
                    .withDescription(
                            "Whether each state has metrics of its own. The metrics of instances"
                                    + " are always there.");

    public static final ConfigOption<Duration> HOST_REPORT_INTERVAL =
            ConfigOptions.key(PREFIX + "host.report-interval")
                    .durationType()
                    .defaultValue(Duration.ofMinutes(1))
                    .withDescription(
                            "How often a TaskManager with open backends logs a line on its native"
                                    + " memory, cache, jobs and stalls, and writes a file on the"
                                    + " same beside the backends' directories, for lava-inspect"
                                    + " host; it warns, too, when native memory stays beyond its"
                                    + " budget; 0: none of these. The first backend that opens"
                                    + " decides.");

    private LavaOptions() {}
}
