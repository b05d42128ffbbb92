// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.state;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Spliterator;
import java.util.Spliterators;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.runtime.state.CompositeKeySerializationUtils;
import org.apache.flink.runtime.state.RegisteredKeyValueStateBackendMetaInfo;
import org.apache.flink.util.FlinkRuntimeException;
import org.lavakv.LavaDBException;
import org.lavakv.flink.engine.LavaInstance;
import org.lavakv.flink.engine.NamespaceBytes;
import org.lavakv.flink.engine.StateTable;
import org.lavakv.flink.engine.TableCursor;

/**
 * Lazy streams of the keys, or keys and namespaces, for which states have entries. They read keys
 * only, by pages. States may change while a stream is consumed. The stream shows exactly the keys
 * as of the moment at which it was made: keys added later are missing, keys removed later are
 * included.
 *
 * <p>Threads: the task's thread. Ownership: closing a stream frees its resources; the garbage
 * collector finds an abandoned stream. Errors: {@link FlinkRuntimeException} when the stream is
 * made and while it is consumed.
 */
public final class KeyStreams {

    private static final int FIRST_PAGE_ENTRIES = 128;

    private KeyStreams() {}

    /** The keys with entries in any of the states under the namespace, each once. */
    public static <K, N> Stream<K> keys(
            LavaInstance instance,
            TypeSerializer<K> keySerializer,
            List<StateTable> tables,
            N namespace) {
        List<KeyCursor<K>> cursors = new ArrayList<>(tables.size());
        byte[] first = null;
        for (StateTable table : tables) {
            RegisteredKeyValueStateBackendMetaInfo<N, ?> metaInfo = metaInfo(table);
            TypeSerializer<N> serializer = metaInfo.getNamespaceSerializer();
            boolean lengths =
                    CompositeKeySerializationUtils.isAmbiguousKeyPossible(
                            keySerializer, serializer);
            byte[] bytes = NamespaceBytes.serialize(namespace, serializer, lengths);
            if (first != null && !Arrays.equals(first, bytes)) {
                throw new FlinkRuntimeException(
                        "Key namespaces are different for states " + names(tables));
            }
            first = bytes;
            cursors.add(new KeyCursor<>(instance, table, keySerializer, lengths, bytes));
        }
        return stream(new KeyIterator<>(cursors))
                .onClose(() -> cursors.forEach(cursor -> cursor.cursor.close()));
    }

    /** The pairs of key and namespace with entries in the state, each once. */
    public static <K, N> Stream<Tuple2<K, N>> keysAndNamespaces(
            LavaInstance instance, TypeSerializer<K> keySerializer, StateTable table) {
        RegisteredKeyValueStateBackendMetaInfo<N, ?> metaInfo = metaInfo(table);
        KeyAndNamespaceIterator<K, N> iterator =
                new KeyAndNamespaceIterator<>(
                        instance, table, keySerializer, metaInfo.getNamespaceSerializer());
        return stream(iterator).onClose(iterator.cursor::close);
    }

    private static TableCursor viewOf(LavaInstance instance, StateTable table) {
        try {
            return TableCursor.ofTable(instance, table.handle(), true, FIRST_PAGE_ENTRIES)
                    .asView(instance.views(table.handle()));
        } catch (LavaDBException e) {
            throw new FlinkRuntimeException(
                    "Reading the keys of the state '" + table.name() + "' failed.", e);
        }
    }

    @SuppressWarnings("unchecked")
    private static <N> RegisteredKeyValueStateBackendMetaInfo<N, ?> metaInfo(StateTable table) {
        return (RegisteredKeyValueStateBackendMetaInfo<N, ?>) table.metaInfo();
    }

    private static String names(List<StateTable> tables) {
        StringBuilder names = new StringBuilder("[");
        for (StateTable table : tables) {
            names.append(names.length() > 1 ? "," : "").append(table.name());
        }
        return names.append(']').toString();
    }

    private static <T> Stream<T> stream(Iterator<T> iterator) {
        return StreamSupport.stream(
                Spliterators.spliteratorUnknownSize(iterator, Spliterator.ORDERED), false);
    }

    /** The keys of one state under one namespace, in the order of their bytes, each once. */
    private static final class KeyCursor<K> {

        private final TableCursor cursor;
        private final TypeSerializer<K> keySerializer;
        private final int keyGroupPrefixBytes;
        private final boolean lengths;
        private final byte[] namespace;
        private final DataInputDeserializer input = new DataInputDeserializer();
        private byte[] key = {};
        private K value;
        private boolean exhausted;

        KeyCursor(
                LavaInstance instance,
                StateTable table,
                TypeSerializer<K> keySerializer,
                boolean lengths,
                byte[] namespace) {
            this.cursor = viewOf(instance, table);
            this.keySerializer = keySerializer;
            this.keyGroupPrefixBytes = instance.keyGroupPrefixBytes();
            this.lengths = lengths;
            this.namespace = namespace;
        }

        /** Key group and key, or null after the last one. */
        byte[] key() {
            return exhausted ? null : key;
        }

