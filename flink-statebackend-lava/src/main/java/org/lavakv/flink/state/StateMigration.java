// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.state;

import java.io.IOException;
import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.TypeSerializerSchemaCompatibility;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.base.MapSerializer;
import org.apache.flink.api.common.typeutils.base.MapSerializerSnapshot;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.runtime.execution.CancelTaskException;
import org.apache.flink.runtime.state.CompositeKeySerializationUtils;
import org.apache.flink.runtime.state.RegisteredKeyValueStateBackendMetaInfo;
import org.apache.flink.runtime.state.ttl.TtlAwareSerializer;
import org.apache.flink.runtime.state.ttl.TtlAwareSerializer.TtlAwareListSerializer;
import org.apache.flink.runtime.state.ttl.TtlAwareSerializer.TtlAwareMapSerializer;
import org.apache.flink.runtime.state.ttl.TtlTimeProvider;
import org.apache.flink.util.Preconditions;
import org.apache.flink.util.StateMigrationException;
import org.lavakv.LavaDBException;
import org.lavakv.flink.engine.ListSegments;
import org.lavakv.flink.engine.StateContext;
import org.lavakv.flink.engine.StateTable;
import org.lavakv.flink.engine.TableCursor;

/**
 * Rewrites all values of a state from the serializer that wrote them to a new one, and converts
 * between values with and without TTL. Keys do not change.
 *
 * <p>Threads: the task's thread, before the state is used; an interrupt ends the rewriting. Errors:
 * {@link StateMigrationException}, with a {@link CancelTaskException} as its cause after an
 * interrupt. The backend is then unusable, but the restored checkpoint is unchanged.
 */
public final class StateMigration<K, N, V> {

    private static final int PAGE_ENTRIES = 256;
    private static final int ENTRIES_PER_CANCEL_CHECK = 256;
    private static final int OUTPUT_BYTES = 512;
    private static final int LARGE_OUTPUT_BYTES = 1 << 20;

    private final StateContext<K> context;
    private final StateTable table;
    private final StateDescriptor.Type type;
    private final TypeSerializer<N> namespaceSerializer;
    private final TtlAwareSerializer<V, ?> prior;
    private final TtlAwareSerializer<V, ?> current;
    private final TtlTimeProvider timeProvider;
    private final DataInputDeserializer input = new DataInputDeserializer();
    private DataOutputSerializer output = new DataOutputSerializer(OUTPUT_BYTES);
    private final ListSegments segments = new ListSegments();

    /**
     * @param metaInfo the state's meta info after the new serializer was set; it contains the
     *     previous serializer
     */
    @SuppressWarnings("unchecked")
    public StateMigration(
            StateContext<K> context,
            StateTable table,
            RegisteredKeyValueStateBackendMetaInfo<N, V> metaInfo,
            TtlTimeProvider timeProvider) {
        this.context = context;
        this.table = table;
        this.type = metaInfo.getStateType();
        this.namespaceSerializer = metaInfo.getNamespaceSerializer();
        this.prior =
                (TtlAwareSerializer<V, ?>)
                        TtlAwareSerializer.wrapTtlAwareSerializer(
                                metaInfo.getPreviousStateSerializer());
        this.current =
                (TtlAwareSerializer<V, ?>)
                        TtlAwareSerializer.wrapTtlAwareSerializer(metaInfo.getStateSerializer());
        this.timeProvider = timeProvider;
    }

    /**
     * Refuses a change of a map's key serializer, because entries are found by their serialized
     * keys.
     *
     * @throws StateMigrationException when the keys' schema changed
     */
    public static void checkMapKeys(RegisteredKeyValueStateBackendMetaInfo<?, ?> metaInfo)
            throws StateMigrationException {
        TypeSerializerSnapshot<?> previous = metaInfo.getPreviousStateSerializerSnapshot();
        Preconditions.checkState(
                previous instanceof MapSerializerSnapshot,
                "The previous serializer snapshot should be a MapSerializerSnapshot.");
        TypeSerializer<?> serializer = metaInfo.getStateSerializer();
        Preconditions.checkState(
                serializer instanceof MapSerializer,
                "The new serializer should be a MapSerializer.");
        if (!keysCompatible(
                ((MapSerializerSnapshot<?, ?>) previous).getKeySerializerSnapshot(),
                ((MapSerializer<?, ?>) serializer).getKeySerializer())) {
            throw new StateMigrationException(
                    "The new serializer for a MapState requires state migration in order for the"
                            + " job to proceed, since the key schema has changed. However,"
                            + " migration for MapState currently only allows value schema"
                            + " evolutions.");
        }
    }

    @SuppressWarnings("unchecked")
    private static <U> boolean keysCompatible(
            TypeSerializerSnapshot<?> previous, TypeSerializer<U> serializer) {
        TypeSerializerSchemaCompatibility<U> compatibility =
                serializer
                        .snapshotConfiguration()
                        .resolveSchemaCompatibility((TypeSerializerSnapshot<U>) previous);
        return compatibility.isCompatibleAsIs();
    }

