// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.timers;

import javax.annotation.Nonnull;
import org.apache.flink.runtime.state.KeyExtractorFunction;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.Keyed;
import org.apache.flink.runtime.state.PriorityComparable;
import org.apache.flink.runtime.state.PriorityComparator;
import org.apache.flink.runtime.state.heap.HeapPriorityQueueElement;
import org.apache.flink.runtime.state.heap.KeyGroupPartitionedPriorityQueue;
import org.apache.flink.util.CloseableIterator;
import org.lavakv.LavaDBException;

/**
 * The timers of one state: a {@link LavaTimerQueue} for each key group.
 *
 * <p>Threads: the task's thread. Errors: the store's.
 */
final class LavaTimerQueues<
                T extends HeapPriorityQueueElement & PriorityComparable<? super T> & Keyed<?>>
        extends KeyGroupPartitionedPriorityQueue<T, LavaTimerQueue<T>> {

    private static final int FIRST_PAGE_ENTRIES = 128;

    private final TimerStore<T> store;

    LavaTimerQueues(
            TimerStore<T> store,
            PartitionQueueSetFactory<T, LavaTimerQueue<T>> queues,
            KeyGroupRange keyGroupRange,
            int numberOfKeyGroups) {
        super(
                KeyExtractorFunction.forKeyedObjects(),
                PriorityComparator.forPriorityComparableObjects(),
                queues,
                keyGroupRange,
                numberOfKeyGroups);
        this.store = store;
    }

    /**
     * Visits exactly the timers as of this call, by key group and in each by time. Timers added
     * later are missing; timers removed or polled later are included. The same applies to Flink's
     * {@code forEachEventTimeTimer} and {@code forEachProcessingTimeTimer}, whose consumers may
     * change timers. {@code remove} is not supported.
     */
    @Nonnull
    @Override
    public CloseableIterator<T> iterator() {
        try {
            return new TimerIterator<>(store, store.viewOfAll(FIRST_PAGE_ENTRIES));
        } catch (LavaDBException e) {
            throw store.failure("Iterating over", e);
        }
    }
}
