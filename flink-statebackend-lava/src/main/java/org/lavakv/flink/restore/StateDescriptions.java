// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.restore;

import java.io.IOException;
import java.util.List;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.TypeSerializerSchemaCompatibility;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.runtime.state.KeyedBackendSerializationProxy;
import org.apache.flink.runtime.state.StateSerializerProvider;
import org.apache.flink.runtime.state.metainfo.StateMetaInfoSnapshot;
import org.apache.flink.util.StateMigrationException;

/**
 * Reads Flink's descriptions of a checkpoint's states. Checks once that the job serializes keys as
 * the checkpoint does.
 *
 * <p>Threads: one.
 */
final class StateDescriptions<K> {

    private final ClassLoader userCodeClassLoader;
    private final StateSerializerProvider<K> keySerializerProvider;
    private boolean keySerializerChecked;

    StateDescriptions(
            ClassLoader userCodeClassLoader, StateSerializerProvider<K> keySerializerProvider) {
        this.userCodeClassLoader = userCodeClassLoader;
        this.keySerializerProvider = keySerializerProvider;
    }

    /**
     * Reads one description. Serializers of states may be absent: they are required only when the
     * state is registered.
     *
     * @throws StateMigrationException when the job's key serializer cannot read the keys without
     *     migration
     */
    List<StateMetaInfoSnapshot> read(byte[] stateMeta) throws IOException, StateMigrationException {
        return read(new DataInputDeserializer(stateMeta)).getStateMetaInfoSnapshots();
    }

    /** Reads a description with all other fields from a stream. */
    KeyedBackendSerializationProxy<K> read(DataInputView in)
            throws IOException, StateMigrationException {
        KeyedBackendSerializationProxy<K> proxy =
                new KeyedBackendSerializationProxy<>(userCodeClassLoader);
        proxy.read(in);
        if (!keySerializerChecked) {
            checkKeySerializer(proxy);
            keySerializerChecked = true;
        }
        return proxy;
    }

    private void checkKeySerializer(KeyedBackendSerializationProxy<K> proxy)
            throws StateMigrationException {
        // Requested before the check, because an incompatible serializer is not available
        // afterwards.
        TypeSerializer<K> current = keySerializerProvider.currentSchemaSerializer();
        TypeSerializerSchemaCompatibility<K> compatibility =
                keySerializerProvider.setPreviousSerializerSnapshotForRestoredState(
                        proxy.getKeySerializerSnapshot());
        if (compatibility.isCompatibleAfterMigration() || compatibility.isIncompatible()) {
            throw new StateMigrationException(
                    "The new key serializer ("
                            + current
                            + ") must be compatible with the previous key serializer ("
                            + keySerializerProvider.previousSchemaSerializer()
                            + ").");
        }
    }
}
