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
import org.apache.flink.util.function.SupplierWithException;
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
    private final List<CancellableHandle> handles = new ArrayList<>();

    /** Names of the states, by their numbers in the current handle. */
    private final List<String> names = new ArrayList<>();

    /** Counts the handles that were opened. */
    private int opened;

    /** Where in the savepoint the restore is, beside its offset. */
    private String place = "";

    CanonicalRestore(RestoreRequest<K> request, InstanceOpener opener) {
        this.request = request;
        this.opener = opener;
    }

    RestoreResult restore() throws Exception {
        long begin = System.nanoTime();
        LavaInstance instance = opener.open(Collections.emptyList());
        StateTables tables = new StateTables(instance);
        FullSnapshotRestoreOperation<K> reader =
                new FullSnapshotRestoreOperation<>(
                        request.keyGroupRange(),
                        request.userCodeClassLoader(),
                        cancellableHandles(),
                        request.keySerializerProvider());
        try (ThrowingIterator<SavepointRestoreResult> savepoints = reader.restore()) {
            while (savepoints.hasNext()) {
                opened++;
                place = "its description";
                SavepointRestoreResult savepoint = read(savepoints::next);
                try (ThrowingIterator<KeyGroup> keyGroups = savepoint.getRestoredKeyGroups()) {
                    List<EntrySink> sinks = sinks(savepoint.getStateMetaInfoSnapshots(), tables);
                    while (keyGroups.hasNext()) {
                        place = "the begin of a key group";
                        restore(read(keyGroups::next), sinks, instance.db());
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

    /**
     * Reads something of the savepoint.
     *
     * @throws IOException when it cannot be read, naming the file and the place in it
     */
    private <T> T read(SupplierWithException<T, Exception> reading) throws Exception {
        try {
            return reading.get();
        } catch (IOException | RuntimeException e) {
            throw new IOException(
                    "The canonical savepoint cannot be read: "
                            + handles.get(opened - 1).describePosition()
                            + ", in "
                            + place
                            + ": "
                            + e
                            + ". It was left as it is; restore from another one.",
                    e);
        }
    }

    private List<KeyedStateHandle> cancellableHandles() {
        CloseableRegistry registry = request.cancelStreamRegistry();
        List<KeyedStateHandle> all = new ArrayList<>();
        for (KeyedStateHandle handle : request.stateHandles()) {
            if (!(handle instanceof KeyGroupsStateHandle)) {
                throw StateUtil.unexpectedStateHandleException(
                        KeyGroupsStateHandle.class, handle.getClass());
            }
            KeyGroupsStateHandle savepoint = (KeyGroupsStateHandle) handle;
            CancellableHandle cancellable =
                    new CancellableHandle(savepoint.getDelegateStateHandle(), registry);
            handles.add(cancellable);
            all.add(new KeyGroupsStateHandle(savepoint.getGroupRangeOffsets(), cancellable));
        }
        return all;
    }

    private void restore(KeyGroup keyGroup, List<EntrySink> sinks, LavaDB db) throws Exception {
        try (ThrowingIterator<KeyGroupEntry> entries = keyGroup.getKeyGroupEntries()) {
            place = "key group " + keyGroup.getKeyGroupId();
            int last = -1;
            while (entries.hasNext()) {
                KeyGroupEntry entry = read(entries::next);
                int state = entry.getKvStateId();
                if (state != last) {
                    place =
                            "key group "
                                    + keyGroup.getKeyGroupId()
                                    + ", state "
                                    + (state < sinks.size() ? names.get(state) : state);
                    last = state;
                }
                read(
                        () -> {
                            sinks.get(state).add(entry.getKey(), entry.getValue());
                            return null;
                        });
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
        names.clear();
        for (StateMetaInfoSnapshot state : states) {
            names.add(state.getName());
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
