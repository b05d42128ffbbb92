// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.state;

import java.io.IOException;
import java.util.AbstractMap;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.base.MapSerializer;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.queryablestate.client.state.serialization.KvStateSerializer;
import org.apache.flink.runtime.state.internal.InternalMapState;
import org.apache.flink.util.FlinkRuntimeException;
import org.apache.flink.util.Preconditions;
import org.lavakv.LavaDBException;
import org.lavakv.ScanPage;
import org.lavakv.Snapshot;
import org.lavakv.WriteBatch;
import org.lavakv.flink.engine.LentPage;
import org.lavakv.flink.engine.StateContext;
import org.lavakv.flink.engine.StateTable;
import org.lavakv.flink.engine.TableCursor;

/**
 * {@link org.apache.flink.api.common.state.MapState} on the engine, with one record for each entry.
 * The record's value starts with one byte that marks null. Queries for existence and keys read no
 * values. A clear is one prefix delete.
 */
final class LavaMapState<K, N, UK, UV> extends AbstractLavaState<K, N, Map<UK, UV>>
        implements InternalMapState<K, N, UK, UV> {

    private static final int BATCH_BYTES_MAX = 1 << 20;
    private static final int QUERY_PAGE_ENTRIES = 4096;
    private static final int QUERY_PAGE_BYTES = 1 << 20;

    /**
     * A batch that grew for one large value must not occupy memory for the rest of the state's
     * life.
     */
    private static final int KEPT_BATCH_BYTES_MAX = 4 << 20;

    private WriteBatch batch = new WriteBatch();
    private TypeSerializer<UK> userKeySerializer;
    private TypeSerializer<UV> userValueSerializer;
    private final LentPage lentPage = new LentPage();

    LavaMapState(StateContext<K> context) {
        super(context);
    }

    @Override
    void update(StateTable table, Map<UK, UV> defaultValue) {
        super.update(table, defaultValue);
        Preconditions.checkState(
                valueSerializer instanceof MapSerializer, "Unexpected serializer type.");
        MapSerializer<UK, UV> serializer = (MapSerializer<UK, UV>) valueSerializer;
        userKeySerializer = serializer.getKeySerializer();
        userValueSerializer = serializer.getValueSerializer();
    }

    @Override
    public UV get(UK userKey) throws IOException {
        int prefix = keys.withNamespace(namespace);
        int length = keys.withUserKey(userKey, userKeySerializer);
        try {
            int valueLength = reader.read(db, table, keys.buffer(), length, prefix);
            return valueLength < 0 ? null : userValue(reader.input(0, valueLength));
        } catch (LavaDBException e) {
            throw new IOException(failure("Reading", e), e);
        }
    }

    private UV userValue(DataInputDeserializer input) throws IOException {
        return input.readBoolean() ? null : userValueSerializer.deserialize(input);
    }

    @Override
    public void put(UK userKey, UV userValue) throws IOException {
        writeUserValue(userValue);
        int prefix = keys.withNamespace(namespace);
        int length = keys.withUserKey(userKey, userKeySerializer);
        putSerialized(keys.buffer(), length, prefix);
    }

    private void writeUserValue(UV userValue) throws IOException {
        observe(userValue);
        out.clear();
        out.writeBoolean(userValue == null);
        if (userValue != null) {
            userValueSerializer.serialize(userValue, out);
        }
    }

    private void putSerialized(byte[] key, int length, int prefix) throws IOException {
        try {
            views.beforeWrite(key, length, prefix);
            db.put(table, key, 0, length, prefix, out.getSharedBuffer(), 0, out.length());
        } catch (LavaDBException e) {
            throw new IOException(failure("Writing", e), e);
        } finally {
            written();
        }
    }

    @Override
    public void putAll(Map<UK, UV> map) throws IOException {
        if (map == null) {
            return;
        }
        batch.clear();
        try {
            for (Map.Entry<UK, UV> entry : map.entrySet()) {
                writeUserValue(entry.getValue());
                UK userKey = entry.getKey();
                // Built for each entry, because the given map may access another state during the
                // iteration.
                int prefix = keys.withNamespace(namespace);
                int length = keys.withUserKey(userKey, userKeySerializer);
                views.beforeWrite(keys.buffer(), length, prefix);
                batch.put(
                        table,
                        keys.buffer(),
                        0,
                        length,
                        prefix,
                        out.getSharedBuffer(),
                        0,
                        out.length());
                if (batch.byteCount() >= BATCH_BYTES_MAX) {
                    db.write(batch);
                    emptyBatch();
                }
            }
            if (batch.count() > 0) {
                db.write(batch);
            }
        } catch (LavaDBException e) {
            throw new IOException(failure("Writing", e), e);
        } finally {
            emptyBatch();
            written();
        }
    }

    private void emptyBatch() {
        if (batch.byteCount() > KEPT_BATCH_BYTES_MAX) {
            batch = new WriteBatch();
        } else {
            batch.clear();
        }
    }

    @Override
    public void remove(UK userKey) throws IOException {
        int prefix = keys.withNamespace(namespace);
        int length = keys.withUserKey(userKey, userKeySerializer);
        deleteSerialized(keys.buffer(), length, prefix);
    }

    private void deleteSerialized(byte[] key, int length, int prefix) throws IOException {
        try {
            views.beforeWrite(key, length, prefix);
            db.delete(table, key, 0, length, prefix);
        } catch (LavaDBException e) {
            throw new IOException(failure("Removing from", e), e);
        }
    }

    @Override
    public boolean contains(UK userKey) throws IOException {
        int prefix = keys.withNamespace(namespace);
        int length = keys.withUserKey(userKey, userKeySerializer);
        try {
            return db.contains(table, keys.buffer(), 0, length, prefix);
        } catch (LavaDBException e) {
            throw new IOException(failure("Reading", e), e);
        }
    }

    /**
     * Each of its iterators shows the map as of the iterator's creation, see {@link MapIterator}.
     */
    @Override
    public Iterable<Map.Entry<UK, UV>> entries() {
        byte[] prefix = keys.copyWithNamespace(namespace);
        return () -> new EntryIterator(prefix);
    }

    /** Iterates over the entries of this moment. See {@link MapIterator}. */
    @Override
    public Iterator<Map.Entry<UK, UV>> iterator() {
        return new EntryIterator(keys.copyWithNamespace(namespace));
    }

    /** Each iterator shows the keys of the moment at which it was created. */
    @Override
    public Iterable<UK> keys() {
        byte[] prefix = keys.copyWithNamespace(namespace);
        return () -> new KeyIterator(prefix);
    }

    /** Each iterator shows the values of the moment at which it was created. */
    @Override
    public Iterable<UV> values() {
        byte[] prefix = keys.copyWithNamespace(namespace);
        return () -> new ValueIterator(prefix);
    }

    @Override
    public boolean isEmpty() {
        try {
            int prefix = keys.withNamespace(namespace);
            return !db.containsPrefix(table, keys.buffer(), 0, prefix);
        } catch (LavaDBException e) {
            throw new FlinkRuntimeException(failure("Reading", e), e);
        }
    }

    @Override
    public void clear() {
        try {
            int prefix = keys.withNamespace(namespace);
            views.beforeDeletePrefix(keys.buffer(), prefix);
            db.deletePrefix(table, keys.buffer(), 0, prefix);
        } catch (LavaDBException e) {
            throw new FlinkRuntimeException(failure("Clearing", e), e);
        }
    }

    /**
     * Reads the map as of one moment, although the task continues to write: from one page, or from
     * a snapshot. Frequent queries of large maps cause frequent seals and flushes.
     */
    @Override
    byte[] readSerialized(byte[] prefix, TypeSerializer<Map<UK, UV>> safeValueSerializer)
            throws Exception {
        TableCursor cursor = queryCursor(prefix);
        if (cursor.isOnLastPage()) {
            return serialized(cursor, (MapSerializer<UK, UV>) safeValueSerializer);
        }
        try (Snapshot snapshot = db.getSnapshot()) {
            return serialized(
                    queryCursor(prefix).at(snapshot), (MapSerializer<UK, UV>) safeValueSerializer);
        }
    }

    private TableCursor queryCursor(byte[] prefix) {
        return TableCursor.ofPrefix(db, table, prefix, false, QUERY_PAGE_ENTRIES, new ScanPage())
                .withFirstPageBytes(QUERY_PAGE_BYTES);
    }

    private byte[] serialized(TableCursor cursor, MapSerializer<UK, UV> serializer)
            throws IOException, LavaDBException {
        TypeSerializer<UK> safeKeys = serializer.getKeySerializer();
        TypeSerializer<UV> safeValues = serializer.getValueSerializer();
        DataInputDeserializer input = new DataInputDeserializer();
        List<Map.Entry<UK, UV>> entries = new ArrayList<>();
        while (cursor.hasNext()) {
            cursor.next();
            input.setBuffer(cursor.buffer(), cursor.keyOffset(), cursor.keyLength());
            UK key = safeKeys.deserialize(input);
            input.setBuffer(cursor.buffer(), cursor.valueOffset(), cursor.valueLength());
            UV value = input.readBoolean() ? null : safeValues.deserialize(input);
            entries.add(new AbstractMap.SimpleEntry<>(key, value));
        }
        // Null for an empty map, like other backends.
        return entries.isEmpty()
                ? null
                : KvStateSerializer.serializeMap(entries, safeKeys, safeValues);
    }

    /**
     * Iterates over the map of one key and namespace, even if the current ones change later. It
     * shows exactly the entries as of its creation, with their values of that moment: entries added
     * later are missing; entries removed, updated or cleared later are included.
     *
     * <p>{@link #remove} removes the entry that {@link #next} returned last from the map, even if
     * the entry was changed meanwhile. An entry's {@code setValue} writes the entry, even if it was
     * removed from the map meanwhile, but not after this iterator removed it. Iterators may be
     * abandoned at any time.
     */
    private abstract class MapIterator<T> implements Iterator<T> {

        private static final int FIRST_PAGE_ENTRIES = 16;

        final byte[] prefix;
        final DataInputDeserializer input = new DataInputDeserializer();
        private final TableCursor cursor;
        private boolean removable;

        MapIterator(byte[] prefix, boolean keysOnly) {
            this.prefix = prefix;
            ScanPage page = lentPage.take();
            try {
                this.cursor =
                        TableCursor.ofPrefix(db, table, prefix, keysOnly, FIRST_PAGE_ENTRIES, page)
                                .asView(views);
            } catch (LavaDBException e) {
                throw new FlinkRuntimeException(failure("Iterating over", e), e);
            }
            lentPage.lentTo(cursor);
        }

        @Override
        public boolean hasNext() {
            try {
                boolean more = cursor.hasNext();
                if (!more) {
                    lentPage.giveBack(cursor);
                }
                return more;
            } catch (LavaDBException e) {
                throw new FlinkRuntimeException(failure("Iterating over", e), e);
            }
        }

        @Override
        public T next() {
            try {
                cursor.next();
                removable = true;
                return read(cursor);
            } catch (LavaDBException | IOException e) {
                throw new FlinkRuntimeException(failure("Iterating over", e), e);
            }
        }

        abstract T read(TableCursor cursor) throws IOException;

        final UK readKey(TableCursor cursor) throws IOException {
            input.setBuffer(cursor.buffer(), cursor.keyOffset(), cursor.keyLength());
            return userKeySerializer.deserialize(input);
        }

        final UV readValue(TableCursor cursor) throws IOException {
            input.setBuffer(cursor.buffer(), cursor.valueOffset(), cursor.valueLength());
            return userValue(input);
        }

        @Override
        public void remove() {
            if (!removable) {
                throw new IllegalStateException(
                        "The remove operation must be called after a valid next operation.");
            }
            removable = false;
            byte[] key = cursor.copyKey();
            try {
                deleteSerialized(key, key.length, prefix.length);
            } catch (IOException e) {
                throw new FlinkRuntimeException(e.getMessage(), e);
            }
        }
    }

    /** Iterates over the keys of its moment, and reads no values. */
    private final class KeyIterator extends MapIterator<UK> {

        KeyIterator(byte[] prefix) {
            super(prefix, true);
        }

        @Override
        UK read(TableCursor cursor) throws IOException {
            return readKey(cursor);
        }
    }

    /** Iterates over the values of its moment. */
    private final class ValueIterator extends MapIterator<UV> {

        ValueIterator(byte[] prefix) {
            super(prefix, false);
        }

        @Override
        UV read(TableCursor cursor) throws IOException {
            return readValue(cursor);
        }
    }

    /**
     * Iterates over the entries of its moment. An entry keeps its value of then, or the value set.
     */
    private final class EntryIterator extends MapIterator<Map.Entry<UK, UV>> {

        private LavaMapEntry current;

        EntryIterator(byte[] prefix) {
            super(prefix, false);
        }

        @Override
        Map.Entry<UK, UV> read(TableCursor cursor) throws IOException {
            UK key = readKey(cursor);
            current = new LavaMapEntry(prefix, key, readValue(cursor));
            return current;
        }

        @Override
        public void remove() {
            super.remove();
            current.removed = true;
        }
    }

    /** An entry whose {@link #setValue} writes through. */
    private final class LavaMapEntry implements Map.Entry<UK, UV> {

        private final byte[] prefix;
        private final UK key;
        private UV value;
        private boolean removed;

        LavaMapEntry(byte[] prefix, UK key, UV value) {
            this.prefix = prefix;
            this.key = key;
            this.value = value;
        }

        @Override
        public UK getKey() {
            return key;
        }

        @Override
        public UV getValue() {
            return value;
        }

        @Override
        public UV setValue(UV newValue) {
            if (removed) {
                throw new IllegalStateException(
                        "The value of an entry cannot be set after its iterator removed it.");
            }
            UV oldValue = value;
            try {
                DataOutputSerializer whole = new DataOutputSerializer(prefix.length + 32);
                whole.write(prefix);
                userKeySerializer.serialize(key, whole);
                writeUserValue(newValue);
                putSerialized(whole.getSharedBuffer(), whole.length(), prefix.length);
            } catch (IOException e) {
                throw new FlinkRuntimeException(failure("Writing", e), e);
            }
            value = newValue;
            return oldValue;
        }

        @Override
        public boolean equals(Object other) {
            if (!(other instanceof Map.Entry)) {
                return false;
            }
            Map.Entry<?, ?> that = (Map.Entry<?, ?>) other;
            return Objects.equals(key, that.getKey()) && Objects.equals(value, that.getValue());
        }

        @Override
        public int hashCode() {
            return Objects.hashCode(key) ^ Objects.hashCode(value);
        }

        @Override
        public String toString() {
            return key + "=" + value;
        }
    }
}
