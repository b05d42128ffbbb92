// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink;

import java.util.Iterator;
import java.util.Map;
import javax.annotation.Nullable;
import org.apache.flink.api.common.state.v2.StateFuture;
import org.apache.flink.api.common.state.v2.StateIterator;
import org.apache.flink.core.state.StateFutureUtils;
import org.apache.flink.runtime.state.internal.InternalMapState;
import org.apache.flink.runtime.state.v2.adaptor.CompleteStateIterator;
import org.apache.flink.runtime.state.v2.adaptor.MapStateAdaptor;
import org.apache.flink.util.FlinkRuntimeException;
import org.apache.flink.util.function.SupplierWithException;

/**
 * Flink's adaptor of a map, with asynchronous iterators that show exactly the entries as of the
 * call that asked for the iterator, whatever is written later. Flink's own adaptor queries the map
 * again when reading begins, and creates and abandons an iterator to find out whether the map is
 * empty.
 *
 * <p>Threads: as Flink calls it.
 */
final class LavaMapStateAdaptor<K, N, UK, UV> extends MapStateAdaptor<K, N, UK, UV> {

    private final InternalMapState<K, N, UK, UV> map;

    LavaMapStateAdaptor(InternalMapState<K, N, UK, UV> map) {
        super(map);
        this.map = map;
    }

    @Override
    public StateFuture<StateIterator<Map.Entry<UK, UV>>> asyncEntries() {
        return view(map::entries);
    }

    @Override
    public StateFuture<StateIterator<UK>> asyncKeys() {
        return view(map::keys);
    }

    @Override
    public StateFuture<StateIterator<UV>> asyncValues() {
        return view(map::values);
    }

    private static <T> StateFuture<StateIterator<T>> view(
            SupplierWithException<Iterable<T>, Exception> asked) {
        try {
            return StateFutureUtils.completedFuture(
                    new CompleteStateIterator<>(new View<>(asked.get())));
        } catch (Exception e) {
            throw new FlinkRuntimeException("Iterating over a map state failed.", e);
        }
    }

    /**
     * Creates its first iterator in the constructor, and returns this iterator to all callers until
     * one of them reads from it.
     */
    private static final class View<T> implements Iterable<T> {

        private final Iterable<T> source;
        @Nullable private Iterator<T> unread;

        View(Iterable<T> source) {
            this.source = source;
            this.unread = new First(source.iterator());
        }

        @Override
        public Iterator<T> iterator() {
            return unread == null ? source.iterator() : unread;
        }

        private final class First implements Iterator<T> {

            private final Iterator<T> iterator;

            First(Iterator<T> iterator) {
                this.iterator = iterator;
            }

            @Override
            public boolean hasNext() {
                return iterator.hasNext();
            }

            @Override
            public T next() {
                unread = null;
                return iterator.next();
            }

            @Override
            public void remove() {
                iterator.remove();
            }
        }
    }
}
