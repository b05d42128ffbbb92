// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.timers;

import java.util.Arrays;
import java.util.Collection;
import java.util.TreeSet;
import javax.annotation.Nonnull;
import javax.annotation.Nullable;
import org.apache.flink.runtime.state.InternalPriorityQueue;
import org.apache.flink.runtime.state.heap.AbstractHeapPriorityQueueElement;
import org.apache.flink.runtime.state.heap.HeapPriorityQueueElement;
import org.apache.flink.util.CloseableIterator;
import org.lavakv.LavaDBException;
import org.lavakv.flink.engine.TableCursor;

/**
 * The timers of one key group: all of them in the engine, and the first ones in memory as well.
 *
 * <p>Invariants: the head holds the smallest elements without a gap. While the head is empty,
 * either the queue is empty, or all of the engine's elements come after {@code polledUpTo}.
 * Therefore a refill starts after the polled elements and does not scan their tombstones.
 *
 * <p>Threads: the task's thread. Errors: the store's; the queue is then unchanged.
 */
final class LavaTimerQueue<E extends HeapPriorityQueueElement>
        extends AbstractHeapPriorityQueueElement implements InternalPriorityQueue<E> {

    private final TimerStore<E> store;
    private final int keyGroup;
    private final byte[] keyGroupBytes;
    private final int headMax;
    private final TreeSet<byte[]> head = new TreeSet<>(Arrays::compareUnsigned);

    /** Whether the head contains all elements of the engine. */
    private boolean headIsAll;

    /** The key after which the next refill starts; null for the key group's begin. */
    @Nullable private byte[] polledUpTo;

    /** The first element as an object, once it was requested. */
    @Nullable private E first;

    LavaTimerQueue(TimerStore<E> store, int keyGroup, int headMax) {
        this.store = store;
        this.keyGroup = keyGroup;
        this.keyGroupBytes = store.keyGroupBytes(keyGroup);
        this.headMax = headMax;
    }

    @Nullable
    @Override
    public E peek() {
        refillIfEmpty();
        if (first == null && !head.isEmpty()) {
            first = store.deserialize(head.first());
        }
        return first;
    }

    @Nullable
    @Override
    public E poll() {
        E element = peek();
        if (element != null) {
            byte[] key = head.first();
            store.delete(key);
            head.pollFirst();
            first = null;
            polledUpTo = key;
        }
        return element;
    }

    @Override
    public boolean add(@Nonnull E toAdd) {
        refillIfEmpty();
        byte[] key = store.serialize(keyGroupBytes, toAdd);
        boolean inHead =
                head.isEmpty()
                        || Arrays.compareUnsigned(key, head.last()) < 0
                        || headIsAll && head.size() < headMax;
        if (!inHead) {
            store.put(key);
            if (headIsAll && !head.contains(key)) {
                headIsAll = false;
            }
            return false;
        }
        if (!head.add(key)) {
            return false;
        }
        try {
            store.put(key);
        } catch (RuntimeException e) {
            // The timer is too long, or the task was cancelled while the write waited.
            head.remove(key);
            throw e;
        }
        if (head.size() > headMax) {
            head.pollLast();
            headIsAll = false;
        }
        if (head.first() == key) {
            first = null;
            return true;
        }
        return false;
    }

    @Override
    public boolean remove(@Nonnull E toRemove) {
        refillIfEmpty();
        if (head.isEmpty()) {
            return false;
        }
        byte[] key = store.serialize(keyGroupBytes, toRemove);
        byte[] oldFirst = head.first();
        store.delete(key);
        head.remove(key);
        if (!head.isEmpty() && head.first() == oldFirst) {
            return false;
        }
        first = null;
        if (head.isEmpty()) {
            polledUpTo = oldFirst;
        }
        return true;
    }

    @Override
    public void addAll(@Nullable Collection<? extends E> toAdd) {
        if (toAdd != null) {
            toAdd.forEach(this::add);
        }
    }

    @Override
    public boolean isEmpty() {
        refillIfEmpty();
        return head.isEmpty();
    }

    @Override
    public int size() {
        if (headIsAll) {
            return head.size();
        }
        int size = 0;
        TableCursor cursor = store.behind(keyGroup, refillFrom(), 1024, true);
        try {
            while (cursor.hasNext()) {
                cursor.next();
                size++;
            }
        } catch (LavaDBException e) {
            throw store.failure("Counting", e);
        }
        return size;
    }

    /**
     * For Flink's reading of a single key group. The iterator over all key groups is that of {@link
     * LavaTimerQueues}. This iterator may visit timers that are added meanwhile.
     */
    @Nonnull
    @Override
    public CloseableIterator<E> iterator() {
        return new TimerIterator<>(store, store.behind(keyGroup, refillFrom(), headMax, false));
    }

    // Elements before the head's elements may have been added again after others were polled.
    // Therefore the polled position is a valid start only while the head is empty.
    @Nullable
    private byte[] refillFrom() {
        return head.isEmpty() ? polledUpTo : null;
    }

    private void refillIfEmpty() {
        if (!head.isEmpty() || headIsAll) {
            return;
        }
        TableCursor cursor = store.behind(keyGroup, polledUpTo, headMax + 1, true);
        try {
            while (head.size() < headMax && cursor.hasNext()) {
                cursor.next();
                head.add(cursor.copyKey());
            }
            headIsAll = !cursor.hasNext();
        } catch (LavaDBException e) {
            throw store.failure("Reading", e);
        }
    }
}
