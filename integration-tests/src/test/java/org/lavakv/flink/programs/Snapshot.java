// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.programs;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RunnableFuture;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.runtime.checkpoint.CheckpointOptions;
import org.apache.flink.runtime.checkpoint.CheckpointType;
import org.apache.flink.runtime.checkpoint.SavepointType;
import org.apache.flink.runtime.checkpoint.SnapshotType;
import org.apache.flink.runtime.state.CheckpointStorageLocationReference;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.SnapshotResult;

/** A snapshot of one job, whose asynchronous parts may not have run yet. */
final class Snapshot {

    /** Flink's kinds of snapshots. */
    enum Kind {
        CHECKPOINT(CheckpointType.CHECKPOINT),
        FULL_CHECKPOINT(CheckpointType.FULL_CHECKPOINT),
        NATIVE_SAVEPOINT(SavepointType.savepoint(SavepointFormatType.NATIVE)),
        CANONICAL_SAVEPOINT(SavepointType.savepoint(SavepointFormatType.CANONICAL));

        private final SnapshotType type;

        Kind(SnapshotType type) {
            this.type = type;
        }

        CheckpointOptions options() {
            return CheckpointOptions.alignedNoTimeout(
                    type, CheckpointStorageLocationReference.getDefault());
        }

        /** Whether other backends can restore it. */
        boolean crosses() {
            return this == CANONICAL_SAVEPOINT;
        }

        boolean isSavepoint() {
            return type.isSavepoint();
        }
    }

    final Kind kind;

    /** The backend that took the snapshot. */
    final BackendKind backend;

    private final List<RunnableFuture<SnapshotResult<KeyedStateHandle>>> parts;
    private final List<KeyedStateHandle> handles = new ArrayList<>();
    private Clock.Past past;
    private boolean finished;

    /**
     * @param past the job's clock until now
     */
    Snapshot(
            Kind kind,
            BackendKind backend,
            List<RunnableFuture<SnapshotResult<KeyedStateHandle>>> parts,
            Clock.Past past) {
        this.kind = kind;
        this.backend = backend;
        this.parts = parts;
        this.past = past;
    }

    boolean isFinished() {
        return finished;
    }

    /** The clock histories by which part of its content may have been dropped. */
    Clock.Past past() {
        return past;
    }

    /**
     * Runs the asynchronous parts, unless they have run.
     *
     * @param now the current time of the job's clock
     */
    void finish(long now) throws Exception {
        if (finished) {
            return;
        }
        finished = true;
        if (backend.isLava() && kind == Kind.CANONICAL_SAVEPOINT) {
            past = past.savedAt(now);
        }
        for (RunnableFuture<SnapshotResult<KeyedStateHandle>> part : parts) {
            part.run();
            KeyedStateHandle handle = part.get().getJobManagerOwnedSnapshot();
            if (handle != null) {
                handles.add(handle);
            }
        }
    }

    /** Cancels parts that have not run. */
    void cancel() {
        if (!finished) {
            parts.forEach(part -> part.cancel(true));
        }
    }

    /** One handle for each subtask with content. */
    List<KeyedStateHandle> handles() {
        return handles;
    }
}