    /** Rewrites all values. */
    public void run() throws StateMigrationException {
        try {
            TableCursor cursor =
                    TableCursor.ofTable(context.instance(), table.handle(), false, PAGE_ENTRIES);
            for (long entries = 1; cursor.hasNext(); entries++) {
                cursor.next();
                migrate(cursor);
                if (entries % ENTRIES_PER_CANCEL_CHECK == 0) {
                    checkNotCancelled();
                }
            }
        } catch (StateMigrationException e) {
            throw e;
        } catch (Exception e) {
            throw new StateMigrationException(
                    "Error while trying to migrate the state '" + table.name() + "'.", e);
        }
    }

    private void checkNotCancelled() throws StateMigrationException {
        if (Thread.currentThread().isInterrupted()) {
            throw new StateMigrationException(
                    "Migrating the state '" + table.name() + "' was cancelled.",
                    new CancelTaskException("The task was cancelled."));
        }
    }

    private void migrate(TableCursor cursor) throws Exception {
        output.clear();
        int prefix = 0;
        if (type == StateDescriptor.Type.LIST) {
            migrateList(cursor);
        } else {
            input.setBuffer(cursor.buffer(), cursor.valueOffset(), cursor.valueLength());
            if (type == StateDescriptor.Type.MAP) {
                migrateMapValue();
                prefix = prefixLength(cursor);
            } else {
                current.migrateValueFromPriorSerializer(
                        prior, () -> prior.deserialize(input), output, timeProvider);
            }
        }
        put(cursor, prefix);
        if (output.length() > LARGE_OUTPUT_BYTES) {
            output = new DataOutputSerializer(OUTPUT_BYTES);
        }
    }

    private void put(TableCursor cursor, int prefix) throws LavaDBException {
        context.instance()
                .db()
                .put(
                        table.handle(),
                        cursor.buffer(),
                        cursor.keyOffset(),
                        cursor.keyLength(),
                        prefix,
                        output.getSharedBuffer(),
                        0,
                        output.length());
    }

    // The prefix of a map's entry ends with its namespace, whose end only the serializers know.
    private int prefixLength(TableCursor cursor) throws IOException {
        boolean lengths =
                CompositeKeySerializationUtils.isAmbiguousKeyPossible(
                        context.keySerializer(), namespaceSerializer);
        int skipped = context.keyGroupPrefixBytes();
        input.setBuffer(
                cursor.buffer(), cursor.keyOffset() + skipped, cursor.keyLength() - skipped);
        CompositeKeySerializationUtils.readKey(context.keySerializer(), input, lengths);
        CompositeKeySerializationUtils.readNamespace(namespaceSerializer, input, lengths);
        return cursor.keyLength() - input.available();
    }

    @SuppressWarnings("unchecked")
    private <UV> void migrateMapValue() throws IOException {
        TtlAwareSerializer<UV, ?> priorValues =
                ((TtlAwareMapSerializer<?, UV>) (TtlAwareSerializer<?, ?>) prior)
                        .getValueSerializer();
        TtlAwareSerializer<UV, ?> currentValues =
                ((TtlAwareMapSerializer<?, UV>) (TtlAwareSerializer<?, ?>) current)
                        .getValueSerializer();
        boolean isNull = input.readBoolean();
        output.writeBoolean(isNull);
        if (!isNull) {
            currentValues.migrateValueFromPriorSerializer(
                    priorValues, () -> priorValues.deserialize(input), output, timeProvider);
        }
    }

    private <E> void migrateList(TableCursor cursor) throws IOException {
        segments.reset(cursor.buffer(), cursor.valueOffset(), cursor.valueLength());
        while (segments.next()) {
            input.setBuffer(cursor.buffer(), segments.offset(), segments.length());
            if (segments.kind() == ListSegments.ELEMENT) {
                this.<E>migrateElement();
                continue;
            }
            while (input.available() > 0) {
                this.<E>migrateElement();
                if (input.available() > 0) {
                    input.readByte();
                }
            }
        }
    }

    @SuppressWarnings("unchecked")
    private <E> void migrateElement() throws IOException {
        TtlAwareSerializer<E, ?> priorElements =
                ((TtlAwareListSerializer<E>) (TtlAwareSerializer<?, ?>) prior)
                        .getElementSerializer();
        TtlAwareSerializer<E, ?> currentElements =
                ((TtlAwareListSerializer<E>) (TtlAwareSerializer<?, ?>) current)
                        .getElementSerializer();
        int mark = ListSegments.begin(output);
        currentElements.migrateValueFromPriorSerializer(
                priorElements, () -> priorElements.deserialize(input), output, timeProvider);
        ListSegments.end(output, mark, ListSegments.ELEMENT);
    }
}
