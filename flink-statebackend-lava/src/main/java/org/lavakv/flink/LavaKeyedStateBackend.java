// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.RunnableFuture;
import java.util.stream.Stream;
import javax.annotation.Nonnull;
import javax.annotation.Nullable;
import org.apache.flink.api.common.ExecutionConfig;
import org.apache.flink.api.common.state.State;
import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.runtime.checkpoint.CheckpointOptions;
import org.apache.flink.runtime.checkpoint.SnapshotType;
import org.apache.flink.runtime.query.TaskKvStateRegistry;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.CheckpointStreamFactory;
import org.apache.flink.runtime.state.HeapPriorityQueuesManager;
import org.apache.flink.runtime.state.InternalKeyContext;
import org.apache.flink.runtime.state.KeyGroupedInternalPriorityQueue;
import org.apache.flink.runtime.state.Keyed;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.PriorityComparable;
import org.apache.flink.runtime.state.RegisteredKeyValueStateBackendMetaInfo;
import org.apache.flink.runtime.state.SavepointResources;
import org.apache.flink.runtime.state.SnapshotExecutionType;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.SnapshotStrategyRunner;
import org.apache.flink.runtime.state.StateSnapshotTransformer.StateSnapshotTransformFactory;
import org.apache.flink.runtime.state.StreamCompressionDecorator;
import org.apache.flink.runtime.state.heap.HeapPriorityQueueElement;
import org.apache.flink.runtime.state.heap.HeapPriorityQueueSetFactory;
import org.apache.flink.runtime.state.heap.HeapPriorityQueueSnapshotRestoreWrapper;
import org.apache.flink.runtime.state.metrics.LatencyTrackingStateConfig;
import org.apache.flink.runtime.state.metrics.SizeTrackingStateConfig;
import org.apache.flink.util.FlinkRuntimeException;
import org.apache.flink.util.IOUtils;
import org.lavakv.LavaDBException;
import org.lavakv.flink.engine.EngineClock;
import org.lavakv.flink.engine.LavaInstance;
import org.lavakv.flink.engine.StateContext;
import org.lavakv.flink.engine.StateTable;
import org.lavakv.flink.engine.StateTables;
import org.lavakv.flink.engine.TableCursor;
import org.lavakv.flink.host.HostReports;
import org.lavakv.flink.metrics.LavaMetrics;
import org.lavakv.flink.snapshot.LavaFullSnapshotResources;
import org.lavakv.flink.snapshot.LavaSnapshotStrategy;
import org.lavakv.flink.state.KeyStreams;
import org.lavakv.flink.state.StateFactory;
import org.lavakv.flink.timers.LavaTimerQueueFactory;

/**
 * The keyed state of one operator subtask, in one LavaKV instance.
 *
 * <p>Threads: the task's thread, as Flink calls it. {@link #dispose} waits for readers on other
 * threads (queryable state, metrics). Ownership: owns the instance with its native memory and local
 * files; {@link #dispose} frees them all.
 */
public class LavaKeyedStateBackend<K> extends AbstractKeyedStateBackend<K> {

    private static final String TYPE_IDENTIFIER = "lava";
    private static final int COUNT_PAGE_ENTRIES = 1024;

    private final LavaInstance instance;
    private final StateContext<K> context;
    private final StateTables tables;
    private final StateFactory<K> states;
    private final EngineClock clock;
    private final StateRegistration<K> registration;
    private final LavaSnapshotStrategy<K> snapshotStrategy;
    private final LavaMetrics metrics;
    private final LavaTimerQueueFactory timers;
    private final Map<String, HeapPriorityQueueSnapshotRestoreWrapper<?>> heapTimerStates;
    @Nullable private final HeapPriorityQueuesManager heapTimers;
    @Nullable private HostReports.Registration report;
    private boolean disposed;

    /** The parts of a backend, assembled by the builder. */
    static final class Parts<K> {
        TaskKvStateRegistry kvStateRegistry;
        ClassLoader userCodeClassLoader;
        ExecutionConfig executionConfig;
        EngineClock clock;
        LatencyTrackingStateConfig latencyTracking;
        SizeTrackingStateConfig sizeTracking;
        StreamCompressionDecorator compression;
        InternalKeyContext<K> keyContext;
        StateContext<K> context;
        StateTables tables;
        LavaSnapshotStrategy<K> snapshotStrategy;
        @Nullable HeapPriorityQueueSetFactory heapTimers;
        Map<String, HeapPriorityQueueSnapshotRestoreWrapper<?>> heapTimerStates;
        int timerCacheSize;
        LavaMetrics metrics;
    }

