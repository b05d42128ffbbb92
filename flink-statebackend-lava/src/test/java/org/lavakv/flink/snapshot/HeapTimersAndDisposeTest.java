// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.snapshot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.lavakv.flink.testing.BackendFixture.ALL;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Random;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RunnableFuture;
import java.util.concurrent.locks.LockSupport;
import org.apache.flink.runtime.checkpoint.CheckpointOptions;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.KeyGroupedInternalPriorityQueue;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.apache.flink.streaming.api.operators.TimerHeapInternalTimer;
import org.apache.flink.streaming.api.operators.TimerSerializer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.lavakv.flink.LavaOptions;
import org.lavakv.flink.LavaOptions.TimerService;
import org.lavakv.flink.testing.BackendFixture;
import org.lavakv.flink.testing.CountingStringSerializer;

/** A checkpoint writes its file of timers while the backend is disposed. */
@Timeout(120)
class HeapTimersAndDisposeTest {

    private static final int TIMERS = 3000;

    @TempDir Path root;
    private BackendFixture fixture;

    @BeforeEach
    void open() throws Exception {
        fixture = new BackendFixture(root);
        fixture.use(
                fixture.newLava(true).set(LavaOptions.TIMER_SERVICE_FACTORY, TimerService.HEAP));
    }

    @AfterEach
    void close() throws Exception {
        CountingStringSerializer.reset();
        fixture.close();
    }

    private AbstractKeyedStateBackend<String> filled() throws Exception {
        AbstractKeyedStateBackend<String> backend =
                fixture.create(ALL, BackendFixture.none(), new CountingStringSerializer());
        KeyGroupedInternalPriorityQueue<TimerHeapInternalTimer<String, VoidNamespace>> timers =
                backend.create(
                        "_timer_state/event_timers",
                        new TimerSerializer<>(
                                new CountingStringSerializer(), VoidNamespaceSerializer.INSTANCE));
        for (int i = 0; i < TIMERS; i++) {
            timers.add(new TimerHeapInternalTimer<>(i, "key " + i, VoidNamespace.INSTANCE));
        }
        return backend;
    }

    private RunnableFuture<SnapshotResult<KeyedStateHandle>> snapshot(
            AbstractKeyedStateBackend<?> backend) throws Exception {
        return backend.snapshot(
                1, 0, fixture.streams(1), CheckpointOptions.forCheckpointWithDefaultLocation());
    }

    private static void dispose(AbstractKeyedStateBackend<?> backend) {
        try {
            backend.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        backend.dispose();
    }

    private static Thread start(Runnable action) {
        Thread thread = new Thread(action);
        thread.start();
        return thread;
    }

    @Test
    void directoryStaysUntilTheFileIsWritten() throws Exception {
        AbstractKeyedStateBackend<String> backend = filled();
        RunnableFuture<SnapshotResult<KeyedStateHandle>> snapshot = snapshot(backend);
        CountDownLatch writing = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        CountingStringSerializer.whenSerializing(
                () -> {
                    writing.countDown();
                    awaitWhateverHappens(goOn);
                });
        Thread upload = start(snapshot);
        writing.await();
        Thread task = start(() -> dispose(backend));
        // Long enough to detect a dispose that does not wait.
        task.join(200);
        assertThat(task.isAlive()).isTrue();
        assertThat(BackendFixture.filesIn(fixture.instances()))
                .anyMatch(file -> file.getFileName().toString().startsWith("timers-1-"));
        goOn.countDown();
        task.join();
        upload.join();
        assertThatThrownBy(snapshot::get).isInstanceOf(CancellationException.class);
        nothingIsLeft();
    }

    /** Waits even if the cancelled checkpoint's thread is interrupted, as a write would. */
    private static void awaitWhateverHappens(CountDownLatch latch) {
        boolean interrupted = false;
        while (latch.getCount() > 0) {
            try {
                latch.await();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private static boolean hasFiles(Path directory) {
        try {
            return !BackendFixture.filesIn(directory).isEmpty();
        } catch (UncheckedIOException e) {
            // A file was removed during the walk.
            assertThat(e).hasCauseInstanceOf(NoSuchFileException.class);
            return true;
        }
    }

    private void nothingIsLeft() {
        assertThat(fixture.instanceDirectories()).isEmpty();
        assertThat(BackendFixture.filesIn(fixture.checkpoints())).isEmpty();
        assertThat(BackendFixture.filesIn(fixture.shared())).isEmpty();
    }

    @Test
    void nothingIsLeftWheneverItIsDisposed() throws Exception {
        Random random = new Random(3);
        int lost = 0;
        for (int run = 0; run < 30; run++) {
            AbstractKeyedStateBackend<String> backend = filled();
            RunnableFuture<SnapshotResult<KeyedStateHandle>> snapshot = snapshot(backend);
            Thread upload = start(snapshot);
            LockSupport.parkNanos(random.nextInt(4_000_000));
            dispose(backend);
            upload.join();
            try {
                snapshot.get().discardState();
            } catch (CancellationException e) {
                // The backend was disposed first. A thread of the upload may still be removing its
                // own files. Flink forgets a result that was completed at that moment; its files
                // are removed with the directory of the checkpoint.
                for (int wait = 0; wait < 200 && hasFiles(fixture.checkpoints()); wait++) {
                    Thread.sleep(10);
                }
                boolean forgotten = false;
                for (Path file : BackendFixture.filesIn(fixture.checkpoints())) {
                    forgotten |= Files.deleteIfExists(file);
                }
                lost += forgotten ? 1 : 0;
            }
            assertThat(fixture.instanceDirectories()).isEmpty();
        }
        assertThat(lost).isLessThan(5);
        nothingIsLeft();
    }
}
