// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink;

import static org.assertj.core.api.Assertions.assertThat;
import static org.lavakv.flink.testing.BackendFixture.ALL;
import static org.lavakv.flink.testing.BackendFixture.remote;

import java.nio.file.Path;
import java.util.Random;
import java.util.concurrent.RunnableFuture;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.runtime.checkpoint.CheckpointOptions;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.SnapshotResult;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.lavakv.Host;
import org.lavakv.LavaDB;
import org.lavakv.flink.testing.BackendFixture;
import org.lavakv.flink.testing.HangingUploads;
import org.lavakv.flink.testing.LogLines;

/** The storage of checkpoints hangs, and the job continues. */
@Timeout(120)
class HangingUploadTest {

    private static final int KEYS = 200;
    private static final int VALUE_BYTES = 1000;
    private static final int MEMORY_BYTES = 16 << 20;

    @TempDir Path root;

    private final Random random = new Random(7);
    private BackendFixture fixture;
    private LavaKeyedStateBackend<Integer> backend;
    private HangingUploads uploads;
    private RunnableFuture<SnapshotResult<KeyedStateHandle>> hanging;
    private Thread async;

    @BeforeEach
    void open() throws Exception {
        fixture = new BackendFixture(root);
        use(fixture.newLava(true));
    }

    private void use(LavaStateBackend lava) throws Exception {
        fixture.use(
                lava.set(LavaOptions.FIX_PER_SLOT_MEMORY_SIZE, new MemorySize(MEMORY_BYTES))
                        .set(LavaConfigurableOptions.MEMTABLE_SIZE, MemorySize.parse("256kb")));
        backend = (LavaKeyedStateBackend<Integer>) fixture.create(ALL);
    }

    @AfterEach
    void close() throws Exception {
        uploads.release();
        async.join();
        fixture.close();
    }

    /** An almost incompressible value that contains its key and round. */
    private String value(int key, int round) {
        StringBuilder text = new StringBuilder(VALUE_BYTES).append(key).append('/').append(round);
        while (text.length() < VALUE_BYTES) {
            text.append((char) ('!' + random.nextInt(90)));
        }
        return text.toString();
    }

    private void write(int round) throws Exception {
        ValueState<String> state = BackendFixture.value(backend);
        for (int key = 0; key < KEYS; key++) {
            backend.setCurrentKey(key);
            state.update(value(key, round));
        }
    }

    private static void holdsRound(AbstractKeyedStateBackend<Integer> of, int round)
            throws Exception {
        ValueState<String> state = BackendFixture.value(of);
        for (int key = 0; key < KEYS; key++) {
            of.setCurrentKey(key);
            assertThat(state.value()).startsWith(key + "/" + round).hasSize(VALUE_BYTES);
        }
    }

    private void hang(long checkpoint) throws Exception {
        hang(checkpoint, false);
    }

    private void hang(long checkpoint, boolean behindUploads) throws Exception {
        uploads = new HangingUploads(fixture.streams(checkpoint), behindUploads);
        hanging =
                backend.snapshot(
                        checkpoint,
                        0,
                        uploads,
                        CheckpointOptions.forCheckpointWithDefaultLocation());
        async = new Thread(hanging);
        async.start();
        uploads.awaitHanging();
    }

    /** Files that an upload has not read yet occupy no memory that writers need. */
    @Test
    void writersGoOnWhileAnUploadHangs() throws Exception {
        write(0);
        hang(1);
        int rounds = 3 * MEMORY_BYTES / (KEYS * VALUE_BYTES);
        for (int round = 1; round <= rounds; round++) {
            write(round);
        }
        holdsRound(backend, rounds);
        KeyedStateHandle later = remote(fixture.checkpoint(backend, 2));
        assertThat(hanging.isDone()).isFalse();
        uploads.release();
        async.join();
        holdsRound(fixture.create(ALL, remote(hanging.get())), 0);
        holdsRound(fixture.create(ALL, later), rounds);
    }

    /** Different checkpoints use different threads, whatever happened to the first. */
    @ParameterizedTest(name = "first one cancelled: {0}")
    @ValueSource(booleans = {false, true})
    void checkpointsGoOnWhileAnUploadHangs(boolean cancelled) throws Exception {
        fixture.close(backend);
        use(fixture.newLava(true).set(LavaOptions.CHECKPOINT_TRANSFER_THREAD_NUM, 1));
        write(0);
        hang(1);
        if (cancelled) {
            assertThat(hanging.cancel(true)).isTrue();
        }
        write(1);
        holdsRound(fixture.create(ALL, remote(fixture.checkpoint(backend, 2))), 1);
        assertThat(hanging.isDone()).isEqualTo(cancelled);
    }

    /** The upload's thread closes the snapshot later, which is no leak to warn about. */
    @Test
    void aBackendThatGoesWhileItsUploadHangsLogsNothing() throws Exception {
        write(0);
        // The thread that owns the snapshot.
        hang(1, true);
        try (LogLines log = new LogLines(LavaDB.class.getName(), true)) {
            fixture.close(backend);
            assertThat(log.lines()).isEmpty();
        }
        assertThat(async.isAlive()).isTrue();
        assertThat(Host.getStatistics().instancesOpen()).isZero();
    }
}
