// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.snapshot;

import org.apache.flink.runtime.checkpoint.SnapshotType.SharingFilesStrategy;
import org.apache.flink.runtime.state.CheckpointedStateScope;

/** How a checkpoint's files relate to those of other checkpoints. */
enum UploadMode {
    /**
     * Names files of the last completed checkpoint. Uploads the others for reuse by later
     * checkpoints.
     */
    INCREMENTAL(true, true, true, CheckpointedStateScope.SHARED),
    /**
     * Uploads all files for reuse by later checkpoints: the first checkpoint after a NO_CLAIM
     * restore.
     */
    NEW_BASE(false, true, true, CheckpointedStateScope.SHARED),
    /**
     * Uploads all files into a directory of its own, without reuse by others: native savepoints.
     */
    SELF_CONTAINED(false, false, true, CheckpointedStateScope.EXCLUSIVE),
    /** A checkpoint when incremental ones are switched off: all files are deleted with it. */
    FULL(false, false, false, CheckpointedStateScope.EXCLUSIVE);

    private final boolean reuses;
    private final boolean remembered;
    private final boolean sharedState;
    private final CheckpointedStateScope scope;

    UploadMode(
            boolean reuses, boolean remembered, boolean sharedState, CheckpointedStateScope scope) {
        this.reuses = reuses;
        this.remembered = remembered;
        this.sharedState = sharedState;
        this.scope = scope;
    }

    static UploadMode of(SharingFilesStrategy sharing, boolean incremental) {
        switch (sharing) {
            case FORWARD_BACKWARD:
                return incremental ? INCREMENTAL : FULL;
            case FORWARD:
                return incremental ? NEW_BASE : FULL;
            case NO_SHARING:
                return SELF_CONTAINED;
            default:
                throw new IllegalArgumentException(
                        "Lava does not know the sharing mode " + sharing + ".");
        }
    }

    /** Whether files of the last completed checkpoint are named instead of uploaded. */
    boolean reuses() {
        return reuses;
    }

    /** Whether later checkpoints may name this one's files. */
    boolean remembered() {
        return remembered;
    }

    /**
     * Whether the files are the handle's shared state, which Flink deletes once no checkpoint names
     * it. This includes the files of a native savepoint, although no checkpoint reuses them
     * (FLINK-39964, see NativeRestore).
     */
    boolean sharedState() {
        return sharedState;
    }

    CheckpointedStateScope scope() {
        return scope;
    }
}
