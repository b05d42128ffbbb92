// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.history;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RunnableFuture;
import javax.annotation.Nullable;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.StateUtil;
import org.lavakv.flink.testing.FaultyStreams;

/**
 * The asynchronous part of one subtask's checkpoint, on its own thread. It continues only on
 * request: until it is done, or until its storage hangs. Therefore any number of parts may be
 * running, and histories are deterministic.
 *
 * <p>Threads: one controls it. Ownership: ends with {@link #goOn} or {@link #cancel}; hanging calls
 * then continue with {@link #letGo}.
 */
final class AsyncPart {

    /** Far more than a step may take: only a hang is a failure. */
    private static final long HANG_MS = 60_000;

    private final RunnableFuture<SnapshotResult<KeyedStateHandle>> future;
    private final FaultyStreams streams;
    private final boolean uploadsItself;
    private final CountDownLatch pausedOrDone = new CountDownLatch(1);
    @Nullable private Thread thread;
    private boolean letGo;

    /**
     * @param uploadsItself whether its own thread writes to storage and hangs with it, like Flink's
     *     writer of canonical savepoints
     */
    AsyncPart(
            RunnableFuture<SnapshotResult<KeyedStateHandle>> future,
            FaultyStreams streams,
            boolean uploadsItself) {
        this.future = future;
        this.streams = streams;
        this.uploadsItself = uploadsItself;
        streams.whenItHangs(pausedOrDone::countDown);
    }

    FaultyStreams streams() {
        return streams;
    }

    /** Whether Flink's own writer does the upload; its messages do not name files. */
    boolean uploadsItself() {
        return uploadsItself;
    }

    /** Whether its storage hangs. */
    boolean paused() {
        return thread != null && !letGo && !future.isDone();
    }

    /** Continues to its next pause or its end; returns whether it has ended. */
    boolean goOn() throws InterruptedException {
        if (thread == null) {
            thread =
                    new Thread(
                            () -> {
                                try {
                                    future.run();
                                } finally {
                                    pausedOrDone.countDown();
                                }
                            },
                            "async part");
            thread.start();
            pausedOrDone.await();
            if (!streams.hung()) {
                letGo = true;
                awaitEnd();
            }
        } else {
            letGo();
            awaitEnd();
        }
        return future.isDone();
    }

    private void awaitEnd() throws InterruptedException {
        thread.join(HANG_MS);
        assertThat(thread.isAlive()).as("the asynchronous part of a checkpoint hangs").isFalse();
    }

    /** The result of the part. */
    SnapshotResult<KeyedStateHandle> result() throws ExecutionException, InterruptedException {
        return future.get();
    }

    /** A task's reaction to an aborted checkpoint: it returns although storage hangs. */
    void cancel() throws Exception {
        StateUtil.discardStateFuture(future);
        if (thread != null && !uploadsItself) {
            awaitEnd();
        }
    }

    /** Releases hanging calls. */
    void letGo() {
        letGo = true;
        streams.release();
    }

    /** Releases hanging calls, and waits for the end of its own thread. */
    void awaitGone() throws InterruptedException {
        letGo();
        if (thread != null) {
            awaitEnd();
        }
    }
}