        /** The deserialized key: finding where the key ends deserializes it anyway. */
        K value() {
            return value;
        }

        void advance() throws LavaDBException, IOException {
            while (cursor.hasNext()) {
                cursor.next();
                byte[] buffer = cursor.buffer();
                int start = cursor.keyOffset();
                int length = cursor.keyLength();
                int body = start + keyGroupPrefixBytes;
                input.setBuffer(buffer, body, length - keyGroupPrefixBytes);
                K found = keySerializer.deserialize(input);
                int keyEnd = input.getPosition();
                if (lengths) {
                    CompositeKeySerializationUtils.readVariableIntBytes(input, keyEnd - body);
                }
                if (startsWithNamespace(buffer, input.getPosition(), start + length)
                        && !Arrays.equals(buffer, start, keyEnd, key, 0, key.length)) {
                    key = Arrays.copyOfRange(buffer, start, keyEnd);
                    value = found;
                    return;
                }
            }
            exhausted = true;
        }

        private boolean startsWithNamespace(byte[] buffer, int from, int end) {
            return end - from >= namespace.length
                    && Arrays.equals(
                            buffer, from, from + namespace.length, namespace, 0, namespace.length);
        }
    }

    /** Merges the sorted keys of several states. Returns each key of the stream's moment once. */
    private static final class KeyIterator<K> implements Iterator<K> {

        private final List<KeyCursor<K>> cursors;
        private byte[] last;
        private boolean started;

        KeyIterator(List<KeyCursor<K>> cursors) {
            this.cursors = cursors;
        }

        @Override
        public boolean hasNext() {
            return smallest() != null;
        }

        @Override
        public K next() {
            KeyCursor<K> cursor = smallest();
            if (cursor == null) {
                throw new NoSuchElementException();
            }
            last = cursor.key();
            return cursor.value();
        }

        /** The cursor whose key comes next; null after the last one. */
        private KeyCursor<K> smallest() {
            KeyCursor<K> smallest = null;
            try {
                for (KeyCursor<K> cursor : cursors) {
                    if (!started || last != null && Arrays.equals(last, cursor.key())) {
                        cursor.advance();
                    }
                    byte[] key = cursor.key();
                    if (key != null
                            && (smallest == null
                                    || Arrays.compareUnsigned(key, smallest.key()) < 0)) {
                        smallest = cursor;
                    }
                }
            } catch (LavaDBException | IOException e) {
                throw new FlinkRuntimeException("Reading the keys of states failed.", e);
            }
            started = true;
            last = null;
            return smallest;
        }
    }

    /** Returns each pair of the stream's moment once, in order. */
    private static final class KeyAndNamespaceIterator<K, N> implements Iterator<Tuple2<K, N>> {

        private final TableCursor cursor;
        private final TypeSerializer<K> keySerializer;
        private final TypeSerializer<N> namespaceSerializer;
        private final int keyGroupPrefixBytes;
        private final boolean lengths;
        private final DataInputDeserializer input = new DataInputDeserializer();
        private byte[] lastPrefix = {};
        private Tuple2<K, N> next;

        KeyAndNamespaceIterator(
                LavaInstance instance,
                StateTable table,
                TypeSerializer<K> keySerializer,
                TypeSerializer<N> namespaceSerializer) {
            this.cursor = viewOf(instance, table);
            this.keySerializer = keySerializer;
            this.namespaceSerializer = namespaceSerializer;
            this.keyGroupPrefixBytes = instance.keyGroupPrefixBytes();
            this.lengths =
                    CompositeKeySerializationUtils.isAmbiguousKeyPossible(
                            keySerializer, namespaceSerializer);
        }

        @Override
        public boolean hasNext() {
            try {
                while (next == null && cursor.hasNext()) {
                    cursor.next();
                    readCurrent();
                }
            } catch (LavaDBException | IOException e) {
                throw new FlinkRuntimeException("Reading the keys of a state failed.", e);
            }
            return next != null;
        }

        private void readCurrent() throws IOException {
            int start = cursor.keyOffset();
            input.setBuffer(
                    cursor.buffer(),
                    start + keyGroupPrefixBytes,
                    cursor.keyLength() - keyGroupPrefixBytes);
            K key = CompositeKeySerializationUtils.readKey(keySerializer, input, lengths);
            N namespace =
                    CompositeKeySerializationUtils.readNamespace(
                            namespaceSerializer, input, lengths);
            int end = input.getPosition();
            byte[] buffer = cursor.buffer();
            // A map has an entry for each of its keys.
            if (!Arrays.equals(buffer, start, end, lastPrefix, 0, lastPrefix.length)) {
                lastPrefix = Arrays.copyOfRange(buffer, start, end);
                next = new Tuple2<>(key, namespace);
            }
        }

        @Override
        public Tuple2<K, N> next() {
            if (!hasNext()) {
                throw new NoSuchElementException();
            }
            Tuple2<K, N> result = next;
            next = null;
            return result;
        }
    }
}
