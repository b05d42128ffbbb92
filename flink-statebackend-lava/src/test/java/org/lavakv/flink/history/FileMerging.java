// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.history;

import java.io.IOException;
import java.util.List;
import org.apache.flink.api.common.TaskInfoImpl;
import org.apache.flink.core.fs.Path;
import org.apache.flink.runtime.checkpoint.CheckpointOptions;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.checkpoint.StateObjectCollection;
import org.apache.flink.runtime.checkpoint.filemerging.FileMergingSnapshotManager;
import org.apache.flink.runtime.checkpoint.filemerging.FileMergingSnapshotManager.SubtaskKey;
import org.apache.flink.runtime.checkpoint.filemerging.FileMergingSnapshotManagerBuilder;
import org.apache.flink.runtime.checkpoint.filemerging.FileMergingType;
import org.apache.flink.runtime.checkpoint.filemerging.SubtaskFileMergingManagerRestoreOperation;
import org.apache.flink.runtime.clusterframework.types.ResourceID;
import org.apache.flink.runtime.jobgraph.JobVertexID;
import org.apache.flink.runtime.state.CheckpointStreamFactory;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.filesystem.FsCheckpointStorageAccess;
import org.apache.flink.runtime.state.filesystem.FsMergingCheckpointStorageLocation;

/**
 * Flink's merging of checkpoint files, as a TaskManager does it in one run of a job.
 *
 * <p>Threads: one controls it. Ownership: closed when the run ends; the files stay.
 */
final class FileMerging implements AutoCloseable {

    private static final int WRITE_BUFFER_BYTES = 4096;

    private final JobManager jobManager;
    private final JobVertexID vertex;
    private final int parallelism;
    private final int inlineBytes;
    private final FileMergingSnapshotManager manager;

    /**
     * @param fileBytes maximum size of a merged file
     * @param acrossCheckpoints whether files of several checkpoints may share a merged file
     */
    FileMerging(
            JobManager jobManager,
            JobVertexID vertex,
            int parallelism,
            int inlineBytes,
            int fileBytes,
            boolean acrossCheckpoints)
            throws IOException {
        this.jobManager = jobManager;
        this.vertex = vertex;
        this.parallelism = parallelism;
        this.inlineBytes = inlineBytes;
        manager =
                new FileMergingSnapshotManagerBuilder(
                                jobManager.job(),
                                ResourceID.generate(),
                                acrossCheckpoints
                                        ? FileMergingType.MERGE_ACROSS_CHECKPOINT
                                        : FileMergingType.MERGE_WITHIN_CHECKPOINT)
                        .setMaxFileSize(fileBytes)
                        .setMaxSpaceAmplification(2)
                        .build();
        FsCheckpointStorageAccess storage = jobManager.storage();
        manager.initFileSystem(
                storage.getFileSystem(),
                storage.getCheckpointsDirectory(),
                storage.getSharedStateDirectory(),
                taskOwned(),
                WRITE_BUFFER_BYTES);
        for (int subtask = 0; subtask < parallelism; subtask++) {
            manager.registerSubtaskForSharedStates(key(subtask));
        }
    }

    private Path taskOwned() {
        return new Path(jobManager.storage().getCheckpointsDirectory(), "taskowned");
    }

    private SubtaskKey key(int subtask) {
        return new SubtaskKey(jobManager.job(), vertex, info(subtask));
    }

    private TaskInfoImpl info(int subtask) {
        return new TaskInfoImpl("task", parallelism, subtask, parallelism, 0);
    }

    /** Informs file merging of the state that a subtask restores. */
    void restore(int subtask, long checkpoint, List<KeyedStateHandle> handles) {
        new SubtaskFileMergingManagerRestoreOperation(
                        checkpoint,
                        manager,
                        jobManager.job(),
                        info(subtask),
                        vertex,
                        OperatorSubtaskState.builder()
                                .setManagedKeyedState(new StateObjectCollection<>(handles))
                                .build())
                .restore();
    }

    /** The streams for a subtask's checkpoint; not for savepoints. */
    CheckpointStreamFactory streams(int subtask, long checkpoint, CheckpointOptions options) {
        FsCheckpointStorageAccess storage = jobManager.storage();
        manager.notifyCheckpointStart(key(subtask), checkpoint);
        return new FsMergingCheckpointStorageLocation(
                key(subtask),
                storage.getFileSystem(),
                new Path(storage.getCheckpointsDirectory(), "chk-" + checkpoint),
                storage.getSharedStateDirectory(),
                taskOwned(),
                options.getTargetLocation(),
                inlineBytes,
                WRITE_BUFFER_BYTES,
                manager,
                checkpoint);
    }

    void completed(int subtask, long checkpoint) throws Exception {
        manager.notifyCheckpointComplete(key(subtask), checkpoint);
    }

    void aborted(int subtask, long checkpoint) throws Exception {
        manager.notifyCheckpointAborted(key(subtask), checkpoint);
    }

    void subsumed(int subtask, long checkpoint) throws Exception {
        manager.notifyCheckpointSubsumed(key(subtask), checkpoint);
    }

    @Override
    public void close() throws IOException {
        for (int subtask = 0; subtask < parallelism; subtask++) {
            manager.unregisterSubtask(key(subtask));
        }
        manager.close();
    }
}
