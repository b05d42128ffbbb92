// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.timers;

import java.util.NoSuchElementException;
import org.apache.flink.util.CloseableIterator;
import org.lavakv.LavaDBException;
import org.lavakv.flink.engine.TableCursor;

/**
 * Iterates over the elements of a cursor: those of the moment at which the cursor was made a view,
 * or, over any other cursor, also elements that are added ahead of it. Does not support removal,
 * like the iterators of Flink's own queues.
 *
 * <p>Threads: the task's thread. Errors: the store's.
 */
final class TimerIterator<E> implements CloseableIterator<E> {

    private final TimerStore<E> store;
    private final TableCursor cursor;

    TimerIterator(TimerStore<E> store, TableCursor cursor) {
        this.store = store;
        this.cursor = cursor;
    }

    @Override
    public boolean hasNext() {
        try {
            return cursor.hasNext();
        } catch (LavaDBException e) {
            throw store.failure("Iterating over", e);
        }
    }

    @Override
    public E next() {
        if (!hasNext()) {
            throw new NoSuchElementException();
        }
        try {
            cursor.next();
        } catch (LavaDBException e) {
            throw store.failure("Iterating over", e);
        }
        return store.deserialize(cursor.copyKey());
    }

    @Override
    public void close() {
        cursor.close();
    }
}
