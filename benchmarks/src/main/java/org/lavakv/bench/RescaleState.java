// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.RunnableFuture;
import java.util.stream.Collectors;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.api.common.typeutils.base.array.BytePrimitiveArraySerializer;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.jobgraph.JobVertexID;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.LocalSnapshotDirectoryProviderImpl;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;

/**
 * The state of all subtasks of one parallelism in open backends, and a checkpoint of it, with a
 * local copy as for local recovery. One thread. Closing frees the backends; the checkpoint stays in
 * the given directory.
 */
final class RescaleState implements AutoCloseable {
    private static final int CHECKED_KEYS = 100;

    private final RescaleScale scale;
    private final Configuration configuration;
    private final int keys;
    private final Path directory;
    private final RescaleRecords records;
    private final CheckpointStore store;
    private final List<Backends.Slot> slots = new ArrayList<>();
    private final List<Backends.Open<String>> opened = new ArrayList<>();
    private final List<KeyedStateHandle> remote = new ArrayList<>();
    private final List<KeyedStateHandle> local = new ArrayList<>();
    private long checkpoints;

    /**
     * Fills the backends and takes the checkpoint.
     *
     * @param configuration of the backends
     * @param settle whether to wait before and after the checkpoint until the backends are idle
     * @param parent the parent of a directory for their files for the work that the flush caused
     */
    RescaleState(
            RescaleScale scale,
            Configuration configuration,
            int keys,
            int parallelism,
            boolean settle,
            Path parent)
            throws Exception {
        this.scale = scale;
        this.configuration = configuration;
        this.keys = keys;
        this.directory = Files.createTempDirectory(parent, "parallelism-" + parallelism + "-");
        this.records = new RescaleRecords(scale.keyBytes, scale.valueBytes);
        this.store = new CheckpointStore(Files.createDirectory(directory.resolve("checkpoints")));
        try {
            fill(parallelism);
            if (settle) {
                EngineThreads.awaitIdle();
            }
            checkpoint();
            if (settle) {
                EngineThreads.awaitIdle(); // of what its flush caused
            }
        } catch (Exception e) {
            close();
            throw e;
        }
    }

    int parallelism() {
        return opened.size();
    }

    /** Handles of the last checkpoint's local copies. */
    Collection<KeyedStateHandle> localHandles() {
        return local;
    }

    /** Handles of its files in the directory of checkpoints. */
    Collection<KeyedStateHandle> remoteHandles() {
        return remote;
    }

    private void fill(int parallelism) throws Exception {
        List<ValueState<byte[]>> states = new ArrayList<>();
        Path copies = Files.createDirectory(directory.resolve("local"));
        JobID job = new JobID();
        JobVertexID vertex = new JobVertexID();
        for (int i = 0; i < parallelism; i++) {
            slots.add(new Backends.Slot(scale.memoryBytes()));
            Backends.Open<String> open =
                    opening(configuration, slots.get(i), RescaleRecords.range(i, parallelism))
                            .localCopies(
                                    new LocalSnapshotDirectoryProviderImpl(
                                            copies.toFile(), job, vertex, i))
                            .open();
            opened.add(open);
            states.add(state(open.backend));
        }
        for (int i = 0; i < keys; i++) {
            String key = records.key(i);
            int subtask = RescaleRecords.subtask(key, parallelism);
            opened.get(subtask).backend.setCurrentKey(key);
            states.get(subtask).update(records.value(i));
        }
    }

    private Backends.Opening<String> opening(
            Configuration with, Backends.Slot slot, KeyGroupRange range) {
        return new Backends.Opening<>(with, StringSerializer.INSTANCE, slot, directory)
                .keyGroups(range);
    }

    private static ValueState<byte[]> state(AbstractKeyedStateBackend<String> backend)
            throws Exception {
        return backend.getPartitionedState(
                VoidNamespace.INSTANCE,
                VoidNamespaceSerializer.INSTANCE,
                new ValueStateDescriptor<>("rescaled", BytePrimitiveArraySerializer.INSTANCE));
    }

