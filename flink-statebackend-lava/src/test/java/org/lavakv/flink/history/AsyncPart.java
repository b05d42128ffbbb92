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
 * The asynchronous part of one subtask's checkpoint, on a thread of its own, that goes on when it
 * is told to: until it is done, or until its storage hangs. So any number of them are under way at
 * once, and a history is the same each time.
 *
 * <p>Threads: one drives it. Ownership: ends with {@link #goOn} or {@link #cancel}; what hangs then
 * goes on with {@link #letGo}.
 */
final class AsyncPart {

    /** Far more than it may take: only a hang is a failure. */
    private static final long HANG_MS = 60_000;

    private final RunnableFuture<SnapshotResult<KeyedStateHandle>> future;
    private final FaultyStreams streams;
    private final boolean uploadsItself;
    private final CountDownLatch pausedOrDone = new CountDownLatch(1);
    @Nullable private Thread thread;
    private boolean letGo;

    /**
     * @param uploadsItself whether its own thread writes to storage, and hangs with it, as Flink's
     *     writer of canonical savepoints does
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

    /** Whether Flink's own writer does the upload, whose messages name no file. */
    boolean uploadsItself() {
        return uploadsItself;
    }

    /** Whether its storage hangs. */
    boolean paused() {
        return thread != null && !letGo && !future.isDone();
    }

    /** Goes on to its next pause or its end; returns whether it has ended. */
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

    /** What it came to. */
    SnapshotResult<KeyedStateHandle> result() throws ExecutionException, InterruptedException {
        return future.get();
    }

    /** What a task does with it when its checkpoint is aborted: it returns though storage hangs. */
    void cancel() throws Exception {
        StateUtil.discardStateFuture(future);
        if (thread != null && !uploadsItself) {
            awaitEnd();
        }
    }

    /** What hangs goes on. */
    void letGo() {
        letGo = true;
        streams.release();
    }

    /** What hangs goes on, and its own thread ends. */
    void awaitGone() throws InterruptedException {
        letGo();
        if (thread != null) {
            awaitEnd();
        }
    }
}
