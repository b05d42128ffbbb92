// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.conformance;

import java.io.File;
import java.io.IOException;
import org.apache.flink.api.common.JobID;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.StateChangelogOptions;
import org.apache.flink.runtime.metrics.groups.UnregisteredMetricGroups;
import org.apache.flink.runtime.state.TestLocalRecoveryConfig;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;
import org.apache.flink.runtime.state.changelog.StateChangelogStorage;
import org.apache.flink.runtime.state.changelog.StateChangelogStorageLoader;
import org.apache.flink.runtime.state.changelog.inmemory.StateChangelogStorageTest;

/** Flink's tests of a changelog's storage, on Lava's storage, which Flink finds by its name. */
class LavaChangelogStorageTest extends StateChangelogStorageTest<ChangelogStateHandleStreamImpl> {

    @Override
    @SuppressWarnings("unchecked")
    protected StateChangelogStorage<ChangelogStateHandleStreamImpl> getFactory(
            boolean compression, File folder) throws IOException {
        Configuration config =
                new Configuration()
                        .set(StateChangelogOptions.STATE_CHANGE_LOG_STORAGE, "lava")
                        .set(CheckpointingOptions.CHECKPOINTS_DIRECTORY, folder.toURI().toString());
        return (StateChangelogStorage<ChangelogStateHandleStreamImpl>)
                StateChangelogStorageLoader.load(
                        new JobID(),
                        config,
                        UnregisteredMetricGroups.createUnregisteredTaskManagerJobMetricGroup(),
                        TestLocalRecoveryConfig.disabled());
    }
}
