// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink;

import static org.assertj.core.api.Assertions.assertThat;
import static org.lavakv.flink.testing.BackendFixture.ALL;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.RunnableFuture;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.runtime.checkpoint.CheckpointOptions;
import org.apache.flink.runtime.execution.CancelTaskException;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.BackendBuildingException;
import org.apache.flink.runtime.state.KeyGroupedInternalPriorityQueue;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.apache.flink.streaming.api.operators.TimerHeapInternalTimer;
import org.apache.flink.streaming.api.operators.TimerSerializer;
import org.apache.flink.util.ExceptionUtils;
import org.apache.flink.util.function.ThrowingRunnable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.lavakv.Faults;
import org.lavakv.Host;
import org.lavakv.flink.LavaOptions.TimerService;
import org.lavakv.flink.testing.BackendFixture;

/** A task that is cancelled while it waits in the engine returns, and no resources are leaked. */
@Timeout(120)
class CancellationTest {

    /** Far more than the wait may take: only a hang is a failure. */
    private static final long HANG_MS = 10_000;

    @TempDir Path root;

    private BackendFixture fixture;
    private LavaKeyedStateBackend<Integer> backend;

    @BeforeEach
    void open() throws Exception {
        fixture = new BackendFixture(root);
        backend = (LavaKeyedStateBackend<Integer>) fixture.create(ALL);
        backend.setCurrentKey(1);
    }

    @AfterEach
    void close() throws Exception {
        Faults.end();
        fixture.close();
    }

    /** A thread that runs one action. */
    private static final class Task {
        final AtomicReference<Throwable> thrown = new AtomicReference<>();
        final Thread thread;
        volatile boolean interrupted;

        Task(ThrowingRunnable<?> action) {
            thread =
                    new Thread(
                            () -> {
                                try {
                                    action.run();
                                } catch (Throwable t) {
                                    thrown.set(t);
                                }
                                interrupted = Thread.currentThread().isInterrupted();
                            });
            thread.start();
        }

        Throwable thrown() throws Exception {
            thread.join(HANG_MS);
            assertThat(thread.isAlive()).as("the task hangs").isFalse();
            return thrown.get();
        }
    }

    private KeyGroupedInternalPriorityQueue<TimerHeapInternalTimer<Integer, VoidNamespace>> timers(
            AbstractKeyedStateBackend<Integer> of) {
        return of.create(
                "_timer_state/event_timers",
                new TimerSerializer<>(IntSerializer.INSTANCE, VoidNamespaceSerializer.INSTANCE));
    }

    private static TimerHeapInternalTimer<Integer, VoidNamespace> timer(long time) {
        return new TimerHeapInternalTimer<>(time, 1, VoidNamespace.INSTANCE);
    }

    private Map<String, ThrowingRunnable<?>> waits() {
        ValueState<String> value = BackendFixture.value(backend);
        ListState<Integer> list = BackendFixture.list(backend);
        MapState<String, Integer> map = BackendFixture.map(backend);
        KeyGroupedInternalPriorityQueue<TimerHeapInternalTimer<Integer, VoidNamespace>> timers =
                timers(backend);
        timers.add(timer(5));
        Map<String, ThrowingRunnable<?>> waits = new LinkedHashMap<>();
        waits.put("update", () -> value.update("v"));
        waits.put("clear", value::clear);
        waits.put("add", () -> list.add(1));
        waits.put("addAll", () -> list.addAll(Arrays.asList(1, 2)));
        waits.put("put", () -> map.put("a", 1));
        waits.put("putAll", () -> map.putAll(Collections.singletonMap("a", 1)));
        waits.put("remove", () -> map.remove("a"));
        waits.put("clear of a map", map::clear);
        waits.put("add of a timer", () -> timers.add(timer(1)));
        waits.put("poll of a timer", timers::poll);
        waits.put(
                "snapshot",
                () ->
                        backend.snapshot(
                                1,
                                0,
                                fixture.streams(1),
                                CheckpointOptions.forCheckpointWithDefaultLocation()));
        waits.put("savepoint", backend::savepoint);
        return waits;
    }

    @Test
    void stalledWritesEndWithAnInterrupt() throws Exception {
        for (Map.Entry<String, ThrowingRunnable<?>> wait : waits().entrySet()) {
            long before = backend.instance().db().stalledNanos();
            Faults.stall();
            Task task = new Task(wait.getValue());
            while (backend.instance().db().stalledNanos() == before && task.thread.isAlive()) {
                Thread.sleep(1);
            }
            task.thread.interrupt();
            assertThat(task.thrown())
                    .as(wait.getKey())
                    .isNotNull()
                    .satisfies(
                            e ->
                                    assertThat(ExceptionUtils.stringifyException(e))
                                            .contains("the thread was interrupted"));
            assertThat(task.interrupted).as(wait.getKey()).isTrue();
            Faults.end();
        }
        assertThat(BackendFixture.value(backend).value()).isNull();
        assertThat(BackendFixture.list(backend).get()).isNull();
        assertThat(BackendFixture.map(backend).isEmpty()).isTrue();
        KeyGroupedInternalPriorityQueue<TimerHeapInternalTimer<Integer, VoidNamespace>> timers =
                timers(backend);
        assertThat(timers.poll()).isEqualTo(timer(5));
        assertThat(timers.poll()).isNull();
    }