    /**
     * Takes another checkpoint with the content of the first one, because a job restores a local
     * copy only once.
     */
    void checkpoint() throws Exception {
        checkpoints++;
        for (KeyedStateHandle copy : local) {
            copy.discardState();
        }
        local.clear();
        remote.clear();
        for (Backends.Open<String> open : opened) {
            RunnableFuture<SnapshotResult<KeyedStateHandle>> future =
                    store.checkpoint(open.backend, checkpoints);
            future.run();
            remote.add(future.get().getJobManagerOwnedSnapshot());
            local.add(future.get().getTaskLocalSnapshot());
        }
        if (local.contains(null)) {
            throw new IOException("The checkpoint has no local copy; its log says why");
        }
        store.completed(checkpoints, new ArrayList<>(remote));
        for (Backends.Open<String> open : opened) {
            open.backend.notifyCheckpointComplete(checkpoints);
        }
    }

    /** A canonical savepoint of the only backend. */
    KeyedStateHandle savepoint() throws Exception {
        checkpoints++;
        return store.savepoint(opened.get(0).backend, checkpoints).getJobManagerOwnedSnapshot();
    }

    /**
     * Restores all subtasks, one after the other, and returns the sums of their figures.
     *
     * @param handles of all predecessors
     */
    Map<RescaleMetric, Double> restore(
            RescaleMode mode, Collection<KeyedStateHandle> handles, int parallelism)
            throws Exception {
        long restoreNanos = 0;
        long firstNanos = 0;
        long written = 0;
        Configuration with = new Configuration(configuration);
        with.addAll(Configuration.fromMap(mode.settings));
        for (int i = 0; i < parallelism; i++) {
            KeyGroupRange range = RescaleRecords.range(i, parallelism);
            List<KeyedStateHandle> own =
                    handles.stream()
                            .map(handle -> handle.getIntersection(range))
                            .filter(handle -> handle != null)
                            .collect(Collectors.toList());
            int number = nextOf(i, parallelism, 0);
            String key = records.key(number);
            long before = WrittenBytes.now();
            try (Backends.Slot slot = new Backends.Slot(scale.memoryBytes());
                    Backends.Open<String> open = opening(with, slot, range).restoring(own).open()) {
                long begin = System.nanoTime();
                ValueState<byte[]> state = state(open.backend);
                open.backend.setCurrentKey(key);
                byte[] value = state.value();
                state.update(value);
                restoreNanos += open.createNanos;
                firstNanos += open.createNanos + System.nanoTime() - begin;
                written += WrittenBytes.now() - before;
                check(number, value);
                checkMore(open.backend, state, i, parallelism);
            }
        }
        Map<RescaleMetric, Double> metrics = new EnumMap<>(RescaleMetric.class);
        metrics.put(RescaleMetric.RESTORE, restoreNanos / 1e6);
        metrics.put(RescaleMetric.FIRST_RECORD, firstNanos / 1e6);
        metrics.put(RescaleMetric.WRITTEN, (double) written);
        return metrics;
    }

    private void checkMore(
            AbstractKeyedStateBackend<String> backend,
            ValueState<byte[]> state,
            int subtask,
            int parallelism)
            throws Exception {
        for (int i = 0; i < CHECKED_KEYS; i++) {
            int number = nextOf(subtask, parallelism, (int) ((long) keys * i / CHECKED_KEYS));
            backend.setCurrentKey(records.key(number));
            check(number, state.value());
        }
    }

    private void check(int number, byte[] value) {
        if (!records.isOf(number, value)) {
            throw new IllegalStateException(
                    "Restored, key " + number + " has another value than was written");
        }
    }

    /** The first record, from this number on or from 0 on, that belongs to the subtask. */
    private int nextOf(int subtask, int parallelism, int from) {
        for (int i = 0; i < keys; i++) {
            int number = (from + i) % keys;
            if (RescaleRecords.subtask(records.key(number), parallelism) == subtask) {
                return number;
            }
        }
        throw new IllegalStateException("No key of subtask " + subtask);
    }

    @Override
    public void close() throws Exception {
        for (Backends.Open<String> open : opened) {
            open.close();
        }
        slots.forEach(Backends.Slot::close);
    }
}
