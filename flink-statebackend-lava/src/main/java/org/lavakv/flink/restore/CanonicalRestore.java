// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

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
 * Restores canonical savepoints of any backend by writing every entry. Keys and values are already
 * in the engine's form, except lists: see {@link CanonicalLists}.
 *
 * <p>Threads: the task's.
 */
final class CanonicalRestore<K> {

    private static final int BATCH_BYTES = 512 << 10;

    private final RestoreRequest<K> request;
    private final WriteBatch batch = new WriteBatch(BATCH_BYTES);

    /** Names of the states, by their numbers in the current handle. */
    private final List<String> names = new ArrayList<>();

    /** The savepoint file being read. */
    private CancellableHandle file;

    /** The offset in the file up to which progress was reported. */
    private long counted;

    /** Where in the savepoint the restore is, for messages that also name the offset. */
    private String position = "";

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

    /** The number of bytes to read, or more if key groups of other subtasks follow. */
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
        position = "its description";
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
                // A key group without entries has no data.
                if (keyGroup.f1 != 0) {
                    position = "the start of a key group";
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
     * Reads a part of the savepoint.
     *
     * @throws IOException when it cannot be read, naming the file and the position
     */
    private <T> T read(SupplierWithException<T, Exception> reading) throws Exception {
        try {
            return reading.get();
        } catch (IOException | RuntimeException | OutOfMemoryError e) {
            // Also for an OutOfMemoryError: Flink and serializers allocate any length that a
            // damaged file contains.
            throw new IOException(
                    "The canonical savepoint cannot be read: "
                            + file.describePosition()
                            + ", in "
                            + position
                            + ": "
                            + e
                            + ". The savepoint is unchanged. Restore from another savepoint.",
                    e);
        }
    }

    private void restore(int keyGroup, CanonicalEntries entries, List<EntrySink> sinks, LavaDB db)
            throws Exception {
        int last = -1;
        while (entries.hasNext()) {
            int state = entries.nextState();
            if (state != last) {
                position = "key group " + keyGroup + ", state " + names.get(state);
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
            // A large value is written by itself, so that it is not copied into the batch.
            writeBatch(db);
            db.put(table, key, 0, key.length, prefixLength, value, 0, length);
            return;
        }
        batch.put(table, key, 0, key.length, prefixLength, value, 0, length);
    }

    /** Receives the entries of one state. */
    private interface EntrySink {
        void add(byte[] key, byte[] value) throws IOException, LavaDBException;
    }
}