    private RunnableFuture<SnapshotResult<KeyedStateHandle>> snapshot() throws Exception {
        BackendFixture.value(backend).update("v");
        return backend.snapshot(
                1, 0, fixture.streams(1), CheckpointOptions.forCheckpointWithDefaultLocation());
    }

    /** The asynchronous part of a checkpoint, which is most likely waiting for its flush. */
    private static Task waitingForItsFlush(RunnableFuture<?> snapshot) throws Exception {
        Faults.stall();
        Task task =
                new Task(
                        () -> {
                            snapshot.run();
                            snapshot.get();
                        });
        Thread.sleep(50);
        assertThat(task.thread.isAlive()).isTrue();
        return task;
    }

    @Test
    void snapshotThatWaitsForItsFlushIsCancelled() throws Exception {
        RunnableFuture<SnapshotResult<KeyedStateHandle>> snapshot = snapshot();
        Task task = waitingForItsFlush(snapshot);
        assertThat(snapshot.cancel(true)).isTrue();
        assertThat(task.thrown()).isNotNull();
        Faults.end();
        assertThat(backend.instance().db().getStatistics().snapshotsOpen()).isZero();
        assertThat(BackendFixture.filesIn(fixture.checkpoints())).isEmpty();
        BackendFixture.remote(fixture.checkpoint(backend, 2));
    }

    @Test
    void snapshotThatWaitsForItsFlushEndsWithTheBackend() throws Exception {
        Task task = waitingForItsFlush(snapshot());
        fixture.close(backend);
        assertThat(task.thrown()).isNotNull();
        Faults.end();
        // The backend's database, its memory, and its volume if it has one.
        assertThat(Host.openNativeObjects()).isZero();
        assertThat(BackendFixture.filesIn(fixture.checkpoints())).isEmpty();
    }

    private KeyedStateHandle savepoint() throws Exception {
        for (int key = 0; key < 100; key++) {
            backend.setCurrentKey(key);
            BackendFixture.value(backend).update("value");
        }
        return BackendFixture.savepoint(backend);
    }

    private KeyedStateHandle checkpointWithHeapTimers() throws Exception {
        fixture.use(
                fixture.newLava(true).set(LavaOptions.TIMER_SERVICE_FACTORY, TimerService.HEAP));
        AbstractKeyedStateBackend<Integer> heap = fixture.create(ALL);
        timers(heap).add(timer(5));
        KeyedStateHandle handle = BackendFixture.remote(fixture.checkpoint(heap, 1));
        fixture.close(heap);
        fixture.use(fixture.newLava(true));
        return handle;
    }

    private Task stalledRestore(KeyedStateHandle handle) throws Exception {
        Faults.stall();
        Task task = new Task(() -> fixture.create(ALL, handle));
        Thread.sleep(50);
        assertThat(task.thread.isAlive()).isTrue();
        return task;
    }

    private void cancelled(Task task, long nativeObjects) throws Exception {
        assertThat(task.thrown())
                .isInstanceOf(BackendBuildingException.class)
                .hasCauseInstanceOf(CancelTaskException.class);
        Faults.end();
        assertThat(Host.openNativeObjects()).isEqualTo(nativeObjects);
        assertThat(BackendFixture.filesIn(fixture.instances())).isEmpty();
    }

    @Test
    void stalledRestoreEndsWithAnInterrupt() throws Exception {
        KeyedStateHandle savepoint = savepoint();
        KeyedStateHandle timers = checkpointWithHeapTimers();
        fixture.close(backend);
        long before = Host.openNativeObjects();
        for (KeyedStateHandle handle : Arrays.asList(savepoint, timers)) {
            Task task = stalledRestore(handle);
            task.thread.interrupt();
            cancelled(task, before);
            assertThat(task.interrupted).isTrue();
        }
    }

    @Test
    void stalledRestoreOfASavepointEndsWithItsRegistry() throws Exception {
        endsWithItsRegistry(savepoint());
    }

    @Test
    void stalledRestoreOfTimersEndsWithItsRegistry() throws Exception {
        endsWithItsRegistry(checkpointWithHeapTimers());
    }

    private void endsWithItsRegistry(KeyedStateHandle handle) throws Exception {
        fixture.close(backend);
        long before = Host.openNativeObjects();
        Task task = stalledRestore(handle);
        fixture.cancel().close();
        cancelled(task, before);
    }
}
