// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.changelog;

import java.io.IOException;
import org.apache.flink.api.common.JobID;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.metrics.groups.TaskManagerJobMetricGroup;
import org.apache.flink.runtime.state.LocalRecoveryConfig;
import org.apache.flink.runtime.state.changelog.StateChangelogStorage;
import org.apache.flink.runtime.state.changelog.StateChangelogStorageFactory;
import org.apache.flink.runtime.state.changelog.StateChangelogStorageView;

/** Makes the storage of {@code state.changelog.storage: lava}. Threads: any. */
public final class LavaChangelogStorageFactory implements StateChangelogStorageFactory {
    public static final String IDENTIFIER = "lava";

    @Override
    public String getIdentifier() {
        return IDENTIFIER;
    }

    @Override
    public StateChangelogStorage<?> createStorage(
            JobID job,
            Configuration config,
            TaskManagerJobMetricGroup metrics,
            LocalRecoveryConfig localRecovery)
            throws IOException {
        ChangelogSettings settings = ChangelogSettings.of(job, config);
        return new LavaChangelogStorage(
                settings,
                new ChangeFiles(settings),
                localRecovery.isLocalBackupEnabled(),
                metrics.addGroup("lava").addGroup("changelog"));
    }

    @Override
    public StateChangelogStorageView<?> createStorageView(Configuration config) {
        return new LavaChangelogStorageView();
    }
}
