// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.snapshot;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.UUID;
import java.util.stream.Collectors;
import javax.annotation.Nullable;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.state.CheckpointListener;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.runtime.checkpoint.CheckpointOptions;
import org.apache.flink.runtime.checkpoint.SnapshotType.SharingFilesStrategy;
import org.apache.flink.runtime.state.CheckpointStreamFactory;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyedBackendSerializationProxy;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.LocalRecoveryConfig;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.SnapshotStrategy;
import org.apache.flink.runtime.state.heap.HeapPriorityQueueSnapshotRestoreWrapper;
import org.apache.flink.runtime.state.heap.HeapPriorityQueueStateSnapshot;
import org.apache.flink.runtime.state.metainfo.StateMetaInfoSnapshot;
import org.apache.flink.util.ResourceGuard;
import org.lavakv.Snapshot;
import org.lavakv.TtlTime;
import org.lavakv.flink.checkpoint.ParallelTransfer;
import org.lavakv.flink.checkpoint.UploadedFiles;
import org.lavakv.flink.engine.LavaInstance;
import org.lavakv.flink.engine.StateTable;
import org.lavakv.flink.engine.StateTables;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Checkpoints and native savepoints: copies of the engine's own files.
 *
 * <p>The synchronous part records the states' serializers, copies the queues of timers on the heap
 * without serializing them, seals the memtable and pins the files. Its only system call wakes a
 * thread for the flush. The flush is asynchronous as well, and uploads only read files. The
 * asynchronous part holds a guard of the instance only while it writes the heap's timers into a
 * local file. An upload that hangs must not keep the backend from closing; native calls after the
 * close fail with an exception.
 *
 * <p>Threads: {@link #syncPrepareResources} on the task's thread; the result of {@link
 * #asyncSnapshot} on any; notifications from any.
 *
 * <p>Ownership: the instance stays the caller's. {@link #close} ends the upload threads.
 */
public final class LavaSnapshotStrategy<K>
        implements SnapshotStrategy<KeyedStateHandle, LavaSnapshotResources>,
                CheckpointListener,
                AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(LavaSnapshotStrategy.class);

    /** For the runner's log lines. */
    public static final String DESCRIPTION = "Asynchronous Lava snapshot";

    private final LavaInstance instance;
    private final StateTables tables;
    private final Map<String, HeapPriorityQueueSnapshotRestoreWrapper<?>> heapTimerStates;
    private final TypeSerializer<K> keySerializer;
    private final SnapshotContext context;
    private final boolean incremental;

    /**
     * @param heapTimerStates timers on the heap by state name, or empty; the backend's own map
     * @param job the job that takes the checkpoints
     * @param backendUid the restored checkpoint's identifier, or a new one
     * @param uploaded by checkpoint id, the uploads of checkpoints before the opening
     * @param lastCompletedCheckpointId the checkpoint in {@code uploaded} that is confirmed, or -1
     * @param transferThreads number of files or packs to upload at a time
     * @param packLimits which small files go into packs
     * @param incremental whether checkpoints may name files of earlier ones
     */
    public LavaSnapshotStrategy(
            LavaInstance instance,
            StateTables tables,
            Map<String, HeapPriorityQueueSnapshotRestoreWrapper<?>> heapTimerStates,
            TypeSerializer<K> keySerializer,
            KeyGroupRange keyGroupRange,
            LocalRecoveryConfig localRecovery,
            JobID job,
            UUID backendUid,
            SortedMap<Long, UploadedFiles> uploaded,
            long lastCompletedCheckpointId,
            int transferThreads,
            PackLimits packLimits,
            boolean incremental) {
        this.instance = instance;
        this.tables = tables;
        this.heapTimerStates = heapTimerStates;
        this.keySerializer = keySerializer;
        this.incremental = incremental;
        this.context =
                new SnapshotContext(
                        instance,
                        job,
                        backendUid,
                        keyGroupRange,
                        localRecovery,
                        new ParallelTransfer(transferThreads, "lava-upload"),
                        packLimits,
                        new UploadHistory(uploaded, lastCompletedCheckpointId));
    }

    @Override
    public LavaSnapshotResources syncPrepareResources(long checkpointId) throws Exception {
        long begin = System.nanoTime();
        if (tables.size() == 0 && heapTimerStates.isEmpty()) {
            return new LavaSnapshotResources(
                    null,
                    null,
                    Collections.emptyList(),
                    UploadHistory.Base.NONE,
                    TtlTime.UNKNOWN,
                    begin);
        }
        List<StateMetaInfoSnapshot> states =
                tables.all().stream()
                        .map(StateTable::metaInfo)
                        .map(metaInfo -> metaInfo.snapshot())
                        .collect(Collectors.toCollection(ArrayList::new));
        List<HeapPriorityQueueStateSnapshot<?>> heapTimers = new ArrayList<>();
        for (HeapPriorityQueueSnapshotRestoreWrapper<?> timers : heapTimerStates.values()) {
            states.add(timers.getMetaInfo().snapshot());
            heapTimers.add(timers.stateSnapshot());
        }
        // Without compression, because the files are already compressed.
        KeyedBackendSerializationProxy<K> stateMeta =
                new KeyedBackendSerializationProxy<>(keySerializer, states, false);
        UploadHistory.Base base = context.history().base();
        Snapshot snapshot = instance.db().getSnapshot();
        return new LavaSnapshotResources(
                snapshot, stateMeta, heapTimers, base, instance.db().time(), begin);
    }

    @Override
    public SnapshotResultSupplier<KeyedStateHandle> asyncSnapshot(
            LavaSnapshotResources resources,
            long checkpointId,
            long timestamp,
            CheckpointStreamFactory streamFactory,
            CheckpointOptions checkpointOptions) {
        if (resources.isEmpty()) {
            return registry -> SnapshotResult.empty();
        }
        SharingFilesStrategy sharing =
                checkpointOptions.getCheckpointType().getSharingFilesStrategy();
        UploadMode mode = UploadMode.of(sharing, incremental);
        if (mode.remembered()) {
            context.history()
                    .began(
                            checkpointId,
                            mode.reuses() ? resources.base() : UploadHistory.Base.NONE);
        }
        return new SnapshotOperation(context, resources, checkpointId, streamFactory, mode);
    }

    /** Later checkpoints may name files of this checkpoint from now on. */
    @Override
    public void notifyCheckpointComplete(long checkpointId) {
        context.history().completed(checkpointId);
        releaseKept();
    }

    /**
     * Flink has already deleted older local copies, or will have done so by the next checkpoint.
     */
    private void releaseKept() {
        ResourceGuard.Lease lease;
        try {
            lease = instance.resourceGuard().acquireResource();
        } catch (IOException closed) {
            return;
        }
        try {
            instance.files().releaseKept();
        } catch (IOException e) {
            LOG.warn(
                    "Freeing the space of deleted local copies failed. A later checkpoint tries"
                            + " again.",
                    e);
        } finally {
            lease.close();
        }
    }

    /** Files that only this checkpoint uploaded are lost. */
    @Override
    public void notifyCheckpointAborted(long checkpointId) {
        context.history().aborted(checkpointId);
    }

    /** The last written checkpoint or native savepoint, or null. */
    @Nullable
    public CheckpointFigures lastCheckpoint() {
        return context.last();
    }

    @Override
    public void close() {
        context.transfer().close();
    }
}
