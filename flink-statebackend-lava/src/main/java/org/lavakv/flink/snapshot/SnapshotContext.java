// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.snapshot;

import java.util.UUID;
import java.util.concurrent.atomic.AtomicReference;
import javax.annotation.Nullable;
import org.apache.flink.api.common.JobID;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.LocalRecoveryConfig;
import org.lavakv.flink.checkpoint.ParallelTransfer;
import org.lavakv.flink.engine.LavaInstance;

/** The objects that all checkpoints of a backend share. Threads: any. */
final class SnapshotContext {

    private final LavaInstance instance;
    private final JobID job;
    private final UUID backendUid;
    private final KeyGroupRange keyGroupRange;
    private final LocalRecoveryConfig localRecovery;
    private final ParallelTransfer transfer;
    private final PackLimits packLimits;
    private final UploadHistory history;
    private final AtomicReference<CheckpointFigures> last = new AtomicReference<>();

    SnapshotContext(
            LavaInstance instance,
            JobID job,
            UUID backendUid,
            KeyGroupRange keyGroupRange,
            LocalRecoveryConfig localRecovery,
            ParallelTransfer transfer,
            PackLimits packLimits,
            UploadHistory history) {
        this.instance = instance;
        this.job = job;
        this.backendUid = backendUid;
        this.keyGroupRange = keyGroupRange;
        this.localRecovery = localRecovery;
        this.transfer = transfer;
        this.packLimits = packLimits;
        this.history = history;
    }

    LavaInstance instance() {
        return instance;
    }

    JobID job() {
        return job;
    }

    UUID backendUid() {
        return backendUid;
    }

    KeyGroupRange keyGroupRange() {
        return keyGroupRange;
    }

    LocalRecoveryConfig localRecovery() {
        return localRecovery;
    }

    ParallelTransfer transfer() {
        return transfer;
    }

    PackLimits packLimits() {
        return packLimits;
    }

    UploadHistory history() {
        return history;
    }

    /** A checkpoint or native savepoint was written. */
    void wrote(CheckpointFigures figures) {
        last.set(figures);
    }

    /** The last written one, or null. */
    @Nullable
    CheckpointFigures last() {
        return last.get();
    }
}
