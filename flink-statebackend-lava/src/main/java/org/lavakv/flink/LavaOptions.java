// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink;

import java.time.Duration;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;
import org.apache.flink.configuration.MemorySize;

/** Options for Lava's files, memory and integration with Flink. */
public final class LavaOptions {

    /** Prefix of all keys. */
    static final String PREFIX = "state.backend.lava.";

    /** Storage of the engine's files. */
    public enum FileSystemType {
        /** Ordinary directories; each file is a file of its own. */
        POSIX,
        /**
         * Volumes: one large file for all backends of a TaskManager that use the same directory.
         */
        LAVAFS
    }

    /** Storage of timers. */
    public enum TimerService {
        /** The engine, which also stores other state. */
        LAVA,
        /** The Java heap; each checkpoint then writes all timers. */
        HEAP
    }

    public static final ConfigOption<String> LOCAL_DIRECTORIES =
            ConfigOptions.key(PREFIX + "localdir")
                    .stringType()
                    .noDefaultValue()
                    .withDescription(
                            "Absolute local directories for the engine's files, separated by"
                                    + " commas. Backends use the directories in turn. Without"
                                    + " this option the TaskManager's working directory is used.");

    public static final ConfigOption<FileSystemType> FILE_SYSTEM =
            ConfigOptions.key(PREFIX + "filesystem")
                    .enumType(FileSystemType.class)
                    .defaultValue(FileSystemType.POSIX)
                    .withDescription(
                            "Storage of the engine's files. POSIX stores each file in the"
                                    + " backend's directory. LAVAFS stores all files of a"
                                    + " TaskManager in one large file, a volume, in each"
                                    + " directory of localdir. Without localdir, volumes are in"
                                    + " the directories of local recovery, or else in the"
                                    + " TaskManager's working directory.");

    public static final ConfigOption<MemorySize> FILE_SYSTEM_CAPACITY =
            ConfigOptions.key(PREFIX + "filesystem-capacity")
                    .memoryType()
                    .noDefaultValue()
                    .withDescription(
                            "Maximum size of a LAVAFS volume, at least 32 MiB. The job that"
                                    + " opens the volume first decides. The size should be at"
                                    + " least twice the live state of all instances in the"
                                    + " volume, plus 64 MiB. Before a volume is full, writes are"
                                    + " slowed while compactions and collections free space."
                                    + " Writes to a full volume fail. Without this option the"
                                    + " size of the disk is the maximum.");

    public static final ConfigOption<String> LIBRARY_DIRECTORY =
            ConfigOptions.key(PREFIX + "library.dir")
                    .stringType()
                    .noDefaultValue()
                    .withDescription(
                            "Absolute directory to which the native library is copied, and from"
                                    + " which the library is loaded. The directory must not be"
                                    + " mounted noexec. Without this option the TaskManager's"
                                    + " working directory is used.");

    public static final ConfigOption<TimerService> TIMER_SERVICE_FACTORY =
            ConfigOptions.key(PREFIX + "timer-service.factory")
                    .enumType(TimerService.class)
                    .defaultValue(TimerService.LAVA)
                    .withDescription(
                            "Storage of timers. LAVA stores timers in the engine. HEAP keeps"
                                    + " timers on the Java heap, and every checkpoint writes all"
                                    + " of them.");

