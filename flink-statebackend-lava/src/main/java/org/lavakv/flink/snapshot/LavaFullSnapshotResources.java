// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.snapshot;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import javax.annotation.Nullable;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.runtime.state.FullSnapshotResources;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyValueStateIterator;
import org.apache.flink.runtime.state.RegisteredKeyValueStateBackendMetaInfo;
import org.apache.flink.runtime.state.RegisteredStateMetaInfoBase;
import org.apache.flink.runtime.state.StateSnapshotTransformer;
import org.apache.flink.runtime.state.StreamCompressionDecorator;
import org.apache.flink.runtime.state.heap.HeapPriorityQueueSnapshotRestoreWrapper;
import org.apache.flink.runtime.state.heap.HeapPriorityQueueStateSnapshot;
import org.apache.flink.runtime.state.metainfo.StateMetaInfoSnapshot;
import org.lavakv.LavaDBException;
import org.lavakv.Snapshot;
import org.lavakv.TableHandle;
import org.lavakv.TableKind;
import org.lavakv.flink.engine.LavaInstance;
import org.lavakv.flink.engine.StateTable;
import org.lavakv.flink.engine.StateTables;

/**
 * A canonical savepoint: every entry in Flink's own format, which every backend reads.
 *
 * <p>States are numbered by ascending table id, so that (key group, state number) is the engine's
 * order; timers on the heap come last.
 *
 * <p>Threads: created on the task's thread, then handed over to one other. Ownership: owns the pin
 * until {@link #release}.
 */
public final class LavaFullSnapshotResources<K> implements FullSnapshotResources<K> {

    private final LavaInstance instance;
    private final Snapshot snapshot;
    private final KeyGroupRange keyGroupRange;
    private final TypeSerializer<K> keySerializer;
    private final StreamCompressionDecorator compression;
    private final KeyGroupStreams streams;
    private final List<StateMetaInfoSnapshot> metaInfos = new ArrayList<>();
    private final List<StateScan> scans = new ArrayList<>();
    private final List<HeapPriorityQueueStateSnapshot<?>> heapTimers = new ArrayList<>();

    /** Null until entries are read. */
    @Nullable private PagesAhead pages;

    /**
     * The synchronous part: copies the states' descriptions and the heap timers, and pins
     * everything else.
     *
     * @param heapTimerStates timers on the heap by state name, or empty
     */
    public LavaFullSnapshotResources(
            LavaInstance instance,
            StateTables tables,
            Map<String, HeapPriorityQueueSnapshotRestoreWrapper<?>> heapTimerStates,
            KeyGroupRange keyGroupRange,
            TypeSerializer<K> keySerializer,
            StreamCompressionDecorator compression)
            throws LavaDBException {
        this.instance = instance;
        this.keyGroupRange = keyGroupRange;
        this.keySerializer = keySerializer;
        this.compression = compression;
        this.streams = new KeyGroupStreams(compression);
        List<StateTable> states = tables.all();
        states.sort(Comparator.comparingLong(state -> state.handle().id()));
        for (StateTable state : states) {
            RegisteredStateMetaInfoBase metaInfo = state.metaInfo();
            metaInfos.add(metaInfo.snapshot());
            scans.add(
                    new StateScan(
                            state.name(),
                            state.handle(),
                            StateTables.kindOf(metaInfo) == TableKind.LIST,
                            !(metaInfo instanceof RegisteredKeyValueStateBackendMetaInfo),
                            transformerOf(metaInfo)));
        }
        for (HeapPriorityQueueSnapshotRestoreWrapper<?> timers : heapTimerStates.values()) {
            metaInfos.add(timers.getMetaInfo().snapshot());
            heapTimers.add(timers.stateSnapshot());
        }
        this.snapshot = instance.db().getSnapshot();
        // After a cancellation, Flink's asynchronous part may release this after the backend is
        // disposed.
        snapshot.expectLateClose();
    }

    @Nullable
    private static StateSnapshotTransformer<byte[]> transformerOf(
            RegisteredStateMetaInfoBase metaInfo) {
        if (!(metaInfo instanceof RegisteredKeyValueStateBackendMetaInfo)) {
            return null;
        }
        return ((RegisteredKeyValueStateBackendMetaInfo<?, ?>) metaInfo)
                .getStateSnapshotTransformFactory()
                .createForSerializedState()
                .orElse(null);
    }

    @Override
    public List<StateMetaInfoSnapshot> getMetaInfoSnapshots() {
        return metaInfos;
    }

    @Override
    public KeyValueStateIterator createKVStateIterator() throws IOException {
        List<KeyGroupSource> sources = new ArrayList<>(metaInfos.size());
        List<TableHandle> tables = new ArrayList<>(scans.size());
        scans.forEach(scan -> tables.add(scan.table()));
        pages = new PagesAhead(instance, snapshot, tables);
        for (int state = 0; state < scans.size(); state++) {
            sources.add(scans.get(state).source(pages, state));
        }
        for (HeapPriorityQueueStateSnapshot<?> timers : heapTimers) {
            sources.add(new HeapTimerSource(timers, instance.keyGroupPrefixBytes()));
        }
        return new CanonicalIterator(keyGroupRange, sources, pages::nextState, streams, pages);
    }

    @Override
    public KeyGroupRange getKeyGroupRange() {
        return keyGroupRange;
    }

    @Override
    public TypeSerializer<K> getKeySerializer() {
        return keySerializer;
    }

    /**
     * The description is written first, and takes from the configured decorator whether there is
     * compression. The entries' streams are opened later.
     */
    @Override
    public StreamCompressionDecorator getStreamCompressionDecorator() {
        return pages == null ? compression : streams;
    }

    @Override
    public void release() {
        if (pages != null) {
            pages.close(); // if the iterator was not closed
        }
        snapshot.close();
    }
}
