// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.changelog;

import org.apache.flink.api.common.operators.MailboxExecutor;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.runtime.io.AvailabilityProvider;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;
import org.apache.flink.runtime.state.changelog.StateChangelogStorage;
import org.apache.flink.runtime.state.changelog.StateChangelogWriter;
import org.lavakv.flink.shared.SharedLogs;

/**
 * The changelog of a job in this process.
 *
 * <p>Threads: any. Ownership: {@link #close} stops uploads; writers end with their tasks.
 */
final class LavaChangelogStorage extends LavaChangelogStorageView
        implements StateChangelogStorage<ChangelogStateHandleStreamImpl> {
    private final ChangelogSettings settings;
    private final ChangeUploads uploads;
    private final boolean localBackups;

    /**
     * @param localBackups whether TaskManagers keep copies of checkpoints for local recovery
     */
    LavaChangelogStorage(
            ChangelogSettings settings,
            ChangeFiles files,
            boolean localBackups,
            MetricGroup metrics) {
        this.settings = settings;
        this.localBackups = localBackups;
        this.uploads = new ChangeUploads(settings, files, metrics);
    }

    @Override
    public StateChangelogWriter<ChangelogStateHandleStreamImpl> createWriter(
            String operatorId, KeyGroupRange keyGroups, MailboxExecutor mailbox) {
        return new LavaChangelogWriter(
                operatorId,
                keyGroups,
                settings,
                uploads,
                localBackups,
                mailbox,
                SharedLogs.take(operatorId, keyGroups));
    }

    @Override
    public AvailabilityProvider getAvailabilityProvider() {
        return uploads.availability();
    }

    @Override
    public void close() {
        uploads.close();
    }
}
