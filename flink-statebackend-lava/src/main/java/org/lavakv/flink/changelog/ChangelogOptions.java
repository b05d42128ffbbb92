// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

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

    /** Prefix of all keys. */
    public static final String PREFIX = "state.changelog.lava.";

    private static final String FLINK_PREFIX = "state.changelog.dstl.dfs.";

    public static final ConfigOption<String> BASE_PATH =
            ConfigOptions.key(PREFIX + "base-path")
                    .stringType()
                    .noDefaultValue()
                    .withFallbackKeys(FLINK_PREFIX + "base-path")
                    .withDescription(
                            "Directory of the changelog's files, with a subdirectory for each"
                                    + " job. Without this option the files are stored beside the"
                                    + " checkpoints (execution.checkpointing.dir). All options"
                                    + " of the changelog are read from the TaskManagers'"
                                    + " configuration; a job's own configuration has no effect.");

    public static final ConfigOption<Boolean> COMPRESSION =
            ConfigOptions.key(PREFIX + "compression.enabled")
                    .booleanType()
                    .defaultValue(true)
                    .withFallbackKeys(FLINK_PREFIX + "compression.enabled")
                    .withDescription(
                            "Whether changes are compressed with Snappy. The threads that upload"
                                    + " changes compress them, and keep the compressed form if"
                                    + " it is smaller by an eighth or more.");

    public static final ConfigOption<MemorySize> PREEMPTIVE_PERSIST_THRESHOLD =
            ConfigOptions.key(PREFIX + "preemptive-persist-threshold")
                    .memoryType()
                    .defaultValue(MemorySize.ofMebiBytes(5))
                    .withFallbackKeys(FLINK_PREFIX + "preemptive-persist-threshold")
                    .withDescription(
                            "Size at which the changes of an operator are uploaded without"
                                    + " waiting for a checkpoint.");

    public static final ConfigOption<Duration> BATCH_DELAY =
            ConfigOptions.key(PREFIX + "batch.persist-delay")
                    .durationType()
                    .defaultValue(Duration.ofMillis(10))
                    .withFallbackKeys(FLINK_PREFIX + "batch.persist-delay")
                    .withDescription(
                            "Time for which changes wait before their upload, so that changes of"
                                    + " several operators share a file.");

    public static final ConfigOption<MemorySize> BATCH_SIZE =
            ConfigOptions.key(PREFIX + "batch.persist-size-threshold")
                    .memoryType()
                    .defaultValue(MemorySize.ofMebiBytes(10))
                    .withFallbackKeys(FLINK_PREFIX + "batch.persist-size-threshold")
                    .withDescription(
                            "Size at which waiting changes are uploaded at once, before"
                                    + " batch.persist-delay has passed.");

    public static final ConfigOption<Integer> UPLOAD_THREADS =
            ConfigOptions.key(PREFIX + "upload.num-threads")
                    .intType()
                    .defaultValue(5)
                    .withFallbackKeys(FLINK_PREFIX + "upload.num-threads")
                    .withDescription(
                            "Maximum number of files of a job that are uploaded at the same"
                                    + " time.");

    public static final ConfigOption<MemorySize> IN_FLIGHT_LIMIT =
            ConfigOptions.key(PREFIX + "upload.max-in-flight")
                    .memoryType()
                    .defaultValue(MemorySize.ofMebiBytes(100))
                    .withFallbackKeys(FLINK_PREFIX + "upload.max-in-flight")
                    .withDescription(
                            "Size of the changes under upload at which the tasks of a job accept"
                                    + " no more input.");

    public static final ConfigOption<Integer> UPLOAD_ATTEMPTS =
            ConfigOptions.key(PREFIX + "upload.max-attempts")
                    .intType()
                    .defaultValue(3)
                    .withFallbackKeys(FLINK_PREFIX + "upload.max-attempts")
                    .withDescription(
                            "Number of attempts to upload changes before the checkpoint that"
                                    + " needs them fails. The next checkpoint tries again.");

    public static final ConfigOption<Duration> UPLOAD_RETRY_DELAY =
            ConfigOptions.key(PREFIX + "upload.next-attempt-delay")
                    .durationType()
                    .defaultValue(Duration.ofMillis(500))
                    .withFallbackKeys(FLINK_PREFIX + "upload.next-attempt-delay")
                    .withDescription(
                            "Time between a failed attempt to upload changes and the next"
                                    + " attempt.");

    public static final ConfigOption<Duration> UPLOAD_TIMEOUT =
            ConfigOptions.key(PREFIX + "upload.timeout")
                    .durationType()
                    .defaultValue(Duration.ofSeconds(10))
                    .withFallbackKeys(FLINK_PREFIX + "upload.timeout")
                    .withDescription(
                            "Time after which another attempt to upload changes starts, in"
                                    + " parallel to an attempt that has not ended. The upload"
                                    + " fails if the last attempt exceeds this time.");

    public static final ConfigOption<Boolean> SHARED_VALUES =
            ConfigOptions.key(PREFIX + "shared-values.enabled")
                    .booleanType()
                    .defaultValue(true)
                    .withDescription(
                            "Whether a large value of a state on Lava is written once, for the"
                                    + " changelog and for the state together, instead of once"
                                    + " for each.");

    public static final ConfigOption<MemorySize> SHARED_VALUE_MIN_SIZE =
            ConfigOptions.key(PREFIX + "shared-values.min-size")
                    .memoryType()
                    .defaultValue(MemorySize.parse("4kb"))
                    .withDescription(
                            "Minimum size of changes whose values are shared in this way. A"
                                    + " value is shared only if its state stores values of that"
                                    + " size in value files.");

    private ChangelogOptions() {}
}
