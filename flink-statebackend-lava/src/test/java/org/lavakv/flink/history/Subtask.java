// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.history;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.RunnableFuture;
import javax.annotation.Nullable;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.runtime.checkpoint.CheckpointOptions;
import org.apache.flink.runtime.checkpoint.SavepointType;
import org.apache.flink.runtime.checkpoint.SnapshotType;
import org.apache.flink.runtime.state.CheckpointStreamFactory;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyGroupedInternalPriorityQueue;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.apache.flink.streaming.api.operators.StreamOperatorStateHandler;
import org.apache.flink.streaming.api.operators.TimerHeapInternalTimer;
import org.apache.flink.streaming.api.operators.TimerSerializer;
import org.apache.flink.util.CloseableIterator;
import org.lavakv.flink.LavaKeyedStateBackend;
import org.lavakv.flink.testing.FaultyStreams;

/**
 * One subtask: its backend, its running checkpoints, and notifications that have not arrived yet.
 *
 * <p>Threads: one. Ownership: the backend, until {@link #end}.
 */
final class Subtask {

    final int index;
    final KeyGroupRange range;
    final LavaKeyedStateBackend<Integer> backend;
    private final List<ModelledState<?>> states;
    private final LocalCopies localCopies;
    @Nullable private final FileMerging merging;
    private final CloseableRegistry closeables = new CloseableRegistry();
    private final TreeMap<Long, AsyncPart> running = new TreeMap<>();
    private final List<Notification> unheard = new ArrayList<>();
    private final Map<Integer, KeyGroupedInternalPriorityQueue<?>> queues = new HashMap<>();

    Subtask(
            int index,
            KeyGroupRange range,
            LavaKeyedStateBackend<Integer> backend,
            List<ModelledState<?>> states,
            LocalCopies localCopies,
            @Nullable FileMerging merging) {
        this.index = index;
        this.range = range;
        this.backend = backend;
        this.states = states;
        this.localCopies = localCopies;
        this.merging = merging;
    }

    /** The JobManager's message about a checkpoint. */
    enum News {
        COMPLETE,
        ABORT,
        SUBSUME
    }

    /** A notification by the JobManager. */
    static final class Notification {
        final News news;
        final long checkpoint;

        Notification(News news, long checkpoint) {
            this.news = news;
            this.checkpoint = checkpoint;
        }

        @Override
        public String toString() {
            return news.name().toLowerCase(Locale.ROOT) + " " + checkpoint;
        }
    }

    // ---------------------------------------------------------------------- state

    /** Registers all states, like an operator that opens. */
    void registerAll() throws Exception {
        for (ModelledState<?> state : states) {
            state.bind(backend);
        }
        for (int queue = 0; queue < Model.QUEUES.size(); queue++) {
            queue(queue);
        }
    }

    @SuppressWarnings("unchecked")
    private KeyGroupedInternalPriorityQueue<TimerHeapInternalTimer<Integer, VoidNamespace>> queue(
            int queue) {
        return (KeyGroupedInternalPriorityQueue<TimerHeapInternalTimer<Integer, VoidNamespace>>)
                queues.computeIfAbsent(
                        queue,
                        number ->
                                backend.create(
                                        Model.QUEUES.get(number),
                                        new TimerSerializer<>(
                                                IntSerializer.INSTANCE,
                                                VoidNamespaceSerializer.INSTANCE)));
    }

    void change(Model model, int key, int state, Random random, long now) throws Exception {
        backend.setCurrentKey(key);
        model.hold(
                key,
                state,
                states.get(state).changeBound(backend, model.held(key, state), random, now));
    }

    /** Adds, removes or fires a timer of a key. */
    void changeTimers(Model model, int queue, int key, Random random) {
        KeyGroupedInternalPriorityQueue<TimerHeapInternalTimer<Integer, VoidNamespace>> timers =
                queue(queue);
        long time = random.nextInt(60) - 20;
        int what = random.nextInt(6);
        if (what == 0) {
            TreeSet<TimerHeapInternalTimer<Integer, VoidNamespace>> own =
                    model.timers(queue, range);
            TimerHeapInternalTimer<Integer, VoidNamespace> fired = timers.poll();
            if (own.isEmpty()) {
                assertThat(fired).as("a timer of " + Model.QUEUES.get(queue)).isNull();
            } else {
                assertThat(fired).as("a timer of " + Model.QUEUES.get(queue)).isNotNull();
                // Timers with equal times may come in any order.
                assertThat(fired.getTimestamp()).isEqualTo(own.first().getTimestamp());
                assertThat(model.timers(queue).remove(fired)).isTrue();
            }
        } else if (what == 1) {
            timers.remove(timer(time, key));
            model.timers(queue).remove(timer(time, key));
        } else {
            timers.add(timer(time, key));
            model.timers(queue).add(timer(time, key));
        }
    }

