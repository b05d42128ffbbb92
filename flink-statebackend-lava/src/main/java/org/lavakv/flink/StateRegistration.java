// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink;

import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.api.common.state.StateTtlConfig;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.TypeSerializerSchemaCompatibility;
import org.apache.flink.runtime.state.RegisteredKeyValueStateBackendMetaInfo;
import org.apache.flink.runtime.state.StateSnapshotTransformer.StateSnapshotTransformFactory;
import org.apache.flink.runtime.state.ttl.TtlAwareSerializer;
import org.apache.flink.util.StateMigrationException;
import org.lavakv.LavaDBException;
import org.lavakv.flink.engine.EngineClock;
import org.lavakv.flink.engine.StateContext;
import org.lavakv.flink.engine.StateTable;
import org.lavakv.flink.engine.StateTables;
import org.lavakv.flink.state.SnapshotTransforms;
import org.lavakv.flink.state.StateMigration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Registers new states, restored states, and states that are registered again. Checks the new
 * serializers against the old ones, and rewrites values where the serializers require a migration.
 *
 * <p>Threads: the task's thread. Errors: {@link StateMigrationException} for incompatible
 * serializers.
 */
final class StateRegistration<K> {

    private static final Logger LOG = LoggerFactory.getLogger(StateRegistration.class);

    /** Leaves space for a timestamp, so that adding one never overflows. */
    private static final long TTL_MS_MAX = Long.MAX_VALUE / 4;

    private final StateContext<K> context;
    private final StateTables tables;
    private final EngineClock clock;

    StateRegistration(StateContext<K> context, StateTables tables, EngineClock clock) {
        this.context = context;
        this.tables = tables;
        this.clock = clock;
    }

    <N, SV, SEV> StateTable register(
            StateDescriptor<?, SV> descriptor,
            TypeSerializer<N> namespaceSerializer,
            StateSnapshotTransformFactory<SEV> transformFactory,
            boolean allowFutureMetadataUpdates)
            throws Exception {
        StateTable known = tables.get(descriptor.getName());
        RegisteredKeyValueStateBackendMetaInfo<N, SV> metaInfo =
                known == null
                        ? new RegisteredKeyValueStateBackendMetaInfo<>(
                                descriptor.getType(),
                                descriptor.getName(),
                                namespaceSerializer,
                                descriptor.getSerializer(),
                                StateSnapshotTransformFactory.noTransform())
                        : update(known, descriptor, namespaceSerializer);
        long ttlMs = 0;
        if (allowFutureMetadataUpdates) {
            // The serializers may still change, and with them the position of the timestamp.
            metaInfo = metaInfo.withSerializerUpgradesAllowed();
        } else {
            ttlMs = ttlMs(descriptor, metaInfo.getStateSerializer());
        }
        metaInfo.updateSnapshotTransformFactory(
                SnapshotTransforms.forCanonicalValues(
                        descriptor.getType(), transformFactory, metaInfo.getStateSerializer()));
        clock.tell();
        return tables.register(metaInfo, ttlMs > 0, ttlMs);
    }

    /** The TTL after which compactions may drop records; 0 if they may not drop any. */
    private static long ttlMs(StateDescriptor<?, ?> descriptor, TypeSerializer<?> serializer) {
        StateTtlConfig config = descriptor.getTtlConfig();
        boolean inCompaction =
                config.isEnabled()
                        && config.getCleanupStrategies().inRocksdbCompactFilter()
                        && TtlAwareSerializer.isSerializerTtlEnabled(serializer);
        return inCompaction ? Math.min(TTL_MS_MAX, config.getTimeToLive().toMillis()) : 0;
    }

    @SuppressWarnings("unchecked")
    private <N, SV> RegisteredKeyValueStateBackendMetaInfo<N, SV> update(
            StateTable known,
            StateDescriptor<?, SV> descriptor,
            TypeSerializer<N> namespaceSerializer)
            throws Exception {
        RegisteredKeyValueStateBackendMetaInfo<N, SV> metaInfo =
                (RegisteredKeyValueStateBackendMetaInfo<N, SV>) known.metaInfo();
        checkNamespace(metaInfo, namespaceSerializer);
        metaInfo.checkStateMetaInfo(descriptor);

        // An incompatible serializer is not available afterwards, but the message needs it.
        TypeSerializer<SV> previous = metaInfo.getStateSerializer();
        TypeSerializerSchemaCompatibility<SV> compatibility =
                metaInfo.updateStateSerializer(descriptor.getSerializer());
        if (compatibility.isIncompatible()) {
            throw new StateMigrationException(
                    "The new state serializer ("
                            + descriptor.getSerializer()
                            + ") must not be incompatible with the old state serializer ("
                            + previous
                            + ").");
        }
        if (compatibility.isCompatibleAfterMigration()) {
            migrate(known, metaInfo);
        }
        return metaInfo;
    }

    private static <N> void checkNamespace(
            RegisteredKeyValueStateBackendMetaInfo<N, ?> metaInfo, TypeSerializer<N> serializer)
            throws StateMigrationException {
        TypeSerializer<N> previous = metaInfo.getNamespaceSerializer();
        TypeSerializerSchemaCompatibility<N> compatibility =
                metaInfo.updateNamespaceSerializer(serializer);
        if (compatibility.isCompatibleAfterMigration() || compatibility.isIncompatible()) {
            throw new StateMigrationException(
                    "The new namespace serializer ("
                            + serializer
                            + ") must be compatible with the old namespace serializer ("
                            + previous
                            + ").");
        }
    }

    private <N, SV> void migrate(
            StateTable table, RegisteredKeyValueStateBackendMetaInfo<N, SV> metaInfo)
            throws StateMigrationException, LavaDBException {
        if (metaInfo.getStateType() == StateDescriptor.Type.MAP) {
            StateMigration.checkMapKeys(metaInfo);
        }
        LOG.info(
                "Rewriting the values of state '{}': the schema of its serializer has changed.",
                table.name());
        // No value may be judged by its timestamp while values exist in two forms.
        tables.register(metaInfo, false, 0);
        new StateMigration<>(context, table, metaInfo, clock).run();
    }
}