    LavaKeyedStateBackend(Parts<K> parts) {
        super(
                parts.kvStateRegistry,
                parts.context.keySerializer(),
                parts.userCodeClassLoader,
                parts.executionConfig,
                parts.clock,
                parts.latencyTracking,
                parts.sizeTracking,
                new CloseableRegistry(),
                parts.compression,
                parts.keyContext);
        context = parts.context;
        instance = context.instance();
        tables = parts.tables;
        states = new StateFactory<>(context);
        clock = parts.clock;
        registration = new StateRegistration<>(context, tables, clock);
        snapshotStrategy = parts.snapshotStrategy;
        metrics = parts.metrics;
        timers =
                new LavaTimerQueueFactory(
                        instance, tables, numberOfKeyGroups, parts.timerCacheSize);
        heapTimerStates = parts.heapTimerStates;
        heapTimers =
                parts.heapTimers == null
                        ? null
                        : new HeapPriorityQueuesManager(
                                heapTimerStates,
                                parts.heapTimers,
                                keyGroupRange,
                                numberOfKeyGroups);
    }

    /** Keeps this backend in the process's reports until it is disposed. */
    void reportedBy(HostReports.Registration registration) {
        report = registration;
    }

    // ---------------------------------------------------------------------- keys

    @Override
    public void setCurrentKey(K newKey) {
        super.setCurrentKey(newKey);
        context.keys().setKey(newKey, getCurrentKeyGroupIndex());
    }

    @Override
    public void setCurrentKeyAndKeyGroup(K newKey, int newKeyGroupIndex) {
        super.setCurrentKeyAndKeyGroup(newKey, newKeyGroupIndex);
        context.keys().setKey(newKey, newKeyGroupIndex);
    }

    /** Returns the keys as of this call, as {@link #getKeys(List, Object)} does. */
    @Override
    public <N> Stream<K> getKeys(String state, N namespace) {
        return getKeys(Collections.singletonList(state), namespace);
    }

    /**
     * The keys as of this call. Changes to the states while the stream is consumed have no effect
     * on it. Therefore {@link #applyToAllKeys} visits exactly the keys that have an entry when it
     * starts, each once.
     */
    @Override
    public <N> Stream<K> getKeys(List<String> stateNames, N namespace) {
        List<StateTable> known = new ArrayList<>();
        for (String name : stateNames) {
            StateTable table = tables.get(name);
            if (isKeyValue(table)) {
                known.add(table);
            }
        }
        return KeyStreams.keys(instance, keySerializer, known, namespace);
    }

    /**
     * The pairs as of this call. Changes to the state while the stream is consumed have no effect
     * on it.
     */
    @Override
    public <N> Stream<Tuple2<K, N>> getKeysAndNamespaces(String state) {
        StateTable table = tables.get(state);
        return isKeyValue(table)
                ? KeyStreams.keysAndNamespaces(instance, keySerializer, table)
                : Stream.empty();
    }

    private static boolean isKeyValue(@Nullable StateTable table) {
        return table != null && table.metaInfo() instanceof RegisteredKeyValueStateBackendMetaInfo;
    }

    // ---------------------------------------------------------------------- states

    @Nonnull
    @Override
    public <N, SV, SEV, S extends State, IS extends S> IS createOrUpdateInternalState(
            @Nonnull TypeSerializer<N> namespaceSerializer,
            @Nonnull StateDescriptor<S, SV> descriptor,
            @Nonnull StateSnapshotTransformFactory<SEV> transformFactory)
            throws Exception {
        return createOrUpdateInternalState(
                namespaceSerializer, descriptor, transformFactory, false);
    }

    @Nonnull
    @Override
    public <N, SV, SEV, S extends State, IS extends S> IS createOrUpdateInternalState(
            @Nonnull TypeSerializer<N> namespaceSerializer,
            @Nonnull StateDescriptor<S, SV> descriptor,
            @Nonnull StateSnapshotTransformFactory<SEV> transformFactory,
            boolean allowFutureMetadataUpdates)
            throws Exception {
        StateTable table =
                registration.register(
                        descriptor,
                        namespaceSerializer,
                        transformFactory,
                        allowFutureMetadataUpdates);
        metrics.registerState(table);
        return states.createOrUpdate(descriptor, table);
    }

