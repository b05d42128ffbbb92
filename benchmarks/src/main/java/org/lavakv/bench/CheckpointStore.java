// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.bench;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.RunnableFuture;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.flink.api.common.JobID;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.runtime.checkpoint.CheckpointOptions;
import org.apache.flink.runtime.checkpoint.SavepointType;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.CheckpointStorageAccess;
import org.apache.flink.runtime.state.CheckpointStorageLocationReference;
import org.apache.flink.runtime.state.CheckpointStreamFactory;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.SavepointResources;
import org.apache.flink.runtime.state.SavepointSnapshotStrategy;
import org.apache.flink.runtime.state.SharedStateRegistry;
import org.apache.flink.runtime.state.SharedStateRegistryImpl;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.SnapshotStrategyRunner;
import org.apache.flink.runtime.state.storage.FileSystemCheckpointStorage;

/**
 * A directory of checkpoints in Flink's storage. The last completed checkpoint is kept, like by a
 * JobManager with default settings.
 *
 * <p>Threads: {@link #checkpoint} and {@link #savepoint} on each backend's own, concurrently; the
 * rest on one.
 */
final class CheckpointStore {
    private final CheckpointStorageAccess storage;
    private final SharedStateRegistry registry = new SharedStateRegistryImpl();
    private final AtomicLong writtenBytes = new AtomicLong();
    private List<KeyedStateHandle> kept = Collections.emptyList();

    CheckpointStore(Path directory) throws IOException {
        storage =
                new FileSystemCheckpointStorage(directory.toUri())
                        .createCheckpointStorage(new JobID());
        storage.initializeBaseLocationsForCheckpoint();
    }

    /** Bytes written to checkpoints and savepoints so far. */
    long writtenBytes() {
        return writtenBytes.get();
    }

    /**
     * Runs the synchronous part of an incremental checkpoint, and returns the asynchronous part.
     */
    RunnableFuture<SnapshotResult<KeyedStateHandle>> checkpoint(
            AbstractKeyedStateBackend<?> backend, long id) throws Exception {
        return backend.snapshot(
                id,
                System.currentTimeMillis(),
                streams(id),
                CheckpointOptions.forCheckpointWithDefaultLocation());
    }

    /** Takes a canonical savepoint, both parts. */
    <K> SnapshotResult<KeyedStateHandle> savepoint(AbstractKeyedStateBackend<K> backend, long id)
            throws Exception {
        SavepointResources<K> resources = backend.savepoint();
        RunnableFuture<SnapshotResult<KeyedStateHandle>> rest =
                new SnapshotStrategyRunner<>(
                                "canonical savepoint",
                                new SavepointSnapshotStrategy<>(resources.getSnapshotResources()),
                                new CloseableRegistry(),
                                resources.getPreferredSnapshotExecutionType())
                        .snapshot(
                                id,
                                System.currentTimeMillis(),
                                streams(id),
                                CheckpointOptions.alignedNoTimeout(
                                        SavepointType.savepoint(SavepointFormatType.CANONICAL),
                                        CheckpointStorageLocationReference.getDefault()));
        rest.run();
        return rest.get();
    }

    private CheckpointStreamFactory streams(long id) throws IOException {
        return new CountingStreams(
                storage.resolveCheckpointStorageLocation(
                        id, CheckpointStorageLocationReference.getDefault()),
                writtenBytes);
    }

    /**
     * All backends have written their parts of the checkpoint. Deletes files that only earlier ones
     * needed.
     */
    void completed(long id, List<KeyedStateHandle> handles) throws Exception {
        for (KeyedStateHandle handle : handles) {
            handle.registerSharedStates(registry, id);
        }
        registry.checkpointCompleted(id);
        for (KeyedStateHandle handle : kept) {
            handle.discardState();
        }
        registry.unregisterUnusedState(id);
        kept = handles;
    }
}
