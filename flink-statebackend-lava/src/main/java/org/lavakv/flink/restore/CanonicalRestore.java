package org.lavakv.flink.restore;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.runtime.metrics.MetricNames;
import org.apache.flink.runtime.state.KeyGroupsStateHandle;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.RegisteredKeyValueStateBackendMetaInfo;
import org.apache.flink.runtime.state.RegisteredStateMetaInfoBase;
import org.apache.flink.runtime.state.StateUtil;
import org.apache.flink.runtime.state.metainfo.StateMetaInfoSnapshot;
import org.apache.flink.runtime.state.metainfo.StateMetaInfoSnapshot.BackendStateType;
import org.apache.flink.runtime.state.restore.FullSnapshotRestoreOperation;
import org.apache.flink.runtime.state.restore.KeyGroup;
import org.apache.flink.runtime.state.restore.KeyGroupEntry;
import org.apache.flink.runtime.state.restore.SavepointRestoreResult;
import org.apache.flink.runtime.state.restore.ThrowingIterator;
import org.lavakv.LavaDB;
import org.lavakv.LavaDBException;
import org.lavakv.TableHandle;
import org.lavakv.TableKind;
import org.lavakv.WriteBatch;
import org.lavakv.flink.engine.LavaInstance;
import org.lavakv.flink.engine.StateTables;

/**
 * Restores canonical savepoints, whichever backend took them, by writing every entry. Keys and
 * values are the engine's own form already, but for lists: see {@link CanonicalLists}.
 *
 * <p>Threads: the task's.
 */
final class CanonicalRestore<K> {

    private static final int BATCH_BYTES = 512 << 10;

    private final RestoreRequest<K> request;
    private final InstanceOpener opener;
    private final WriteBatch batch = new WriteBatch(BATCH_BYTES);

    CanonicalRestore(RestoreRequest<K> request, InstanceOpener opener) {
        this.request = request;
        this.opener = opener;
    }

    RestoreResult restore() throws Exception {
        long begin = System.nanoTime();
        LavaInstance instance = opener.open(Collections.emptyList());
        StateTables tables = new StateTables(instance.db());
        FullSnapshotRestoreOperation<K> reader =
                new FullSnapshotRestoreOperation<>(
                        request.keyGroupRange(),
                        request.userCodeClassLoader(),
                        cancellableHandles(),
                        request.keySerializerProvider());
        try (ThrowingIterator<SavepointRestoreResult> savepoints = reader.restore()) {
            while (savepoints.hasNext()) {
                SavepointRestoreResult savepoint = savepoints.next();
                try (ThrowingIterator<KeyGroup> keyGroups = savepoint.getRestoredKeyGroups()) {
                    List<EntrySink> sinks = sinks(savepoint.getStateMetaInfoSnapshots(), tables);
                    while (keyGroups.hasNext()) {
                        restore(keyGroups.next(), sinks, instance.db());
                    }
                }
            }
        }
        flush(instance.db());
        request.metrics()
                .addMetric(
                        MetricNames.RESTORE_STATE_DURATION,
                        (System.nanoTime() - begin) / 1_000_000);
        return RestoreResult.fresh(instance, tables);
    }

    private List<KeyedStateHandle> cancellableHandles() {
        CloseableRegistry registry = request.cancelStreamRegistry();
        List<KeyedStateHandle> handles = new ArrayList<>();
        for (KeyedStateHandle handle : request.stateHandles()) {
            if (!(handle instanceof KeyGroupsStateHandle)) {
                throw StateUtil.unexpectedStateHandleException(
                        KeyGroupsStateHandle.class, handle.getClass());
            }
            KeyGroupsStateHandle savepoint = (KeyGroupsStateHandle) handle;
            handles.add(
                    new KeyGroupsStateHandle(
                            savepoint.getGroupRangeOffsets(),
                            new CancellableHandle(savepoint.getDelegateStateHandle(), registry)));
        }
        return handles;
    }

    private void restore(KeyGroup keyGroup, List<EntrySink> sinks, LavaDB db) throws Exception {
        try (ThrowingIterator<KeyGroupEntry> entries = keyGroup.getKeyGroupEntries()) {
            while (entries.hasNext()) {
                KeyGroupEntry entry = entries.next();
                int state = entry.getKvStateId();
                if (state < 0 || state >= sinks.size()) {
                    throw new IOException(
                            "The savepoint is damaged: key group "
                                    + keyGroup.getKeyGroupId()
                                    + " holds an entry of state number "
                                    + state
                                    + ", and it has "
                                    + sinks.size()
                                    + " states. Restore from another one.");
                }
                sinks.get(state).add(entry.getKey(), entry.getValue());
                if (batch.byteCount() >= BATCH_BYTES) {
                    flush(db);
                }
            }
        }
    }

    private void flush(LavaDB db) throws IOException, LavaDBException {
        if (request.cancelStreamRegistry().isClosed()) {
            throw new IOException("The restore was cancelled.");
        }
        if (batch.count() > 0) {
            db.write(batch);
            batch.clear();
        }
    }

    private List<EntrySink> sinks(List<StateMetaInfoSnapshot> states, StateTables tables)
            throws LavaDBException {
        HeapTimers timers = new HeapTimers(request);
        List<EntrySink> sinks = new ArrayList<>(states.size());
        for (StateMetaInfoSnapshot state : states) {
            if (state.getBackendStateType() == BackendStateType.PRIORITY_QUEUE && timers.onHeap()) {
                HeapTimers.Queue queue = timers.queue(state);
                sinks.add((key, value) -> queue.add(key));
            } else {
                sinks.add(engineSink(state, tables));
            }
        }
        return sinks;
    }

    private EntrySink engineSink(StateMetaInfoSnapshot state, StateTables tables)
            throws LavaDBException {
        RegisteredStateMetaInfoBase metaInfo =
                RegisteredKeyValueStateBackendMetaInfo.fromMetaInfoSnapshot(state);
        TableHandle table = tables.createOrGet(metaInfo).handle();
        TableKind kind = StateTables.kindOf(metaInfo);
        if (kind == TableKind.MAP) {
            MapKeyPrefix prefix =
                    new MapKeyPrefix(
                            request.keySerializerProvider().currentSchemaSerializer(),
                            ((RegisteredKeyValueStateBackendMetaInfo<?, ?>) metaInfo)
                                    .getNamespaceSerializer(),
                            request.keyGroupPrefixBytes());
            return (key, value) -> put(table, key, prefix.lengthIn(key), value, value.length);
        }
        if (kind == TableKind.LIST) {
            CanonicalLists lists =
                    new CanonicalLists((RegisteredKeyValueStateBackendMetaInfo<?, ?>) metaInfo);
            return (key, value) -> {
                DataOutputSerializer segments = lists.toSegments(value);
                put(table, key, 0, segments.getSharedBuffer(), segments.length());
            };
        }
        return (key, value) -> put(table, key, 0, value, value.length);
    }

    private void put(TableHandle table, byte[] key, int prefixLength, byte[] value, int length) {
        batch.put(table, key, 0, key.length, prefixLength, value, 0, length);
    }

    /** Where the entries of one state go. */
    private interface EntrySink {
        void add(byte[] key, byte[] value) throws IOException;
    }
}
