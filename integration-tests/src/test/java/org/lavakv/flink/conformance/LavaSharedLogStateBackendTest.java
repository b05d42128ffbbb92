// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.conformance;

import java.io.IOException;
import java.nio.file.Path;
import org.apache.flink.api.common.JobID;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.StateChangelogOptions;
import org.apache.flink.runtime.metrics.groups.UnregisteredMetricGroups;
import org.apache.flink.runtime.state.TestLocalRecoveryConfig;
import org.apache.flink.runtime.state.TestTaskStateManager;
import org.apache.flink.runtime.state.changelog.StateChangelogStorage;
import org.apache.flink.runtime.state.changelog.StateChangelogStorageLoader;
import org.junit.jupiter.api.io.TempDir;
import org.lavakv.flink.LavaConfigurableOptions;
import org.lavakv.flink.changelog.ChangelogOptions;

/**
 * Flink's conformance suite of state backends, on Lava below the changelog in Lava's storage. Every
 * value of at least one byte is written once for both.
 */
class LavaSharedLogStateBackendTest extends LavaChangelogStateBackendTest {

    @TempDir Path changes;

    @Override
    void configure(Configuration config) {
        super.configure(config);
        config.set(LavaConfigurableOptions.VALUE_SEPARATION_THRESHOLD, new MemorySize(1));
    }

    @Override
    protected TestTaskStateManager getTestTaskStateManager() throws IOException {
        return TestTaskStateManager.builder().setStateChangelogStorage(storage()).build();
    }

    private StateChangelogStorage<?> storage() throws IOException {
        Configuration config =
                new Configuration()
                        .set(StateChangelogOptions.STATE_CHANGE_LOG_STORAGE, "lava")
                        .set(ChangelogOptions.SHARED_VALUE_MIN_SIZE, new MemorySize(1))
                        .set(
                                CheckpointingOptions.CHECKPOINTS_DIRECTORY,
                                changes.toUri().toString());
        return StateChangelogStorageLoader.load(
                new JobID(),
                config,
                UnregisteredMetricGroups.createUnregisteredTaskManagerJobMetricGroup(),
                TestLocalRecoveryConfig.disabled());
    }
}