    public static final ConfigOption<Integer> TIMER_SERVICE_CACHE_SIZE =
            ConfigOptions.key(PREFIX + "timer-service.cache-size")
                    .intType()
                    .defaultValue(128)
                    .withDescription(
                            "Number of the first timers of each key group that are cached on the"
                                    + " heap, if timers are stored in the engine.");

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
                            "Native memory of each slot. If this option is set, managed memory"
                                    + " is not used.");

    public static final ConfigOption<MemorySize> FIX_PER_TM_MEMORY_SIZE =
            ConfigOptions.key(PREFIX + "memory.fixed-per-tm")
                    .memoryType()
                    .noDefaultValue()
                    .withDescription(
                            "Native memory of a whole TaskManager, shared by all its slots. The"
                                    + " option is read from the TaskManager's configuration, and"
                                    + " used if managed memory is off and no size per slot is"
                                    + " set. The jar must then be in lib/, because each copy of"
                                    + " the jar that a job brings along takes this much memory.");

    public static final ConfigOption<Double> WRITE_BUFFER_RATIO =
            ConfigOptions.key(PREFIX + "memory.write-buffer-ratio")
                    .doubleType()
                    .defaultValue(0.5)
                    .withDescription(
                            "Share of native memory for memtables, more than 0 and less than 1."
                                    + " The block cache gets the rest.");

    public static final ConfigOption<Integer> CHECKPOINT_TRANSFER_THREAD_NUM =
            ConfigOptions.key(PREFIX + "checkpoint.transfer.thread.num")
                    .intType()
                    .defaultValue(4)
                    .withDescription(
                            "Number of threads of a backend that upload the files of a"
                                    + " checkpoint, or download the files of a restore.");

    public static final ConfigOption<MemorySize> CHECKPOINT_PACK_FILE_SIZE =
            ConfigOptions.key(PREFIX + "checkpoint.pack.file-size")
                    .memoryType()
                    .defaultValue(MemorySize.ofMebiBytes(1))
                    .withDescription(
                            "Size below which files of a checkpoint are uploaded together, one"
                                    + " after the other in few larger files, called packs; 0:"
                                    + " each file is uploaded by itself. A pack is rewritten"
                                    + " once less than half of it is still referenced.");

    public static final ConfigOption<MemorySize> CHECKPOINT_PACK_SIZE =
            ConfigOptions.key(PREFIX + "checkpoint.pack.size")
                    .memoryType()
                    .defaultValue(MemorySize.ofMebiBytes(16))
                    .withDescription(
                            "Maximum size of a pack of small files. The threads of"
                                    + " checkpoint.transfer.thread.num upload several packs at"
                                    + " the same time.");

    public static final ConfigOption<Boolean> RESTORE_ON_DEMAND =
            ConfigOptions.key(PREFIX + "restore.on-demand")
                    .booleanType()
                    .defaultValue(false)
                    .withDescription(
                            "Whether a job starts before its files are fetched, when it is"
                                    + " restored from a checkpoint or native savepoint of Lava."
                                    + " The restore reads only the description of the state; the"
                                    + " files are fetched in the background. A read that needs a"
                                    + " missing file waits, and that file is fetched first."
                                    + " Native savepoints, and checkpoints if incremental"
                                    + " checkpoints are off, wait for all files. So does the"
                                    + " first checkpoint after a restore with NO_CLAIM, with"
                                    + " another parallelism or from a native savepoint, because"
                                    + " it must upload them. If a file cannot be fetched, the"
                                    + " read or checkpoint that needs it fails.");

    public static final ConfigOption<Boolean> METRICS_PER_STATE =
            ConfigOptions.key(PREFIX + "metrics.per-state")
                    .booleanType()
                    .defaultValue(true)
                    .withDescription(
                            "Whether each state has its own metrics. Instances always have"
                                    + " metrics.");

    public static final ConfigOption<Duration> HOST_REPORT_INTERVAL =
            ConfigOptions.key(PREFIX + "host.report-interval")
                    .durationType()
                    .defaultValue(Duration.ofMinutes(1))
                    .withDescription(
                            "Interval of the reports of a TaskManager with open backends. A"
                                    + " report is a log line about native memory, cache, jobs"
                                    + " and stalls, and a file with more details beside the"
                                    + " backends' directories, for lava-inspect host. At the"
                                    + " same interval the TaskManager checks its native memory,"
                                    + " and warns if the memory stays above its budget. 0: no"
                                    + " reports and no warnings. The first backend that opens"
                                    + " decides.");

    private LavaOptions() {}
}
