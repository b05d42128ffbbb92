package org.lavakv.flink.changelog;

import java.time.Duration;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;
import org.apache.flink.configuration.MemorySize;

/**
 * Options of the changelog's storage. If Flink's file-system storage has the same option, its key
 * is accepted as well, so that a job only has to change the storage's name.
 */
public final class ChangelogOptions {

    private static final String PREFIX = "state.changelog.lava.";
    private static final String FLINK_PREFIX = "state.changelog.dstl.dfs.";

    public static final ConfigOption<String> BASE_PATH =
            ConfigOptions.key(PREFIX + "base-path")
                    .stringType()
                    .noDefaultValue()
                    .withFallbackKeys(FLINK_PREFIX + "base-path")
                    .withDescription(
                            "Where the changelog's files go, in a directory for each job. Without"
                                    + " it, beside the checkpoints (execution.checkpointing.dir). Like all of"
                                    + " these it is read from the TaskManagers' configuration,"
                                    + " not from a job's own.");

    public static final ConfigOption<Boolean> COMPRESSION =
            ConfigOptions.key(PREFIX + "compression.enabled")
                    .booleanType()
                    .defaultValue(true)
                    .withFallbackKeys(FLINK_PREFIX + "compression.enabled")
                    .withDescription(
                            "Whether changes are compressed (Snappy) where that makes them smaller"
                                    + " by an eighth or more; the threads that upload do it.");

    public static final ConfigOption<MemorySize> PREEMPTIVE_PERSIST_THRESHOLD =
            ConfigOptions.key(PREFIX + "preemptive-persist-threshold")
                    .memoryType()
                    .defaultValue(MemorySize.ofMebiBytes(5))
                    .withFallbackKeys(FLINK_PREFIX + "preemptive-persist-threshold")
                    .withDescription(
                            "From how many bytes on the changes of one operator are uploaded without"
                                    + " waiting for a checkpoint.");

    public static final ConfigOption<Duration> BATCH_DELAY =
            ConfigOptions.key(PREFIX + "batch.persist-delay")
                    .durationType()
                    .defaultValue(Duration.ofMillis(10))
                    .withFallbackKeys(FLINK_PREFIX + "batch.persist-delay")
                    .withDescription(
                            "How long changes to be uploaded wait for those of other operators, to"
                                    + " share a file with them.");

    public static final ConfigOption<MemorySize> BATCH_SIZE =
            ConfigOptions.key(PREFIX + "batch.persist-size-threshold")
                    .memoryType()
                    .defaultValue(MemorySize.ofMebiBytes(10))
                    .withFallbackKeys(FLINK_PREFIX + "batch.persist-size-threshold")
                    .withDescription("From how many bytes on they do not wait any longer.");

    public static final ConfigOption<Integer> UPLOAD_THREADS =
            ConfigOptions.key(PREFIX + "upload.num-threads")
                    .intType()
                    .defaultValue(5)
                    .withFallbackKeys(FLINK_PREFIX + "upload.num-threads")
                    .withDescription("How many files of a job are uploaded at a time.");

    public static final ConfigOption<MemorySize> IN_FLIGHT_LIMIT =
            ConfigOptions.key(PREFIX + "upload.max-in-flight")
                    .memoryType()
                    .defaultValue(MemorySize.ofMebiBytes(100))
                    .withFallbackKeys(FLINK_PREFIX + "upload.max-in-flight")
                    .withDescription(
                            "From how many bytes under upload on the tasks of a job take no more"
                                    + " input.");

    public static final ConfigOption<Integer> UPLOAD_ATTEMPTS =
            ConfigOptions.key(PREFIX + "upload.max-attempts")
                    .intType()
                    .defaultValue(3)
                    .withFallbackKeys(FLINK_PREFIX + "upload.max-attempts")
                    .withDescription(
                            "How often an upload is tried before the checkpoint that needs it"
                                    + " fails. The next checkpoint tries again.");

    public static final ConfigOption<Duration> UPLOAD_RETRY_DELAY =
            ConfigOptions.key(PREFIX + "upload.next-attempt-delay")
                    .durationType()
                    .defaultValue(Duration.ofMillis(500))
                    .withFallbackKeys(FLINK_PREFIX + "upload.next-attempt-delay")
                    .withDescription("How long after a failure an upload is tried again.");

    public static final ConfigOption<Duration> UPLOAD_TIMEOUT =
            ConfigOptions.key(PREFIX + "upload.timeout")
                    .durationType()
                    .defaultValue(Duration.ofSeconds(10))
                    .withFallbackKeys(FLINK_PREFIX + "upload.timeout")
                    .withDescription(
                            "After how long an upload that has not ended is tried again beside"
                                    + " itself, and the last attempt counts as failed.");

    public static final ConfigOption<Boolean> SHARED_VALUES =
            ConfigOptions.key(PREFIX + "shared-values.enabled")
                    .booleanType()
                    .defaultValue(true)
                    .withDescription(
                            "Whether a large value of a state on Lava is written once, for the"
                                    + " changelog and for the state, instead of once for each.");

    public static final ConfigOption<MemorySize> SHARED_VALUE_MIN_SIZE =
            ConfigOptions.key(PREFIX + "shared-values.min-size")
                    .memoryType()
                    .defaultValue(MemorySize.parse("4kb"))
                    .withDescription(
                            "From how many bytes on a change's value is, if the state's values of"
                                    + " that size are separated.");

    private ChangelogOptions() {}
}
