// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.state;

import java.io.IOException;
import java.util.List;
import org.apache.flink.api.common.state.State;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.queryablestate.client.state.serialization.KvStateSerializer;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.apache.flink.runtime.state.RegisteredKeyValueStateBackendMetaInfo;
import org.apache.flink.runtime.state.internal.InternalKvState;
import org.apache.flink.runtime.state.ttl.TtlValue;
import org.apache.flink.util.FlinkRuntimeException;
import org.apache.flink.util.Preconditions;
import org.apache.flink.util.ResourceGuard;
import org.lavakv.LavaDB;
import org.lavakv.LavaDBException;
import org.lavakv.TableHandle;
import org.lavakv.WriteBatch;
import org.lavakv.flink.engine.CompositeKeyBuilder;
import org.lavakv.flink.engine.CursorViews;
import org.lavakv.flink.engine.NamespaceBytes;
import org.lavakv.flink.engine.StateContext;
import org.lavakv.flink.engine.StateTable;
import org.lavakv.flink.engine.ValueReader;

/**
 * The common part of the five kinds of state.
 *
 * <p>Threads: the task's thread; {@link #getSerializedValue} any thread. Ownership: belongs to its
 * backend and is unusable after the backend was disposed.
 *
 * <p>Errors: errors of the engine are thrown as {@link IOException} or, where the interface
 * declares no checked exception, as {@link FlinkRuntimeException}, naming the state. Use after
 * dispose throws {@link IllegalStateException}.
 */
public abstract class AbstractLavaState<K, N, V> implements InternalKvState<K, N, V>, State {

    private static final int OUTPUT_BYTES = 128;
    private static final int LARGE_OUTPUT_BYTES = 1 << 20;

    /** Larger values are not copied into a batch. */
    private static final int MERGED_BATCH_BYTES_MAX = 512 << 20;

    protected final StateContext<K> context;
    protected final LavaDB db;
    protected final CompositeKeyBuilder<K> keys;
    protected DataOutputSerializer out = new DataOutputSerializer(OUTPUT_BYTES);
    protected final ValueReader reader = new ValueReader();

    protected String name;
    protected TableHandle table;
    protected CursorViews views;
    protected TypeSerializer<V> valueSerializer;
    protected NamespaceBytes<N> namespace;
    private V defaultValue;

    protected AbstractLavaState(StateContext<K> context) {
        this.context = context;
        this.db = context.instance().db();
        this.keys = context.keys();
    }

    /**
     * Sets the most recently registered serializers and default value.
     *
     * @param table with a key-value meta info of this state's types
     */
    @SuppressWarnings("unchecked")
    void update(StateTable table, V defaultValue) {
        RegisteredKeyValueStateBackendMetaInfo<N, V> metaInfo =
                (RegisteredKeyValueStateBackendMetaInfo<N, V>) table.metaInfo();
        this.name = table.name();
        this.table = table.handle();
        this.views = context.instance().views(this.table);
        this.valueSerializer = Preconditions.checkNotNull(metaInfo.getStateSerializer());
        TypeSerializer<N> namespaceSerializer = metaInfo.getNamespaceSerializer();
        if (namespace == null || namespace.serializer() != namespaceSerializer) {
            N current = namespace == null ? null : namespace.get();
            namespace = new NamespaceBytes<>(context.keySerializer(), namespaceSerializer);
            namespace.set(current);
        }
        this.defaultValue = defaultValue;
    }

    @Override
    public TypeSerializer<K> getKeySerializer() {
        return context.keySerializer();
    }

    @Override
    public TypeSerializer<N> getNamespaceSerializer() {
        return namespace.serializer();
    }

    @Override
    public TypeSerializer<V> getValueSerializer() {
        return valueSerializer;
    }

    @Override
    public void setCurrentNamespace(N newNamespace) {
        namespace.set(newNamespace);
    }

    @Override
    public void clear() {
        try {
            int length = keys.withNamespace(namespace);
            views.beforeWrite(keys.buffer(), length, 0);
            db.delete(table, keys.buffer(), 0, length, 0);
        } catch (LavaDBException e) {
            throw new FlinkRuntimeException(failure("Clearing", e), e);
        }
    }

    @Override
    public StateIncrementalVisitor<K, N, V> getStateIncrementalVisitor(
            int recommendedMaxNumberOfReturnedRecords) {
        throw new UnsupportedOperationException(
                "Lava has no incremental visitor. Compactions remove expired state.");
    }

