package org.lavakv.flink.changelog;

import java.time.Duration;
import org.apache.flink.api.common.JobID;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.IllegalConfigurationException;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.core.fs.Path;

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
        compress = config.get(ChangelogOptions.COMPRESSION);
        persistBytes = config.get(ChangelogOptions.PREEMPTIVE_PERSIST_THRESHOLD).getBytes();
        batchDelayMs = millis(config, ChangelogOptions.BATCH_DELAY, 0);
        batchBytes = config.get(ChangelogOptions.BATCH_SIZE).getBytes();
        threads = positive(config, ChangelogOptions.UPLOAD_THREADS);
        inFlightBytesMax = config.get(ChangelogOptions.IN_FLIGHT_LIMIT).getBytes();
        attemptsMax = positive(config, ChangelogOptions.UPLOAD_ATTEMPTS);
        retryDelayMs = millis(config, ChangelogOptions.UPLOAD_RETRY_DELAY, 0);
        timeoutMs = millis(config, ChangelogOptions.UPLOAD_TIMEOUT, 1);
        sharedBytesMin =
                config.get(ChangelogOptions.SHARED_VALUES)
                        ? config.get(ChangelogOptions.SHARED_VALUE_MIN_SIZE).getBytes()
                        : Long.MAX_VALUE;
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
                                                        + " in the TaskManagers' configuration; a"
                                                        + " job's own does not reach the"
                                                        + " changelog."));
        return new ChangelogSettings(
                new Path(new Path(base, job.toHexString()), "changelog"), config);
    }

    private static int positive(ReadableConfig config, ConfigOption<Integer> option) {
        int value = config.get(option);
        if (value < 1) {
            throw new IllegalConfigurationException(
                    option.key() + " is " + value + "; it must be at least 1.");
        }
        return value;
    }

    private static long millis(ReadableConfig config, ConfigOption<Duration> option, long least) {
        long value = config.get(option).toMillis();
        if (value < least) {
            throw new IllegalConfigurationException(
                    option.key() + " is " + value + " ms; it must be at least " + least + " ms.");
        }
        return value;
    }
}
