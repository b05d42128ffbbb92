// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.programs;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.RunnableFuture;
import java.util.stream.Stream;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.state.State;
import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.metrics.groups.UnregisteredMetricsGroup;
import org.apache.flink.runtime.checkpoint.CheckpointOptions;
import org.apache.flink.runtime.jobgraph.JobVertexID;
import org.apache.flink.runtime.query.KvStateRegistry;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.CheckpointStreamFactory;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyGroupedInternalPriorityQueue;
import org.apache.flink.runtime.state.KeyedStateBackendParametersImpl;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.internal.InternalKvState;
import org.apache.flink.streaming.api.operators.StreamOperatorStateHandler;
import org.apache.flink.streaming.api.operators.TimerHeapInternalTimer;
import org.apache.flink.streaming.api.operators.TimerSerializer;
import org.apache.flink.util.CloseableIterator;

/**
 * One subtask of a job: its backend, and the states and timers that were used.
 *
 * <p>Threads: one. Ownership: the backend, until {@link #close}.
 */
final class JobSubtask implements AutoCloseable {

    final KeyGroupRange range;
    final AbstractKeyedStateBackend<Object> backend;
    private final Job job;
    private final CloseableRegistry closeables = new CloseableRegistry();
    private final Map<String, StateDescriptor<? extends State, ?>> descriptors = new HashMap<>();
    private final Map<String, KeyGroupedInternalPriorityQueue<?>> queues = new HashMap<>();

    JobSubtask(Job job, KeyGroupRange range, List<KeyedStateHandle> handles, Path directory)
            throws Exception {
        this.job = job;
        this.range = range;
        JobID id = new JobID();
        List<KeyedStateHandle> own = new ArrayList<>();
        for (KeyedStateHandle handle : handles) {
            KeyedStateHandle part = handle.getIntersection(range);
            if (part != null) {
                own.add(part);
            }
        }
        backend =
                (AbstractKeyedStateBackend<Object>)
                        job.kind()
                                .create(directory, job.setup().incremental, job.setup().lava)
                                .createKeyedStateBackend(
                                        new KeyedStateBackendParametersImpl<>(
                                                job.environment(),
                                                id,
                                                "operator",
                                                job.setup().keys.serializer(),
                                                job.setup().keyGroups,
                                                range,
                                                new KvStateRegistry()
                                                        .createTaskRegistry(id, new JobVertexID()),
                                                job::now,
                                                new UnregisteredMetricsGroup(),
                                                (name, value) -> {},
                                                own,
                                                closeables,
                                                1.0));
    }

    // ---------------------------------------------------------------------- state

    /** A state, without a particular key and namespace. */
    InternalKvState<Object, Object, Object> state(StateSpec spec) throws Exception {
        return state(spec, spec.namespaces.get(0));
    }

    /** A state under the backend's current key. */
    @SuppressWarnings("unchecked")
    InternalKvState<Object, Object, Object> state(StateSpec spec, Object namespace)
            throws Exception {
        return (InternalKvState<Object, Object, Object>)
                backend.getPartitionedState(
                        namespace, spec.namespaces.serializer(), descriptor(spec));
    }

    /** A state under the key and namespace of a cell, which become current. */
    InternalKvState<Object, Object, Object> at(Cell cell) throws Exception {
        backend.setCurrentKey(cell.key);
        return state(cell.state, cell.namespace);
    }

    /** The descriptor with which the state was, or will be, registered. */
    StateDescriptor<? extends State, ?> descriptor(StateSpec spec) {
        return descriptors.computeIfAbsent(spec.name, name -> spec.descriptor(job.kind()));
    }

    List<Held> held(Cell cell) throws Exception {
        return Held.in(state(cell.state), job.setup().keys.serializer(), cell);
    }

    /** The unexpired content of a cell. */
    List<Held> live(Cell cell) throws Exception {
        List<Held> live = held(cell);
        live.removeIf(held -> held.isExpired(cell.state, job.now()));
        return live;
    }

    /** All cells of a state in the backend. */
    List<Cell> cells(StateSpec spec) throws Exception {
        state(spec);
        List<Cell> cells = new ArrayList<>();
        try (Stream<Tuple2<Object, Object>> all = backend.getKeysAndNamespaces(spec.name)) {
            all.forEach(each -> cells.add(new Cell(spec, each.f0, each.f1)));
        }
        return cells;
    }

    // ---------------------------------------------------------------------- timers

    @SuppressWarnings("unchecked")
    KeyGroupedInternalPriorityQueue<TimerHeapInternalTimer<Object, Object>> queue(QueueSpec spec) {
        return (KeyGroupedInternalPriorityQueue<TimerHeapInternalTimer<Object, Object>>)
                queues.computeIfAbsent(
                        spec.name,
                        name ->
                                backend.create(
                                        name,
                                        new TimerSerializer<>(
                                                job.setup().keys.serializer(),
                                                spec.namespaces.serializer())));
    }

    /**
     * All timers of a queue. The iterator of RocksDB's queue omits timers that were added before
     * the queue became empty the last time, so its timers are polled and added again.
     */
    List<TimerHeapInternalTimer<Object, Object>> timers(QueueSpec spec) throws Exception {
        KeyGroupedInternalPriorityQueue<TimerHeapInternalTimer<Object, Object>> queue = queue(spec);
        List<TimerHeapInternalTimer<Object, Object>> timers = new ArrayList<>();
        if (job.kind() == BackendKind.ROCKSDB) {
            while (!queue.isEmpty()) {
                timers.add(queue.poll());
            }
            queue.addAll(timers);
            return timers;
        }
        try (CloseableIterator<TimerHeapInternalTimer<Object, Object>> iterator =
                queue.iterator()) {
            iterator.forEachRemaining(timers::add);
        }
        return timers;
    }

    // ---------------------------------------------------------------------- snapshots

    /** The synchronous part of a snapshot. */
    RunnableFuture<SnapshotResult<KeyedStateHandle>> snapshot(
            long id, Snapshot.Kind kind, CheckpointStreamFactory streams) throws Exception {
        CheckpointOptions options = kind.options();
        return kind == Snapshot.Kind.CANONICAL_SAVEPOINT
                ? StreamOperatorStateHandler.prepareCanonicalSavepoint(backend, closeables)
                        .snapshot(id, id, streams, options)
                : backend.snapshot(id, id, streams, options);
    }

    @Override
    public void close() throws Exception {
        closeables.close();
        backend.close();
        backend.dispose();
    }
}