    private static TimerHeapInternalTimer<Integer, VoidNamespace> timer(long time, int key) {
        return new TimerHeapInternalTimer<>(time, key, VoidNamespace.INSTANCE);
    }

    /** Compares the whole content of the backend. */
    void check(Model model, long now) throws Exception {
        for (int key : model.keysIn(range)) {
            backend.setCurrentKey(key);
            for (int i = 0; i < states.size(); i++) {
                ModelledState<?> state = states.get(i);
                String held = state.readBound(backend);
                String expected = state.expected(model.held(key, i), now);
                if (!held.equals(expected)) {
                    assertThat(held)
                            .as(state.descriptor.getName() + " of key " + key + " at " + now)
                            .isEqualTo(expected);
                }
            }
        }
        for (int queue = 0; queue < Model.QUEUES.size(); queue++) {
            List<TimerHeapInternalTimer<Integer, VoidNamespace>> held = new ArrayList<>();
            try (CloseableIterator<TimerHeapInternalTimer<Integer, VoidNamespace>> iterator =
                    queue(queue).iterator()) {
                iterator.forEachRemaining(held::add);
            }
            assertThat(held)
                    .as(Model.QUEUES.get(queue))
                    .containsExactlyInAnyOrderElementsOf(model.timers(queue, range));
        }
    }

    // ---------------------------------------------------------------------- checkpoints

    /** The synchronous part of a checkpoint. */
    void begin(
            long checkpoint,
            CheckpointOptions options,
            CheckpointStreamFactory factory,
            FaultyStreams.Plan plan)
            throws Exception {
        FaultyStreams streams = new FaultyStreams(factory, plan);
        boolean canonical = isCanonical(options.getCheckpointType());
        RunnableFuture<SnapshotResult<KeyedStateHandle>> future =
                canonical
                        ? canonical(checkpoint, options, streams)
                        : backend.snapshot(checkpoint, 0, streams, options);
        running.put(checkpoint, new AsyncPart(future, streams, canonical));
    }

    private RunnableFuture<SnapshotResult<KeyedStateHandle>> canonical(
            long checkpoint, CheckpointOptions options, CheckpointStreamFactory streams)
            throws Exception {
        return StreamOperatorStateHandler.prepareCanonicalSavepoint(backend, closeables)
                .snapshot(checkpoint, 0, streams, options);
    }

    static boolean isCanonical(SnapshotType type) {
        return type.isSavepoint()
                && ((SavepointType) type).getFormatType() == SavepointFormatType.CANONICAL;
    }

    /** The asynchronous parts that have not ended, by their checkpoints. */
    TreeMap<Long, AsyncPart> running() {
        return running;
    }

    /** An asynchronous part has succeeded; its local copy belongs to the subtask. */
    void completed(long checkpoint, SnapshotResult<KeyedStateHandle> result) {
        running.remove(checkpoint);
        localCopies.store(index, checkpoint, result.getTaskLocalSnapshot());
    }

    // ---------------------------------------------------------------------- notifications

    /** Sends a notification, which arrives with a later {@link #hear}. */
    void tell(Notification notification) {
        unheard.add(notification);
    }

    int unheard() {
        return unheard.size();
    }

    /** One of the sent notifications arrives; the others are still on their way. */
    Notification hear(int which) throws Exception {
        Notification heard = unheard.remove(which);
        switch (heard.news) {
            case COMPLETE:
                backend.notifyCheckpointComplete(heard.checkpoint);
                localCopies.confirm(index, heard.checkpoint);
                break;
            case ABORT:
                AsyncPart part = running.remove(heard.checkpoint);
                if (part != null) {
                    part.cancel();
                }
                backend.notifyCheckpointAborted(heard.checkpoint);
                localCopies.abort(index, heard.checkpoint);
                break;
            default:
                break;
        }
        if (merging != null) {
            hear(heard, merging);
        }
        return heard;
    }

    private void hear(Notification heard, FileMerging files) throws Exception {
        switch (heard.news) {
            case COMPLETE:
                files.completed(index, heard.checkpoint);
                break;
            case ABORT:
                files.aborted(index, heard.checkpoint);
                break;
            default:
                files.subsumed(index, heard.checkpoint);
                break;
        }
    }

    // ---------------------------------------------------------------------- end

    /** The task is cancelled or done. Returns the parts that still hang in storage. */
    List<AsyncPart> end() throws Exception {
        List<AsyncPart> parts = new ArrayList<>(running.values());
        running.clear();
        for (AsyncPart part : parts) {
            part.cancel();
        }
        closeables.close();
        backend.close();
        backend.dispose();
        return parts;
    }
}
