// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.lavakv.flink.testing.BackendFixture.ALL;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RunnableFuture;
import java.util.stream.Collectors;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.runtime.checkpoint.CheckpointOptions;
import org.apache.flink.runtime.checkpoint.SavepointType;
import org.apache.flink.runtime.state.CheckpointStateOutputStream;
import org.apache.flink.runtime.state.CheckpointStorageLocationReference;
import org.apache.flink.runtime.state.CheckpointedStateScope;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.SavepointResources;
import org.apache.flink.runtime.state.SavepointSnapshotStrategy;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.SnapshotStrategyRunner;
import org.apache.flink.runtime.state.memory.MemCheckpointStreamFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.lavakv.flink.testing.BackendFixture;
import org.lavakv.flink.testing.ForwardingOutput;
import org.lavakv.flink.testing.ForwardingStreams;

/** However a savepoint ends, its thread ends and its pin is released. */
@Timeout(120)
class SavepointReadTest {

    /** Enough keys for several pages to wait while one is written. */
    private static final int KEYS = 40_000;

    private static final String VALUE = "v".repeat(200);
    private static final String THREAD_NAME = "lava-savepoint-read";
    private static final int HANG_MS = 60_000;

    @TempDir Path root;
    private BackendFixture fixture;
    private LavaKeyedStateBackend<Integer> backend;

    /** Opened at the end, so that a failed test leaves no thread waiting. */
    private final Gate gate = new Gate();

    private final List<Thread> writers = new ArrayList<>();

    @BeforeEach
    void open() throws Exception {
        fixture = new BackendFixture(root);
        backend = (LavaKeyedStateBackend<Integer>) fixture.create(ALL);
        for (int key = 0; key < KEYS; key++) {
            backend.setCurrentKey(key);
            BackendFixture.value(backend).update(VALUE);
        }
    }

    @AfterEach
    void close() throws Exception {
        gate.opened.countDown();
        for (Thread writer : writers) {
            writer.join(HANG_MS);
        }
        fixture.close();
    }

    /** Streams whose large writes wait, and then fail on request. */
    private static final class Gate extends ForwardingStreams {
        private static final int LARGE_BYTES = 10_000;

        final CountDownLatch reached = new CountDownLatch(1);
        final CountDownLatch opened = new CountDownLatch(1);
        volatile boolean fails;

        Gate() {
            super(new MemCheckpointStreamFactory(64 << 20));
        }

        @Override
        public CheckpointStateOutputStream createCheckpointStateOutputStream(
                CheckpointedStateScope scope) throws IOException {
            return new ForwardingOutput(super.createCheckpointStateOutputStream(scope)) {
                @Override
                public void write(byte[] from, int offset, int length) throws IOException {
                    if (length > LARGE_BYTES) {
                        await();
                    }
                    super.write(from, offset, length);
                }
            };
        }

        private void await() throws IOException {
            reached.countDown();
            try {
                opened.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IOException("interrupted");
            }
            if (fails) {
                throw new IOException("the storage is down");
            }
        }
    }

    private RunnableFuture<SnapshotResult<KeyedStateHandle>> savepoint() throws Exception {
        SavepointResources<Integer> resources = backend.savepoint();
        return new SnapshotStrategyRunner<>(
                        "savepoint",
                        new SavepointSnapshotStrategy<>(resources.getSnapshotResources()),
                        new CloseableRegistry(),
                        resources.getPreferredSnapshotExecutionType())
                .snapshot(
                        1,
                        1,
                        gate,
                        CheckpointOptions.alignedNoTimeout(
                                SavepointType.savepoint(SavepointFormatType.CANONICAL),
                                CheckpointStorageLocationReference.getDefault()));
    }

    private Thread start(Runnable savepoint) {
        Thread writer = new Thread(savepoint);
        writers.add(writer);
        writer.start();
        return writer;
    }

