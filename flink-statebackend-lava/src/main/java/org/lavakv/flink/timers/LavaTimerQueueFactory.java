// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.timers;

import java.util.HashSet;
import java.util.Set;
import javax.annotation.Nonnull;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.TypeSerializerSchemaCompatibility;
import org.apache.flink.runtime.state.KeyExtractorFunction;
import org.apache.flink.runtime.state.KeyGroupedInternalPriorityQueue;
import org.apache.flink.runtime.state.Keyed;
import org.apache.flink.runtime.state.PriorityComparable;
import org.apache.flink.runtime.state.PriorityComparator;
import org.apache.flink.runtime.state.RegisteredPriorityQueueStateBackendMetaInfo;
import org.apache.flink.runtime.state.heap.HeapPriorityQueueElement;
import org.apache.flink.runtime.state.heap.KeyGroupPartitionedPriorityQueue;
import org.apache.flink.util.FlinkRuntimeException;
import org.apache.flink.util.Preconditions;
import org.apache.flink.util.StateMigrationException;
import org.lavakv.LavaDBException;
import org.lavakv.flink.engine.LavaInstance;
import org.lavakv.flink.engine.StateTable;
import org.lavakv.flink.engine.StateTables;

/**
 * Creates timer queues in the engine.
 *
 * <p>Threads: the task's thread. Ownership: the queues use the instance and end with it.
 */
public final class LavaTimerQueueFactory {

    private final LavaInstance instance;
    private final StateTables tables;
    private final int numberOfKeyGroups;
    private final int cacheSize;

    /** States whose serializer was determined since the backend was opened. */
    private final Set<String> current = new HashSet<>();

    /**
     * @param cacheSize number of timers of each key group that are kept in memory, at least 1
     */
    public LavaTimerQueueFactory(
            LavaInstance instance, StateTables tables, int numberOfKeyGroups, int cacheSize) {
        Preconditions.checkArgument(cacheSize > 0, "The cache size must be positive.");
        this.instance = instance;
        this.tables = tables;
        this.numberOfKeyGroups = numberOfKeyGroups;
        this.cacheSize = cacheSize;
    }

    /**
     * The queue of a state, created if the state is new.
     *
     * @param allowFutureMetadataUpdates whether the serializer may still change, as it does below
     *     Flink's changelog
     */
    public <T extends HeapPriorityQueueElement & PriorityComparable<? super T> & Keyed<?>>
            KeyGroupedInternalPriorityQueue<T> create(
                    String stateName,
                    TypeSerializer<T> elementSerializer,
                    boolean allowFutureMetadataUpdates) {
        StateTable table = register(stateName, elementSerializer, allowFutureMetadataUpdates);
        TimerStore<T> store = new TimerStore<>(instance, table.handle(), elementSerializer);
        return new LavaTimerQueues<>(
                store,
                new PartitionFactory<>(store, cacheSize),
                instance.keyGroupRange(),
                numberOfKeyGroups);
    }

    /** Creates the queue of each key group. */
    private static final class PartitionFactory<T extends HeapPriorityQueueElement>
            implements KeyGroupPartitionedPriorityQueue.PartitionQueueSetFactory<
                    T, LavaTimerQueue<T>> {

        private final TimerStore<T> store;
        private final int cacheSize;

        PartitionFactory(TimerStore<T> store, int cacheSize) {
            this.store = store;
            this.cacheSize = cacheSize;
        }

        @Nonnull
        @Override
        public LavaTimerQueue<T> create(
                int keyGroup,
                int numKeyGroups,
                @Nonnull KeyExtractorFunction<T> keyExtractor,
                @Nonnull PriorityComparator<T> comparator) {
            return new LavaTimerQueue<>(store, keyGroup, cacheSize);
        }
    }

    @SuppressWarnings("unchecked")
    private <T> StateTable register(
            String name, TypeSerializer<T> serializer, boolean allowFutureMetadataUpdates) {
        RegisteredPriorityQueueStateBackendMetaInfo<T> metaInfo =
                new RegisteredPriorityQueueStateBackendMetaInfo<>(name, serializer);
        if (allowFutureMetadataUpdates) {
            metaInfo = metaInfo.withSerializerUpgradesAllowed();
        }
        StateTable known = tables.get(name);
        if (known == null) {
            StateTable created = create(metaInfo);
            if (!allowFutureMetadataUpdates) {
                current.add(name);
            }
            return created;
        }
        if (current.contains(name)) {
            return tables.updateMetaInfo(metaInfo);
        }
        RegisteredPriorityQueueStateBackendMetaInfo<T> restored =
                (RegisteredPriorityQueueStateBackendMetaInfo<T>) known.metaInfo();
        if (restored.getPreviousElementSerializer() == serializer) {
            return known;
        }
        TypeSerializerSchemaCompatibility<T> compatibility =
                restored.updateElementSerializer(serializer);
        // Timers are keys in the engine, and keys are never rewritten.
        if (compatibility.isIncompatible()) {
            throw new FlinkRuntimeException(
                    new StateMigrationException(
                            "The new priority queue serializer must not be incompatible."));
        }
        if (!allowFutureMetadataUpdates) {
            current.add(name);
        }
        return tables.updateMetaInfo(metaInfo);
    }

    private StateTable create(RegisteredPriorityQueueStateBackendMetaInfo<?> metaInfo) {
        try {
            return tables.createOrGet(metaInfo);
        } catch (LavaDBException e) {
            throw new FlinkRuntimeException(
                    "Creating the timer state '" + metaInfo.getName() + "' failed.", e);
        }
    }
}