    @Nonnull
    @Override
    public <T extends HeapPriorityQueueElement & PriorityComparable<? super T> & Keyed<?>>
            KeyGroupedInternalPriorityQueue<T> create(
                    @Nonnull String stateName, @Nonnull TypeSerializer<T> elementSerializer) {
        return create(stateName, elementSerializer, false);
    }

    @Override
    public <T extends HeapPriorityQueueElement & PriorityComparable<? super T> & Keyed<?>>
            KeyGroupedInternalPriorityQueue<T> create(
                    @Nonnull String stateName,
                    @Nonnull TypeSerializer<T> elementSerializer,
                    boolean allowFutureMetadataUpdates) {
        if (heapTimers != null) {
            return heapTimers.createOrUpdate(
                    stateName, elementSerializer, allowFutureMetadataUpdates);
        }
        KeyGroupedInternalPriorityQueue<T> queue =
                timers.create(stateName, elementSerializer, allowFutureMetadataUpdates);
        metrics.registerState(tables.get(stateName));
        return queue;
    }

    @Override
    public int numKeyValueStateEntries() {
        int count = 0;
        try {
            for (StateTable table : tables.all()) {
                if (isKeyValue(table)) {
                    TableCursor cursor =
                            TableCursor.ofTable(instance, table.handle(), true, COUNT_PAGE_ENTRIES);
                    while (cursor.hasNext()) {
                        cursor.next();
                        count++;
                    }
                }
            }
        } catch (LavaDBException e) {
            throw new FlinkRuntimeException("Counting the entries of all states failed.", e);
        }
        return count;
    }

    // ---------------------------------------------------------------------- snapshots

    @Nonnull
    @Override
    public RunnableFuture<SnapshotResult<KeyedStateHandle>> snapshot(
            long checkpointId,
            long timestamp,
            @Nonnull CheckpointStreamFactory streamFactory,
            @Nonnull CheckpointOptions checkpointOptions)
            throws Exception {
        clock.tell();
        instance.forgetUnreachableViews();
        return new SnapshotStrategyRunner<>(
                        LavaSnapshotStrategy.DESCRIPTION,
                        snapshotStrategy,
                        cancelStreamRegistry,
                        SnapshotExecutionType.ASYNCHRONOUS)
                .snapshot(checkpointId, timestamp, streamFactory, checkpointOptions);
    }

    @Nonnull
    @Override
    public SavepointResources<K> savepoint() throws Exception {
        clock.tell();
        instance.forgetUnreachableViews();
        return new SavepointResources<>(
                new LavaFullSnapshotResources<>(
                        instance,
                        tables,
                        heapTimerStates,
                        keyGroupRange,
                        keySerializer,
                        keyGroupCompressionDecorator),
                SnapshotExecutionType.ASYNCHRONOUS);
    }

    @Override
    public void notifyCheckpointComplete(long checkpointId) throws Exception {
        snapshotStrategy.notifyCheckpointComplete(checkpointId);
    }

    @Override
    public void notifyCheckpointAborted(long checkpointId) throws Exception {
        snapshotStrategy.notifyCheckpointAborted(checkpointId);
    }

    /**
     * For tests: compacts all state to the last level, so that everything expired by Flink's clock
     * is removed. The engine accepts Flink's time for this even if it is further ahead than the
     * engine would otherwise accept.
     *
     * <p>Errors: {@link LavaDBException} also when the thread is interrupted.
     */
    public void compact() throws LavaDBException {
        clock.accept();
        instance.db().compactAll();
    }

    // ---------------------------------------------------------------------- properties

    /**
     * Lava's snapshots contain the timers of the heap as well: below a changelog nothing else would
     * write them.
     */
    @Override
    public boolean requiresLegacySynchronousTimerSnapshots(SnapshotType checkpointType) {
        return false;
    }

    /**
     * Whether callers may modify objects after passing them to the backend or getting them from it.
     * The engine copies objects in both directions. A timer queue on the heap keeps the objects
     * themselves.
     */
    @Override
    public boolean isSafeToReuseKVState() {
        return heapTimers == null;
    }

    @Override
    public String getBackendTypeIdentifier() {
        return TYPE_IDENTIFIER;
    }

    LavaInstance instance() {
        return instance;
    }

    @Override
    public void dispose() {
        if (disposed) {
            return;
        }
        disposed = true;
        super.dispose();
        IOUtils.closeQuietly(report);
        IOUtils.closeQuietly(snapshotStrategy);
        states.clear();
        instance.close();
    }
}
