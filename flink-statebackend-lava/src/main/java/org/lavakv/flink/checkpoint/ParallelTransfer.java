// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.checkpoint;

import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.util.IOUtils;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Copies several files at a time, all or nothing: the first failure, an interrupt, or the close of
 * the caller's registry stops the remaining copies and undoes the finished ones.
 *
 * <p>A stopped run returns at once, even if a copy hangs in a call that cannot be interrupted. A
 * copy that returns later undoes its own work.
 *
 * <p>Threads: {@link #run} from any thread, also concurrently; idle threads end by themselves.
 *
 * <p>Ownership: {@link #close} ends the threads; results belong to the caller of {@link #run}.
 */
public final class ParallelTransfer implements AutoCloseable {

    /** How long an idle thread is kept. */
    private static final int IDLE_SECONDS = 10;

    /** One copy. */
    public interface Task<T> {

        /**
         * Does the copy.
         *
         * @param streams everything that may block is registered here, so that stopping the run
         *     closes it
         */
        T run(CloseableRegistry streams) throws Exception;
    }

    private static final Logger LOG = LoggerFactory.getLogger(ParallelTransfer.class);
    private static final AtomicInteger THREADS = new AtomicInteger();

    private final int threads;
    private final ThreadPoolExecutor executor;

    /**
     * @param threads copies at a time in each run. Copies of one run that hang, or that were
     *     stopped and have not returned, take no thread from another run.
     * @param name prefix of the threads' names
     */
    public ParallelTransfer(int threads, String name) {
        this.threads = threads;
        executor =
                new ThreadPoolExecutor(
                        0,
                        Integer.MAX_VALUE,
                        IDLE_SECONDS,
                        TimeUnit.SECONDS,
                        new SynchronousQueue<>(),
                        runnable -> {
                            Thread thread =
                                    new Thread(runnable, name + "-" + THREADS.incrementAndGet());
                            thread.setDaemon(true);
                            return thread;
                        });
    }

    /**
     * Runs all tasks and waits for them.
     *
     * @param cancel closing it stops everything
     * @param undo called once for each result of a run that fails, from any thread; must not throw
     * @param settleMs after a failure, how long to wait for copies that are still running
     * @return the results, in the order of the tasks
     * @throws Exception the first failure; IOException when the registry was closed;
     *     InterruptedException
     */
    public <T> List<T> run(
            List<Task<T>> tasks, CloseableRegistry cancel, Consumer<T> undo, long settleMs)
            throws Exception {
        Batch<T> batch = new Batch<>(tasks.size(), undo);
        Closeable stop = () -> batch.fail(new IOException("The transfer of files was cancelled."));
        AtomicInteger next = new AtomicInteger();
        Runnable worker =
                () -> {
                    for (int i = next.getAndIncrement();
                            i < tasks.size();
                            i = next.getAndIncrement()) {
                        batch.runOne(i, tasks.get(i));
                    }
                };
        int workers = 0;
        boolean returned = false;
        try {
            cancel.registerCloseable(stop);
            for (; workers < Math.min(threads, tasks.size()); workers++) {
                executor.execute(worker);
            }
            List<T> results = batch.await();
            returned = true;
            return results;
        } catch (RejectedExecutionException e) {
            throw batch.failed(
                    new IOException("The state backend was closed during a transfer of files.", e));
        } catch (Exception e) {
            throw batch.failed(e);
        } finally {
            cancel.unregisterCloseable(stop);
            if (!returned) {
                batch.abandon();
                batch.undoAll();
                if (settleMs > 0) {
                    batch.settle(workers == 0 ? tasks.size() : 0, settleMs);
                }
            }
        }
    }

    @Override
    public void close() {
        executor.shutdown();
    }

    private static final class Batch<T> {
        private final Consumer<T> undo;
        private final CloseableRegistry streams = new CloseableRegistry();
        private final CompletableFuture<Void> done = new CompletableFuture<>();
        private final List<T> results;
        private final CountDownLatch running;
        private int missing;
        private Exception failure;

        Batch(int tasks, Consumer<T> undo) {
            this.undo = undo;
            this.results = new ArrayList<>();
            for (int i = 0; i < tasks; i++) {
                results.add(null);
            }
            this.running = new CountDownLatch(tasks);
            this.missing = tasks;
            if (tasks == 0) {
                done.complete(null);
            }
        }

        void runOne(int index, Task<T> task) {
            try {
                if (!stopped()) {
                    T result = task.run(streams);
                    if (!accept(index, result)) {
                        undo.accept(result);
                    }
                }
            } catch (Throwable t) {
                fail(t instanceof Exception ? (Exception) t : new IOException(t));
            } finally {
                running.countDown();
            }
        }

        List<T> await() throws Exception {
            try {
                done.get();
            } catch (ExecutionException e) {
                throw (Exception) e.getCause();
            }
            return results;
        }

        /** Wakes the waiting caller first, because closing the streams may take long. */
        void fail(Exception e) {
            synchronized (this) {
                if (failure != null || missing == 0) {
                    return;
                }
                failure = e;
            }
            done.completeExceptionally(e);
            IOUtils.closeQuietly(streams);
        }

        Exception failed(Exception e) {
            fail(e);
            synchronized (this) {
                return failure != null ? failure : e;
            }
        }

        /**
         * The caller gets no results, even if all are complete; late copies undo their own results.
         */
        void abandon() {
            synchronized (this) {
                if (failure != null) {
                    return;
                }
                failure = new IOException("The transfer of files was abandoned.");
            }
            IOUtils.closeQuietly(streams);
        }

        void undoAll() {
            List<T> finished = new ArrayList<>();
            synchronized (this) {
                for (int i = 0; i < results.size(); i++) {
                    if (results.get(i) != null) {
                        finished.add(results.set(i, null));
                    }
                }
            }
            finished.forEach(undo);
        }

        void settle(int neverStarted, long ms) {
            for (int i = 0; i < neverStarted; i++) {
                running.countDown();
            }
            try {
                if (!running.await(ms, TimeUnit.MILLISECONDS)) {
                    LOG.warn(
                            "{} transfers of files did not end within {} ms. The backend"
                                    + " continues without waiting for them.",
                            running.getCount(),
                            ms);
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }

        private synchronized boolean stopped() {
            return failure != null;
        }

        private boolean accept(int index, T result) {
            synchronized (this) {
                if (failure != null) {
                    return false;
                }
                results.set(index, result);
                missing--;
                if (missing > 0) {
                    return true;
                }
            }
            done.complete(null);
            return true;
        }
    }
}
