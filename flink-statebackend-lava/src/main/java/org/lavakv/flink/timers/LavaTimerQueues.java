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
     * Goes over exactly the timers of this moment, by key group and in each by time: not over those
     * that are added meanwhile, and also over those that are removed or polled meanwhile. So does
     * Flink's {@code forEachEventTimeTimer} and {@code forEachProcessingTimeTimer}, whose consumers
     * may move timers. Its {@code remove} is not supported.
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
