// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.restore;

import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.apache.flink.runtime.state.CompositeKeySerializationUtils;
import org.apache.flink.runtime.state.RegisteredPriorityQueueStateBackendMetaInfo;
import org.apache.flink.runtime.state.metainfo.StateMetaInfoSnapshot;
import org.lavakv.LavaDBException;
import org.lavakv.TableHandle;
import org.lavakv.WriteBatch;
import org.lavakv.flink.checkpoint.HeapTimerFile;
import org.lavakv.flink.engine.LavaInstance;
import org.lavakv.flink.engine.StateTable;
import org.lavakv.flink.engine.StateTables;
import org.lavakv.flink.engine.TableCursor;

/**
 * Moves the timers of Lava's own checkpoints to where the job keeps timers now, from the engine's
 * tables and from files of timers on the heap: the job's configuration may change between two runs.
 *
 * <p>Threads: one. Errors: IOException also when the task is cancelled; an interrupted thread's
 * flag stays set.
 */
final class TimerRestore {

    private static final int PAGE_ENTRIES = 1024;
    private static final int BATCH_BYTES = 512 << 10;
    private static final int TIMERS_PER_CANCEL_CHECK = 256;
    private static final byte[] NO_VALUE = {};

    private final RestoreRequest<?> request;
    private final LavaInstance instance;
    private final StateTables tables;
    private final HeapTimers heap;
    private final Map<String, Target> targets = new HashMap<>();
    private final WriteBatch batch = new WriteBatch();
    private long visited;

    TimerRestore(RestoreRequest<?> request, LavaInstance instance, StateTables tables) {
        this.request = request;
        this.instance = instance;
        this.tables = tables;
        this.heap = new HeapTimers(request);
    }

    /**
     * Creates the container for one state's timers, and fills it with the timers from the engine.
     *
     * @param adopted names of the predecessors' tables
     */
    void register(StateMetaInfoSnapshot state, Set<String> adopted)
            throws IOException, LavaDBException {
        RegisteredPriorityQueueStateBackendMetaInfo<?> metaInfo =
                new RegisteredPriorityQueueStateBackendMetaInfo<>(state);
        if (!heap.onHeap()) {
            TableHandle table = tables.createOrGet(metaInfo).handle();
            targets.put(
                    state.getName(),
                    timer -> batch.put(table, timer, 0, timer.length, 0, NO_VALUE, 0, 0));
            return;
        }
        HeapTimers.Queue queue = heap.queue(state);
        targets.put(state.getName(), queue::add);
        if (adopted.contains(state.getName())) {
            StateTable table = tables.createOrGet(metaInfo);
            moveToHeap(table, queue);
            tables.drop(table.name());
        }
    }

    private void moveToHeap(StateTable table, HeapTimers.Queue queue)
            throws IOException, LavaDBException {
        TableCursor cursor = TableCursor.ofTable(instance, table.handle(), true, PAGE_ENTRIES);
        while (cursor.hasNext()) {
            cursor.next();
            checkNotCancelled();
            queue.add(cursor.copyKey());
        }
    }

    /** Adds those timers of a predecessor's file that belong to its shown key groups. */
    void read(Path file, Predecessor predecessor) throws IOException, LavaDBException {
        HeapTimerFile.read(
                file,
                (state, timer) -> {
                    checkNotCancelled();
                    Target target = targets.get(state);
                    if (target == null || timer.length <= request.keyGroupPrefixBytes()) {
                        throw new IOException(
                                "The checkpoint's timers and its description of the states"
                                        + " contradict each other about "
                                        + state
                                        + ". Restore from another checkpoint.");
                    }
                    int keyGroup =
                            CompositeKeySerializationUtils.extractKeyGroup(
                                    request.keyGroupPrefixBytes(), timer);
                    if (predecessor.shown().contains(keyGroup)) {
                        target.add(timer);
                        flush(BATCH_BYTES);
                    }
                });
        flush(1);
    }

    /** Called for each timer; checks only occasionally. */
    private void checkNotCancelled() throws IOException {
        visited++;
        if (visited % TIMERS_PER_CANCEL_CHECK == 0
                && (Thread.currentThread().isInterrupted()
                        || request.cancelStreamRegistry().isClosed())) {
            throw new IOException("Restoring timers was cancelled.");
        }
    }

    private void flush(int atBytes) throws IOException {
        if (batch.byteCount() < atBytes) {
            return;
        }
        try {
            instance.db().write(batch);
        } catch (LavaDBException e) {
            throw new IOException("Writing restored timers failed: " + e.getMessage(), e);
        }
        batch.clear();
    }

    /** Receives the timers of one state. */
    private interface Target {
        void add(byte[] timer) throws IOException;
    }
}
