// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink;

import static org.lavakv.flink.shared.OptionValues.check;

import java.io.File;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import javax.annotation.Nullable;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.IllegalConfigurationException;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.core.fs.Path;
import org.lavakv.CompressionType;
import org.lavakv.DBOptions;
import org.lavakv.TableOptions;
import org.lavakv.VolumeOptions;
import org.lavakv.flink.engine.Separation;
import org.lavakv.flink.memory.MemorySettings;
import org.lavakv.flink.shared.OptionValues;
import org.lavakv.flink.snapshot.PackLimits;

/**
 * The checked values of all options.
 *
 * <p>Threads: a value. Errors: {@link IllegalConfigurationException} that names the key and the
 * allowed values.
 */
final class LavaSettings {

    private static final long INT_BYTES_MAX = 64L << 20;
    private static final long VOLUME_BYTES_MIN = 32L << 20;

    private final ReadableConfig config;

    LavaSettings(ReadableConfig config) {
        this.config = config;
        // Errors are reported when the job is set up, not when a task starts.
        localDirectories();
        libraryDirectory();
        fileSystem();
        volumeOptions();
        timerService();
        timerCacheSize();
        memory();
        transferThreads();
        packLimits();
        uploadCostPercent();
        restoreOnDemand();
        metricsPerState();
        hostReportInterval();
        backgroundThreads();
        backgroundCpu();
        spaceProcessLimit();
        separation();
        dbOptions();
    }

    private <T> Optional<T> read(ConfigOption<T> option, Class<T> type) {
        String allowed =
                type.isEnum()
                        ? "one of " + Arrays.toString(type.getEnumConstants())
                        : "a value of type " + type.getSimpleName();
        return OptionValues.read(config, option, allowed);
    }

    <T> T get(ConfigOption<T> option, Class<T> type) {
        return read(option, type).orElse(option.defaultValue());
    }

    int intBetween(ConfigOption<Integer> option, int min, int max) {
        int value = get(option, Integer.class);
        check(value >= min && value <= max, option, value, min + " to " + max);
        return value;
    }

    long bytesBetween(ConfigOption<MemorySize> option, long min, long max) {
        long value = get(option, MemorySize.class).getBytes();
        check(
                value >= min && value <= max,
                option,
                value + " bytes",
                min + " to " + max + " bytes");
        return value;
    }

    /** Empty if the TaskManager's directory is to be used. */
    List<File> localDirectories() {
        List<File> directories = new ArrayList<>();
        String value = get(LavaOptions.LOCAL_DIRECTORIES, String.class);
        if (value != null) {
            for (String path : value.split(",|" + File.pathSeparator + "(?!//)")) {
                if (!path.trim().isEmpty()) {
                    directories.add(localDirectory(LavaOptions.LOCAL_DIRECTORIES, path.trim()));
                }
            }
        }
        return directories;
    }

    /** Null if the TaskManager's directory is to be used. */
    @Nullable
    File libraryDirectory() {
        String value = get(LavaOptions.LIBRARY_DIRECTORY, String.class);
        return value == null ? null : localDirectory(LavaOptions.LIBRARY_DIRECTORY, value);
    }

    private static File localDirectory(ConfigOption<String> option, String value) {
        String path = value;
        URI uri = new Path(value).toUri();
        if (uri.getScheme() != null) {
            check("file".equalsIgnoreCase(uri.getScheme()), option, value, "a local directory");
            path = uri.getPath();
        }
        File directory = new File(path);
        check(directory.isAbsolute(), option, value, "an absolute path");
        return directory;
    }

    LavaOptions.FileSystemType fileSystem() {
        return get(LavaOptions.FILE_SYSTEM, LavaOptions.FileSystemType.class);
    }

    /**
     * Volumes are designed for direct I/O. For ordinary files the machine's spare memory serves as
     * a cache.
     */
    boolean directIo() {
        Boolean set = get(LavaConfigurableOptions.DIRECT_IO, Boolean.class);
        return set != null ? set : fileSystem() == LavaOptions.FileSystemType.LAVAFS;
    }

    /**
     * The options for opening volumes: the job's own volume, and those that local recovery finds.
     */
    VolumeOptions volumeOptions() {
        // Neither checkpoints nor local recovery guarantee anything after a power cut.
        VolumeOptions options =
                new VolumeOptions()
                        .setDirectIo(directIo())
                        .setCapacitySetting(LavaOptions.FILE_SYSTEM_CAPACITY.key());
        bytesIfSet(LavaOptions.FILE_SYSTEM_CAPACITY, VOLUME_BYTES_MIN, Long.MAX_VALUE)
                .ifPresent(options::setCapacityBytes);
        return options;
    }

    LavaOptions.TimerService timerService() {
        return get(LavaOptions.TIMER_SERVICE_FACTORY, LavaOptions.TimerService.class);
    }

    int timerCacheSize() {
        return intBetween(LavaOptions.TIMER_SERVICE_CACHE_SIZE, 1, 1 << 20);
    }

    MemorySettings memory() {
        double ratio = get(LavaOptions.WRITE_BUFFER_RATIO, Double.class);
        check(
                ratio > 0 && ratio < 1,
                LavaOptions.WRITE_BUFFER_RATIO,
                ratio,
                "between 0 and 1, both excluded");
        MemorySize perSlot = get(LavaOptions.FIX_PER_SLOT_MEMORY_SIZE, MemorySize.class);
        check(
                perSlot == null || perSlot.getBytes() > 0,
                LavaOptions.FIX_PER_SLOT_MEMORY_SIZE,
                perSlot,
                "more than 0 bytes");
        return new MemorySettings(
                get(LavaOptions.USE_MANAGED_MEMORY, Boolean.class), perSlot, ratio);
    }

