// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.snapshot;

import java.util.List;
import javax.annotation.Nullable;
import org.apache.flink.runtime.state.KeyedBackendSerializationProxy;
import org.apache.flink.runtime.state.SnapshotResources;
import org.apache.flink.runtime.state.heap.HeapPriorityQueueStateSnapshot;
import org.lavakv.Snapshot;
import org.lavakv.TtlTime;

/**
 * The data that the synchronous part of a checkpoint passes to the asynchronous one: the pinned
 * snapshot, and the states' serializers as of that moment.
 *
 * <p>Threads: handed from one thread to the next. Ownership: owns the pin until {@link #release}.
 */
public final class LavaSnapshotResources implements SnapshotResources {

    @Nullable private final Snapshot snapshot;
    @Nullable private final KeyedBackendSerializationProxy<?> stateMeta;
    private final List<HeapPriorityQueueStateSnapshot<?>> heapTimers;
    private final UploadHistory.Base base;
    private final TtlTime ttlTime;
    private final long syncBegin;
    private final long syncNanos;

    /**
     * @param syncBegin when the synchronous part began, by {@link System#nanoTime}; it ends with
     *     this call
     */
    LavaSnapshotResources(
            @Nullable Snapshot snapshot,
            @Nullable KeyedBackendSerializationProxy<?> stateMeta,
            List<HeapPriorityQueueStateSnapshot<?>> heapTimers,
            UploadHistory.Base base,
            TtlTime ttlTime,
            long syncBegin) {
        this.snapshot = snapshot;
        if (snapshot != null) {
            // After a cancellation, Flink's asynchronous part may release this after the backend is
            // disposed.
            snapshot.expectLateClose();
        }
        this.stateMeta = stateMeta;
        this.heapTimers = heapTimers;
        this.base = base;
        this.ttlTime = ttlTime;
        this.syncBegin = syncBegin;
        this.syncNanos = System.nanoTime() - syncBegin;
    }

    /** Whether the backend had no state at all. */
    boolean isEmpty() {
        return snapshot == null;
    }

    Snapshot snapshot() {
        return snapshot;
    }

    KeyedBackendSerializationProxy<?> stateMeta() {
        return stateMeta;
    }

    /** Copies of the queues. They share the timers, which never change. */
    List<HeapPriorityQueueStateSnapshot<?>> heapTimers() {
        return heapTimers;
    }

    UploadHistory.Base base() {
        return base;
    }

    /** The engine's time for TTL, as of the snapshot. */
    TtlTime ttlTime() {
        return ttlTime;
    }

    /** When the synchronous part began, by {@link System#nanoTime}. */
    long syncBegin() {
        return syncBegin;
    }

    /** How long the synchronous part took. */
    long syncNanos() {
        return syncNanos;
    }

    /** Unpins the files. */
    @Override
    public void release() {
        if (snapshot != null) {
            snapshot.close();
        }
    }
}
