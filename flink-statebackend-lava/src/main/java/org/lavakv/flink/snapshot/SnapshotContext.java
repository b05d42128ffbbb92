package org.lavakv.flink.snapshot;

import java.util.UUID;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.LocalRecoveryConfig;
import org.lavakv.flink.engine.LavaInstance;

/** What all checkpoints of a backend share. Threads: any. */
final class SnapshotContext {

    private final LavaInstance instance;
    private final UUID backendUid;
    private final KeyGroupRange keyGroupRange;
    private final LocalRecoveryConfig localRecovery;
    private final ParallelTransfer transfer;
    private final UploadHistory history;

    SnapshotContext(
            LavaInstance instance,
            UUID backendUid,
            KeyGroupRange keyGroupRange,
            LocalRecoveryConfig localRecovery,
            ParallelTransfer transfer,
            UploadHistory history) {
        this.instance = instance;
        this.backendUid = backendUid;
        this.keyGroupRange = keyGroupRange;
        this.localRecovery = localRecovery;
        this.transfer = transfer;
        this.history = history;
    }

    LavaInstance instance() {
        return instance;
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

    UploadHistory history() {
        return history;
    }
}
