package org.lavakv.flink.restore;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.core.memory.DataInputViewStreamWrapper;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.runtime.metrics.MetricNames;
import org.apache.flink.runtime.state.KeyGroupsStateHandle;
import org.apache.flink.runtime.state.KeyedBackendSerializationProxy;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.RegisteredKeyValueStateBackendMetaInfo;
import org.apache.flink.runtime.state.RegisteredStateMetaInfoBase;
import org.apache.flink.runtime.state.StateUtil;
import org.apache.flink.runtime.state.metainfo.StateMetaInfoSnapshot;
import org.apache.flink.runtime.state.metainfo.StateMetaInfoSnapshot.BackendStateType;
import org.apache.flink.util.function.SupplierWithException;
import org.lavakv.LavaDB;
import org.lavakv.LavaDBException;
import org.lavakv.TableHandle;
import org.lavakv.TableKind;
import org.lavakv.TtlTime;
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
    private final WriteBatch batch = new WriteBatch(BATCH_BYTES);

    /** Names of the states, by their numbers in the current handle. */
    private final List<String> names = new ArrayList<>();

    /** What is being read. */
    private CancellableHandle file;

    /** Up to which offset in it progress was told of. */
    private long counted;

    /** Where in the savepoint the restore is, beside its offset. */
    private String place = "";

    CanonicalRestore(RestoreRequest<K> request) {
        this.request = request;
    }

    RestoreResult restore() throws Exception {
        long begin = System.nanoTime();
        LavaInstance instance =
                request.opener().open(Collections.emptyList(), request.cancelStreamRegistry());
        StateTables tables = new StateTables(instance);
        StateDescriptions<K> descriptions =
                new StateDescriptions<>(
                        request.userCodeClassLoader(), request.keySerializerProvider());
        long bytes = 0;
        for (KeyedStateHandle handle : request.stateHandles()) {
            bytes += bytesOf(keyGroups(handle));
        }
        request.progress()
                .begin(
                        "Restoring key groups "
                                + request.keyGroupRange().prettyPrintInterval()
                                + " from a canonical savepoint",
                        request.stateHandles().size(),
                        bytes);
        for (KeyedStateHandle handle : request.stateHandles()) {
            restore(keyGroups(handle), descriptions, tables, instance.db());
            request.progress().fileDone();
        }
        flush(instance.db());
        request.progress().end();
        request.metrics()
                .addMetric(
                        MetricNames.RESTORE_STATE_DURATION,
                        (System.nanoTime() - begin) / 1_000_000);
        return RestoreResult.fresh(instance, tables, TtlTime.UNKNOWN);
    }

    private static KeyGroupsStateHandle keyGroups(KeyedStateHandle handle) {
        if (!(handle instanceof KeyGroupsStateHandle)) {
            throw StateUtil.unexpectedStateHandleException(
                    KeyGroupsStateHandle.class, handle.getClass());
        }
        return (KeyGroupsStateHandle) handle;
    }

    /** What of it is to be read, or more where others' key groups follow. */
    private static long bytesOf(KeyGroupsStateHandle savepoint) {
        long first = Long.MAX_VALUE;
        for (Tuple2<Integer, Long> keyGroup : savepoint.getGroupRangeOffsets()) {
            if (keyGroup.f1 != 0) {
                first = Math.min(first, keyGroup.f1);
            }
        }
        return Math.max(0, savepoint.getDelegateStateHandle().getStateSize() - first);
    }

    private void restore(
            KeyGroupsStateHandle savepoint,
            StateDescriptions<K> descriptions,
            StateTables tables,
            LavaDB db)
            throws Exception {
        file =
                new CancellableHandle(
                        savepoint.getDelegateStateHandle(), request.cancelStreamRegistry());
        place = "its description";
        try (FSDataInputStream in = read(file::openInputStream)) {
            KeyedBackendSerializationProxy<K> described =
                    read(() -> descriptions.read(new DataInputViewStreamWrapper(in)));
            List<EntrySink> sinks = sinks(described.getStateMetaInfoSnapshots(), tables, db);
            CanonicalEntries entries =
                    new CanonicalEntries(
                            in,
                            file.getStateSize(),
                            described.isUsingKeyGroupCompression(),
                            sinks.size(),
                            request.keyGroupPrefixBytes());
            for (Tuple2<Integer, Long> keyGroup : savepoint.getGroupRangeOffsets()) {
                // Nothing was written of a key group without entries.
                if (keyGroup.f1 != 0) {
                    place = "the begin of a key group";
                    read(
                            () -> {
                                entries.seek(keyGroup.f0, keyGroup.f1);
                                return null;
                            });
                    counted = keyGroup.f1;
                    restore(keyGroup.f0, entries, sinks, db);
                    countRead();
                }
            }
        }
    }

    /**
     * Reads something of the savepoint.
     *
     * @throws IOException when it cannot be read, naming the file and the place in it
     */
    private <T> T read(SupplierWithException<T, Exception> reading) throws Exception {
        try {
            return reading.get();
        } catch (IOException | RuntimeException | OutOfMemoryError e) {
            // The last, too: Flink and serializers allocate by whatever length stands there.
            throw new IOException(
                    "The canonical savepoint cannot be read: "
                            + file.describePosition()
                            + ", in "
                            + place
                            + ": "
                            + e
                            + ". It was left as it is; restore from another one.",
                    e);
        }
    }

    private void restore(int keyGroup, CanonicalEntries entries, List<EntrySink> sinks, LavaDB db)
            throws Exception {
        int last = -1;
        while (entries.hasNext()) {
            int state = entries.nextState();
            if (state != last) {
                place = "key group " + keyGroup + ", state " + names.get(state);
                last = state;
            }
            read(
                    () -> {
                        entries.next();
                        sinks.get(state).add(entries.key(), entries.value());
                        return null;
                    });
            if (batch.byteCount() >= BATCH_BYTES) {
                countRead();
                flush(db);
            }
        }
    }

    private void countRead() throws IOException {
        long position = file.position();
        request.progress().copied(position - counted);
        counted = position;
    }

    private void flush(LavaDB db) throws IOException, LavaDBException {
        if (request.cancelStreamRegistry().isClosed()) {
            throw new IOException("The restore was cancelled.");
        }
        writeBatch(db);
    }

    private void writeBatch(LavaDB db) throws LavaDBException {
        if (batch.count() > 0) {
            db.write(batch);
            batch.clear();
        }
    }

    private List<EntrySink> sinks(List<StateMetaInfoSnapshot> states, StateTables tables, LavaDB db)
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
                sinks.add(engineSink(state, tables, db));
            }
        }
        return sinks;
    }

    private EntrySink engineSink(StateMetaInfoSnapshot state, StateTables tables, LavaDB db)
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
            return (key, value) -> put(db, table, key, prefix.lengthIn(key), value, value.length);
        }
        if (kind == TableKind.LIST) {
            CanonicalLists lists =
                    new CanonicalLists((RegisteredKeyValueStateBackendMetaInfo<?, ?>) metaInfo);
            return (key, value) -> {
                DataOutputSerializer segments = lists.toSegments(value);
                put(db, table, key, 0, segments.getSharedBuffer(), segments.length());
                lists.written();
            };
        }
        return (key, value) -> put(db, table, key, 0, value, value.length);
    }

    private void put(
            LavaDB db, TableHandle table, byte[] key, int prefixLength, byte[] value, int length)
            throws LavaDBException {
        if (length > BATCH_BYTES) {
            // By itself, without another copy of it.
            writeBatch(db);
            db.put(table, key, 0, key.length, prefixLength, value, 0, length);
            return;
        }
        batch.put(table, key, 0, key.length, prefixLength, value, 0, length);
    }

    /** Where the entries of one state go. */
    private interface EntrySink {
        void add(byte[] key, byte[] value) throws IOException, LavaDBException;
    }
}