    @Override
    public byte[] getSerializedValue(
            byte[] serializedKeyAndNamespace,
            TypeSerializer<K> safeKeySerializer,
            TypeSerializer<N> safeNamespaceSerializer,
            TypeSerializer<V> safeValueSerializer)
            throws Exception {
        Preconditions.checkNotNull(safeValueSerializer);
        Tuple2<K, N> keyAndNamespace =
                KvStateSerializer.deserializeKeyAndNamespace(
                        serializedKeyAndNamespace, safeKeySerializer, safeNamespaceSerializer);
        CompositeKeyBuilder<K> builder =
                new CompositeKeyBuilder<>(safeKeySerializer, context.keyGroupPrefixBytes());
        builder.setKey(
                keyAndNamespace.f0,
                KeyGroupRangeAssignment.assignToKeyGroup(
                        keyAndNamespace.f0, context.numberOfKeyGroups()));
        NamespaceBytes<N> bytes = new NamespaceBytes<>(safeKeySerializer, safeNamespaceSerializer);
        bytes.set(keyAndNamespace.f1);
        ResourceGuard.Lease lease = leaseForQuery();
        try {
            return readSerialized(builder.copyWithNamespace(bytes), safeValueSerializer);
        } finally {
            lease.close();
        }
    }

    /**
     * A lease for the query server's threads, which must not use a database that is being closed.
     */
    private ResourceGuard.Lease leaseForQuery() throws IOException {
        try {
            return context.instance().resourceGuard().acquireResource();
        } catch (IOException e) {
            throw new IOException(
                    "The state '" + name + "' cannot be queried: its backend was closed.", e);
        }
    }

    /** The serialized value at this key for queryable state; called on any thread. */
    byte[] readSerialized(byte[] key, TypeSerializer<V> safeValueSerializer) throws Exception {
        return db.get(table, key, 0, key.length, 0);
    }

    /** Reads the value of the current key and namespace; negative if the key does not exist. */
    final int read() throws IOException {
        int length = keys.withNamespace(namespace);
        return read(keys.buffer(), length);
    }

    /** Reads the value of a key with its namespace; negative if the key does not exist. */
    final int read(byte[] key, int length) throws IOException {
        try {
            return reader.read(db, table, key, length, 0);
        } catch (LavaDBException e) {
            throw new IOException(failure("Reading", e), e);
        }
    }

    /** Writes {@link #out} as the value of the current key and namespace. */
    final void write() throws IOException {
        int length = keys.withNamespace(namespace);
        try {
            views.beforeWrite(keys.buffer(), length, 0);
            db.put(table, keys.buffer(), 0, length, 0, out.getSharedBuffer(), 0, out.length());
        } catch (LavaDBException e) {
            throw new IOException(failure("Writing", e), e);
        } finally {
            written();
        }
    }

    /** The current key with the current namespace; a new array. */
    final byte[] copyKey() {
        return keys.copyWithNamespace(namespace);
    }

    /**
     * Writes {@link #out} as the value of a key, and deletes the values from which it was made.
     * Both happen in one batch, so a failure changes nothing. A value too large for a batch is
     * written before its sources are deleted.
     *
     * @param key with its namespace, like the sources
     * @param append whether the value is appended to the list at the key
     * @param sources do not contain the key itself
     */
    final void writeMerged(byte[] key, boolean append, List<byte[]> sources) throws IOException {
        WriteBatch batch = new WriteBatch();
        try {
            views.beforeWrite(key, key.length, 0);
            for (byte[] source : sources) {
                views.beforeWrite(source, source.length, 0);
                batch.delete(table, source, 0, source.length, 0);
            }
            byte[] value = out.getSharedBuffer();
            int length = out.length();
            if (length > MERGED_BATCH_BYTES_MAX) {
                if (append) {
                    db.append(table, key, 0, key.length, value, 0, length);
                } else {
                    db.put(table, key, 0, key.length, 0, value, 0, length);
                }
            } else if (append) {
                batch.append(table, key, 0, key.length, value, 0, length);
            } else {
                batch.put(table, key, 0, key.length, 0, value, 0, length);
            }
            db.write(batch);
        } catch (LavaDBException e) {
            throw new IOException(failure("Merging namespaces of", e), e);
        } finally {
            written();
        }
    }

    /** Deletes the values of keys with their namespaces in one batch. */
    final void deleteAll(List<byte[]> all) throws IOException {
        WriteBatch batch = new WriteBatch();
        try {
            for (byte[] key : all) {
                views.beforeWrite(key, key.length, 0);
                batch.delete(table, key, 0, key.length, 0);
            }
            db.write(batch);
        } catch (LavaDBException e) {
            throw new IOException(failure("Merging namespaces of", e), e);
        }
    }

    /** Called after every write of {@link #out}: one huge value must not keep its buffer. */
    final void written() {
        if (out.length() > LARGE_OUTPUT_BYTES) {
            out = new DataOutputSerializer(OUTPUT_BYTES);
        }
    }

    /**
     * Called before a value is written: informs the engine of the timestamp at which its TTL
     * begins.
     */
    final void observe(Object value) {
        if (value instanceof TtlValue) {
            context.clock().writes(((TtlValue<?>) value).getLastAccessTimestamp());
        }
    }

    final V defaultValue() {
        return defaultValue == null ? null : valueSerializer.copy(defaultValue);
    }

    final String failure(String doing, Exception cause) {
        return doing + " the state '" + name + "' failed: " + cause.getMessage();
    }
}
