// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.bench;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.RunnableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;

/**
 * One subtask with a backend of several value states. Each key is in one of them, and all are
 * updated evenly. Between two updates its thread processes requests, like Flink's mailbox:
 * notifications, and the synchronous parts of checkpoints, whose asynchronous parts run on another
 * thread.
 *
 * <p>One thread at a time works; {@link #checkpoint} and {@link #completed} may be called by any
 * thread.
 */
final class CheckpointInstance {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final long PARK_NANOS_MAX = TimeUnit.MILLISECONDS.toNanos(100);

    private final AbstractKeyedStateBackend<Long> backend;
    private final List<ValueState<Object>> states = new ArrayList<>();
    private final CheckpointValues values;
    private final int keys;
    private final long updatesBefore;
    private final SplittableRandom random;
    private final Queue<Work> mailbox = new ConcurrentLinkedQueue<>();
    private volatile Thread working;

    /** The synchronous part of one checkpoint. */
    static final class Sync {
        final long cpuNanos;
        final long wallNanos;

        Sync(long cpuNanos, long wallNanos) {
            this.cpuNanos = cpuNanos;
            this.wallNanos = wallNanos;
        }
    }

    /** The parts of one checkpoint. */
    static final class Taken {
        final CompletableFuture<Sync> sync = new CompletableFuture<>();
        final CompletableFuture<KeyedStateHandle> handle = new CompletableFuture<>();
    }

    private interface Work {
        void run() throws Exception;
    }

    /**
     * @param backend owned by the caller
     * @param number distinguishes instances, and is a seed
     */
    CheckpointInstance(
            AbstractKeyedStateBackend<Long> backend,
            CheckpointLoad load,
            CheckpointValues values,
            int number)
            throws Exception {
        this.backend = backend;
        this.values = values;
        this.keys = load.keysOfInstance();
        this.updatesBefore = (long) (keys * load.updatesBefore);
        this.random = new SplittableRandom(number);
        for (int i = 0; i < load.states; i++) {
            states.add(
                    backend.getPartitionedState(
                            VoidNamespace.INSTANCE,
                            VoidNamespaceSerializer.INSTANCE,
                            new ValueStateDescriptor<>("state-" + i, values.serializer())));
        }
    }

    /** Writes all keys once, and then random ones as the load specifies. */
    void fill() throws Exception {
        for (int i = 0; i < keys; i++) {
            update(i);
        }
        for (long i = 0; i < updatesBefore; i++) {
            update(random.nextInt(keys));
        }
    }

    private void update(int number) throws Exception {
        backend.setCurrentKey(JoinerValues.mix(number));
        states.get(number % states.size()).update(values.next(random));
    }

    /**
     * Works until it is stopped. An instance that is late does not pause until it has caught up, so
     * the offered load does not depend on the engine.
     *
     * @param progress an operation is one update
     */
    void run(Progress progress, BooleanSupplier stop) throws Exception {
        working = Thread.currentThread();
        while (!stop.getAsBoolean()) {
            for (Work work = mailbox.poll(); work != null; work = mailbox.poll()) {
                work.run();
            }
            long wait = progress.dueNanos() - System.nanoTime();
            if (wait > 0) {
                LockSupport.parkNanos(Math.min(wait, PARK_NANOS_MAX));
            } else {
                update(random.nextInt(keys));
                progress.done(System.nanoTime());
            }
        }
    }

    /**
     * Requests a checkpoint.
     *
     * @param rest runs the asynchronous part
     */
    Taken checkpoint(CheckpointStore store, long id, Executor rest) {
        Taken taken = new Taken();
        post(() -> take(store, id, rest, taken));
        return taken;
    }

    /** This checkpoint is complete for all instances. */
    void completed(long id) {
        post(() -> backend.notifyCheckpointComplete(id));
    }

    private void post(Work work) {
        mailbox.add(work);
        LockSupport.unpark(working);
    }

    private void take(CheckpointStore store, long id, Executor rest, Taken taken) {
        RunnableFuture<SnapshotResult<KeyedStateHandle>> future;
        try {
            long beginCpu = THREADS.getCurrentThreadCpuTime();
            long begin = System.nanoTime();
            future = store.checkpoint(backend, id);
            long wallNanos = System.nanoTime() - begin;
            taken.sync.complete(new Sync(THREADS.getCurrentThreadCpuTime() - beginCpu, wallNanos));
        } catch (Exception e) {
            taken.sync.completeExceptionally(e);
            taken.handle.completeExceptionally(e);
            return;
        }
        rest.execute(
                () -> {
                    try {
                        future.run();
                        taken.handle.complete(future.get().getJobManagerOwnedSnapshot());
                    } catch (Exception e) {
                        taken.handle.completeExceptionally(e);
                    }
                });
    }
}