    /**
     * Native memory that all slots of a TaskManager share, from the TaskManager's configuration.
     */
    static long taskManagerBytes(ReadableConfig taskManager) {
        return taskManager
                .getOptional(LavaOptions.FIX_PER_TM_MEMORY_SIZE)
                .map(MemorySize::getBytes)
                .orElse(0L);
    }

    int transferThreads() {
        return intBetween(LavaOptions.CHECKPOINT_TRANSFER_THREAD_NUM, 1, 1024);
    }

    /** Which small files of a checkpoint are uploaded together. */
    PackLimits packLimits() {
        return new PackLimits(
                bytesBetween(LavaOptions.CHECKPOINT_PACK_FILE_SIZE, 0, INT_BYTES_MAX),
                bytesBetween(LavaOptions.CHECKPOINT_PACK_SIZE, 64L << 10, 1L << 40));
    }

    boolean restoreOnDemand() {
        return get(LavaOptions.RESTORE_ON_DEMAND, Boolean.class);
    }

    boolean metricsPerState() {
        return get(LavaOptions.METRICS_PER_STATE, Boolean.class);
    }

    /** Zero: no reports. */
    Duration hostReportInterval() {
        Duration interval = get(LavaOptions.HOST_REPORT_INTERVAL, Duration.class);
        check(
                interval.isZero()
                        || interval.compareTo(Duration.ofSeconds(1)) >= 0
                                && interval.compareTo(Duration.ofDays(1)) <= 0,
                LavaOptions.HOST_REPORT_INTERVAL,
                interval,
                "0, or 1 second to 1 day");
        return interval;
    }

    /** Empty: use the process's own setting. */
    Optional<Integer> backgroundThreads() {
        return read(LavaConfigurableOptions.BACKGROUND_THREADS, Integer.class)
                .map(set -> intBetween(LavaConfigurableOptions.BACKGROUND_THREADS, 1, 1024));
    }

    /** In cores. Empty: use the process's own setting. */
    Optional<Double> backgroundCpu() {
        Optional<Double> cores = read(LavaConfigurableOptions.BACKGROUND_CPU, Double.class);
        cores.ifPresent(
                set ->
                        check(
                                set > 0 && set <= 1024,
                                LavaConfigurableOptions.BACKGROUND_CPU,
                                set,
                                "more than 0, and at most 1024"));
        return cores;
    }

    /**
     * Limit for the files of all instances of the process. Empty: use the process's own setting.
     */
    Optional<Long> spaceProcessLimit() {
        long bytes = limitBytes(LavaConfigurableOptions.SPACE_PROCESS_LIMIT);
        return bytes == 0 ? Optional.empty() : Optional.of(bytes);
    }

    /** Minimum size of values that go to value files. */
    Separation separation() {
        Optional<Boolean> automatic =
                read(LavaConfigurableOptions.VALUE_SEPARATION_AUTOMATIC, Boolean.class);
        if (automatic.orElse(false)) {
            return Separation.of(TableOptions.AUTOMATIC_SEPARATION);
        }
        ConfigOption<MemorySize> threshold = LavaConfigurableOptions.VALUE_SEPARATION_THRESHOLD;
        long bytes = bytesBetween(threshold, 0, 1L << 40);
        boolean chosen = automatic.isPresent() || read(threshold, MemorySize.class).isPresent();
        return chosen ? Separation.of(bytes) : Separation.automaticUnderChangelog(bytes);
    }

    /** Cost of uploading a byte again, in percent of the cost of moving it. */
    int uploadCostPercent() {
        return intBetween(LavaConfigurableOptions.COLLECTION_UPLOAD_COST, 0, 1000);
    }

    /** 0 if the option is not set. */
    int percent(ConfigOption<Double> option, double min) {
        Double ratio = get(option, Double.class);
        if (ratio == null) {
            return 0;
        }
        check(ratio >= min && ratio <= 1000, option, ratio, min + " to 1000");
        return (int) Math.round(ratio * 100);
    }

    /** 0 if the option is not set. */
    long limitBytes(ConfigOption<MemorySize> option) {
        return bytesIfSet(option, 1L << 20, Long.MAX_VALUE).orElse(0);
    }

    /** Empty if the option is not set and has no default. */
    OptionalLong bytesIfSet(ConfigOption<MemorySize> option, long min, long max) {
        return get(option, MemorySize.class) == null
                ? OptionalLong.empty()
                : OptionalLong.of(bytesBetween(option, min, max));
    }

    /** The compression of each value in a value file. */
    CompressionType valueCompression() {
        CompressionType own =
                get(LavaConfigurableOptions.VALUE_SEPARATION_COMPRESSION, CompressionType.class);
        return own != null ? own : get(LavaConfigurableOptions.COMPRESSION, CompressionType.class);
    }

    /** The engine's options, without those that depend on the instance's key groups. */
    DBOptions dbOptions() {
        DBOptions options = new DBOptions();
        EngineOptions.ROWS.forEach(row -> row.set(this, options));
        return options;
    }
}
