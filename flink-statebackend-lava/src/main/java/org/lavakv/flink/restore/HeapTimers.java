// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.restore;

import java.io.IOException;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.runtime.state.KeyExtractorFunction;
import org.apache.flink.runtime.state.Keyed;
import org.apache.flink.runtime.state.PriorityComparable;
import org.apache.flink.runtime.state.RegisteredPriorityQueueStateBackendMetaInfo;
import org.apache.flink.runtime.state.heap.HeapPriorityQueueElement;
import org.apache.flink.runtime.state.heap.HeapPriorityQueueSet;
import org.apache.flink.runtime.state.heap.HeapPriorityQueueSnapshotRestoreWrapper;
import org.apache.flink.runtime.state.metainfo.StateMetaInfoSnapshot;

/** Puts restored timers on the heap, for jobs that keep them there. Threads: one. */
final class HeapTimers {

    private final RestoreRequest<?> request;

    HeapTimers(RestoreRequest<?> request) {
        this.request = request;
    }

    /** Whether the job keeps timers on the heap. */
    boolean onHeap() {
        return request.heapTimers() != null;
    }

    /** The queue of a state, created if the state is new. */
    Queue queue(StateMetaInfoSnapshot state) {
        HeapPriorityQueueSnapshotRestoreWrapper<?> wrapper =
                request.heapTimerStates()
                        .computeIfAbsent(
                                state.getName(),
                                name ->
                                        create(
                                                new RegisteredPriorityQueueStateBackendMetaInfo<>(
                                                        state)));
        return new Queue(wrapper, request.keyGroupPrefixBytes());
    }

    @SuppressWarnings({"unchecked", "rawtypes"})
    private <T extends HeapPriorityQueueElement & PriorityComparable<? super T> & Keyed<?>>
            HeapPriorityQueueSnapshotRestoreWrapper<T> create(
                    RegisteredPriorityQueueStateBackendMetaInfo metaInfo) {
        HeapPriorityQueueSet<T> queue =
                request.heapTimers().create(metaInfo.getName(), metaInfo.getElementSerializer());
        return new HeapPriorityQueueSnapshotRestoreWrapper<>(
                queue,
                metaInfo,
                KeyExtractorFunction.forKeyedObjects(),
                request.keyGroupRange(),
                request.numberOfKeyGroups());
    }

    /** One state's timers. */
    static final class Queue {
        private final HeapPriorityQueueSet<HeapPriorityQueueElement> queue;
        private final TypeSerializer<HeapPriorityQueueElement> serializer;
        private final int keyGroupPrefixBytes;
        private final DataInputDeserializer in = new DataInputDeserializer();

        @SuppressWarnings("unchecked")
        private Queue(HeapPriorityQueueSnapshotRestoreWrapper<?> wrapper, int keyGroupPrefixBytes) {
            HeapPriorityQueueSnapshotRestoreWrapper<HeapPriorityQueueElement> timers =
                    (HeapPriorityQueueSnapshotRestoreWrapper<HeapPriorityQueueElement>) wrapper;
            this.queue = timers.getPriorityQueue();
            this.serializer = timers.getMetaInfo().getElementSerializer();
            this.keyGroupPrefixBytes = keyGroupPrefixBytes;
        }

        /** Adds a timer in the form of the engine and of savepoints: key group and timer. */
        void add(byte[] key) throws IOException {
            in.setBuffer(key, keyGroupPrefixBytes, key.length - keyGroupPrefixBytes);
            queue.add(serializer.deserialize(in));
        }
    }
}
