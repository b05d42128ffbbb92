// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.changelog;

import static org.lavakv.flink.shared.OptionValues.check;

import java.time.Duration;
import org.apache.flink.api.common.JobID;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.IllegalConfigurationException;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.core.fs.Path;
import org.lavakv.flink.shared.OptionValues;

/**
 * The checked values of {@link ChangelogOptions}. Threads: immutable. Units: bytes, milliseconds.
 */
final class ChangelogSettings {
    final Path directory;
    final boolean compress;
    final long persistBytes;
    final long batchDelayMs;
    final long batchBytes;
    final int threads;
    final long inFlightBytesMax;
    final int attemptsMax;
    final long retryDelayMs;
    final long timeoutMs;
    final long sharedBytesMin;

    private ChangelogSettings(Path directory, ReadableConfig config) {
        this.directory = directory;
        compress = isOn(config, ChangelogOptions.COMPRESSION);
        persistBytes = bytes(config, ChangelogOptions.PREEMPTIVE_PERSIST_THRESHOLD);
        batchDelayMs = millis(config, ChangelogOptions.BATCH_DELAY, 0);
        batchBytes = bytes(config, ChangelogOptions.BATCH_SIZE);
        threads = positive(config, ChangelogOptions.UPLOAD_THREADS);
        inFlightBytesMax = bytes(config, ChangelogOptions.IN_FLIGHT_LIMIT);
        attemptsMax = positive(config, ChangelogOptions.UPLOAD_ATTEMPTS);
        retryDelayMs = millis(config, ChangelogOptions.UPLOAD_RETRY_DELAY, 0);
        timeoutMs = millis(config, ChangelogOptions.UPLOAD_TIMEOUT, 1);
        long sharedBytes = bytes(config, ChangelogOptions.SHARED_VALUE_MIN_SIZE);
        sharedBytesMin =
                isOn(config, ChangelogOptions.SHARED_VALUES) ? sharedBytes : Long.MAX_VALUE;
        if (inFlightBytesMax < batchBytes || inFlightBytesMax < persistBytes) {
            throw new IllegalConfigurationException(
                    ChangelogOptions.IN_FLIGHT_LIMIT.key()
                            + " is below "
                            + ChangelogOptions.BATCH_SIZE.key()
                            + " or "
                            + ChangelogOptions.PREEMPTIVE_PERSIST_THRESHOLD.key()
                            + "; raise it to at least "
                            + Math.max(batchBytes, persistBytes)
                            + " bytes.");
        }
    }

    /**
     * Reads the settings.
     *
     * @throws IllegalConfigurationException saying which option is wrong, and how to correct it
     */
    static ChangelogSettings of(JobID job, ReadableConfig config) {
        String base =
                config.getOptional(ChangelogOptions.BASE_PATH)
                        .or(() -> config.getOptional(CheckpointingOptions.CHECKPOINTS_DIRECTORY))
                        .orElseThrow(
                                () ->
                                        new IllegalConfigurationException(
                                                "The changelog needs a directory that outlives the"
                                                        + " TaskManager: set "
                                                        + CheckpointingOptions.CHECKPOINTS_DIRECTORY
                                                                .key()
                                                        + " or "
                                                        + ChangelogOptions.BASE_PATH.key()
                                                        + " in the TaskManagers' configuration."
                                                        + " A job's own configuration does not"
                                                        + " reach the changelog."));
        return new ChangelogSettings(
                new Path(new Path(base, job.toHexString()), "changelog"), config);
    }

    private static int positive(ReadableConfig config, ConfigOption<Integer> option) {
        int value = value(config, option, "a whole number");
        check(value >= 1, option, value, "at least 1");
        return value;
    }

    private static long millis(ReadableConfig config, ConfigOption<Duration> option, long least) {
        long value = value(config, option, "a duration, for example 10 s").toMillis();
        check(value >= least, option, value + " ms", "at least " + least + " ms");
        return value;
    }

    private static long bytes(ReadableConfig config, ConfigOption<MemorySize> option) {
        return value(config, option, "a size, for example 10 mb").getBytes();
    }

    private static boolean isOn(ReadableConfig config, ConfigOption<Boolean> option) {
        return value(config, option, "true or false");
    }

    private static <T> T value(ReadableConfig config, ConfigOption<T> option, String allowed) {
        return OptionValues.read(config, option, allowed).orElse(option.defaultValue());
    }
}