    private static List<Thread> readers() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith(THREAD_NAME))
                .collect(Collectors.toList());
    }

    private void nothingStays() throws Exception {
        assertThat(readers()).isEmpty();
        assertThat(backend.instance().db().getStatistics().snapshotsOpen()).isZero();
    }

    /**
     * Number of scans of the engine when its reader has come to rest. Seeing the thread wait once
     * is not enough: it may have been woken without having had a processor since.
     */
    private long scansWhenItWaits(Thread reader) throws Exception {
        long scans = -1;
        for (int unchanged = 0; unchanged < 20; unchanged++) {
            long now = backend.instance().db().getStatistics().scans();
            if (now != scans || reader.getState() != Thread.State.WAITING) {
                // A reader without limit would read to the end.
                assertThat(reader.isAlive()).isTrue();
                scans = now;
                unchanged = 0;
            }
            Thread.sleep(1);
        }
        return scans;
    }

    private void savepointIsWhole() throws Exception {
        KeyedStateHandle handle = BackendFixture.savepoint(backend);
        nothingStays();
        LavaKeyedStateBackend<Integer> restored =
                (LavaKeyedStateBackend<Integer>) fixture.create(ALL, handle);
        for (int key = 0; key < KEYS; key += 7) {
            restored.setCurrentKey(key);
            assertThat(BackendFixture.value(restored).value()).isEqualTo(VALUE);
        }
        fixture.close(restored);
    }

    @Test
    void readsAheadOfAWriteThatWaitsButNotWithoutBound() throws Exception {
        RunnableFuture<SnapshotResult<KeyedStateHandle>> savepoint = savepoint();
        Thread writer = start(savepoint);
        gate.reached.await();
        List<Thread> readers = readers();
        assertThat(readers).hasSize(1);
        long scans = scansWhenItWaits(readers.get(0));
        gate.opened.countDown();
        assertThat(savepoint.get().getJobManagerOwnedSnapshot()).isNotNull();
        writer.join(HANG_MS);
        assertThat(backend.instance().db().getStatistics().scans()).isGreaterThan(scans);
        nothingStays();
    }

    @Test
    void cancelledMidwayLeavesNothing() throws Exception {
        RunnableFuture<SnapshotResult<KeyedStateHandle>> savepoint = savepoint();
        Thread writer = start(savepoint);
        gate.reached.await();
        assertThat(savepoint.cancel(true)).isTrue();
        writer.join(HANG_MS);
        assertThat(writer.isAlive()).isFalse();
        nothingStays();
        savepointIsWhole();
    }

    @Test
    void failedWriteLeavesNothing() throws Exception {
        gate.fails = true;
        gate.opened.countDown();
        RunnableFuture<SnapshotResult<KeyedStateHandle>> savepoint = savepoint();
        savepoint.run();
        assertThatThrownBy(savepoint::get).hasRootCauseMessage("the storage is down");
        nothingStays();
        savepointIsWhole();
    }

    @Test
    void failedReadNamesStateAndFile() throws Exception {
        BackendFixture.remote(fixture.checkpoint(backend, 1)); // flushes
        String damaged = "";
        for (Path directory : fixture.instanceDirectories()) {
            for (Path file : BackendFixture.filesIn(directory)) {
                if (file.toString().endsWith(".ksst")) {
                    damaged = file.getFileName().toString();
                    try (RandomAccessFile bytes = new RandomAccessFile(file.toFile(), "rw")) {
                        bytes.seek(bytes.length() / 2);
                        bytes.write(new byte[8192]);
                    }
                }
            }
        }
        assertThat(damaged).isNotEmpty();
        gate.opened.countDown();
        RunnableFuture<SnapshotResult<KeyedStateHandle>> savepoint = savepoint();
        savepoint.run();
        assertThatThrownBy(savepoint::get).rootCause().hasMessageContaining(damaged);
        assertThatThrownBy(savepoint::get)
                .cause()
                .hasMessageContaining("Reading states for a savepoint failed: ")
                .hasMessageContaining(
                        "from table '" + BackendFixture.VALUE.getName() + "' in partition ");
        nothingStays();
    }
}
