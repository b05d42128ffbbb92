// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.restore;

import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.util.IOUtils;
import org.lavakv.FileInfo;
import org.lavakv.LavaDB;
import org.lavakv.LavaDBException;
import org.lavakv.MissingFiles;
import org.lavakv.Status;
import org.lavakv.flink.engine.OnDemandFiles;
import org.lavakv.flink.engine.RestoreProgress;
import org.lavakv.flink.storage.InstanceFiles;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Fetches the files of an on-demand restore while the instance is used. Background threads fetch
 * several files at a time. A file that a read needs is fetched at once, on a thread of its own.
 * Files that a checkpoint waits for come before the rest.
 *
 * <p>A fetch that fails in the background is retried after a delay, without limit, because the job
 * may never need the file. A thread that waits for a file gets the failure only of an attempt that
 * began after the wait.
 *
 * <p>Threads: any. The object's own threads end when all files have been fetched, or with {@link
 * #close}. Threads that hang are waited for at most one second.
 *
 * <p>Ownership: borrows the database and its files, which are closed after this object.
 */
final class MissingFileFetch implements OnDemandFiles, MissingFiles {

    private static final Logger LOG = LoggerFactory.getLogger(MissingFileFetch.class);
    private static final AtomicInteger THREADS = new AtomicInteger();
    private static final long RETRY_MS_MAX = 60_000;
    private static final long SETTLE_MS = 1_000;

    private final LavaDB db;
    private final InstanceFiles files;
    private final RestoreProgress progress;
    private final long retryMsMin;
    private final Set<String> known;
    private final CloseableRegistry streams = new CloseableRegistry();
    private final ExecutorService executor;

    // Guarded by this object from here on.
    private final Map<String, MissingFile> missing = new LinkedHashMap<>();
    private final Deque<MissingFile> required = new ArrayDeque<>();
    private final Deque<MissingFile> queued = new ArrayDeque<>();
    private final List<MissingFile> failed = new ArrayList<>();
    private int running;
    private boolean closed;

    /** A file that has not been fetched yet. */
    private static final class MissingFile {
        private final FileSource source;
        private boolean running;
        private int failures;
        private long retryAtNanos;

        /** Completes with the current attempt, or with the next one if none is running. */
        private CompletableFuture<Void> attempt = new CompletableFuture<>();

        MissingFile(FileSource source) {
            this.source = source;
        }

        String name() {
            return source.info().name();
        }
    }

    /**
     * @param sources where to get files, by name; may contain files that are not needed
     * @param retryMsMin delay before a failed background fetch is retried, doubled each time
     */
    MissingFileFetch(
            LavaDB db,
            InstanceFiles files,
            Map<String, FileSource> sources,
            RestoreProgress progress,
            long retryMsMin)
            throws LavaDBException {
        this.db = db;
        this.files = files;
        this.progress = progress;
        this.retryMsMin = retryMsMin;
        for (FileInfo info : db.missingFiles()) {
            MissingFile file = new MissingFile(sources.get(info.name()));
            missing.put(info.name(), file);
            queued.add(file);
        }
        known = new HashSet<>(missing.keySet());
        ClassLoader classLoader = Thread.currentThread().getContextClassLoader();
        ThreadFactory threads =
                runnable -> {
                    Thread thread = new Thread(runnable, "lava-fetch-" + THREADS.incrementAndGet());
                    thread.setDaemon(true);
                    thread.setContextClassLoader(classLoader);
                    return thread;
                };
        executor = Executors.newCachedThreadPool(threads);
    }

    int fileCount() {
        return known.size();
    }

    /**
     * Begins to fetch in the background.
     *
     * @param threads number of files to fetch at a time
     */
    synchronized void start(int threads) {
        progress.begin(
                "Fetching files of the restored state while the job runs",
                missing.size(),
                missing.values().stream().mapToLong(file -> file.source.info().bytes()).sum());
        db.setMissingFiles(this);
        if (missing.isEmpty()) {
            finished();
            return;
        }
        for (int i = 0; i < Math.min(threads, missing.size()); i++) {
            executor.execute(this::fetchInBackground);
        }
    }

    private void finished() {
        progress.end();
        executor.shutdown();
    }

    // ---------------------------------------------------------------------- waiting for files

    /** Fetches a file for a read, which waits here; interruptible. */
    @Override
    public void bring(String name) throws LavaDBException {
        boolean mine = false;
        while (true) {
            CompletableFuture<Void> attempt;
            synchronized (this) {
                if (closed) {
                    throw new LavaDBException(Status.Code.ABORTED, closedMessage(name));
                }
                MissingFile file = missing.get(name);
                if (file == null) {
                    checkKnown(name);
                    return;
                }
                attempt = file.attempt;
                if (!file.running) {
                    mine = true;
                    file.running = true;
                    running++;
                    executor.execute(() -> fetch(file));
                }
            }
            try {
                attempt.get();
                return;
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw failure(
                        Status.Code.ABORTED,
                        "the wait for the file "
                                + name
                                + " ended, because the thread was interrupted",
                        e);
            } catch (ExecutionException e) {
                // The failure of an attempt that began before this read came may have a cause that
                // no longer exists.
                if (mine) {
                    throw failure(Status.Code.IO_ERROR, failureMessage(name, e), e.getCause());
                }
                mine = true;
            }
        }
    }

    private void checkKnown(String name) throws LavaDBException {
        if (!known.contains(name)) {
            throw new LavaDBException(
                    Status.Code.INTERNAL,
                    "the engine asks for the file "
                            + name
                            + ", which the checkpoint does not have");
        }
    }

    private static String closedMessage(String name) {
        return "the file " + name + " will not be fetched, because the state backend was closed";
    }

    private static String failureMessage(String name, ExecutionException e) {
        return "fetching the file "
                + name
                + " of the restored checkpoint on demand failed: "
                + e.getCause().getMessage();
    }

    private static LavaDBException failure(Status.Code code, String message, Throwable cause) {
        LavaDBException e = new LavaDBException(code, message);
        e.initCause(cause);
        return e;
    }

    @Override
    public void require(Collection<String> names, CloseableRegistry cancel)
            throws IOException, InterruptedException {
        Set<String> older = new HashSet<>();
        Map<String, CompletableFuture<Void>> attempts = ask(names, older);
        if (attempts.isEmpty()) {
            return;
        }
        LOG.info("Waiting for {} files that have not been fetched yet.", attempts.size());
        CompletableFuture<Void> cancelled = new CompletableFuture<>();
        Closeable stop =
                () -> cancelled.completeExceptionally(new IOException("the wait was cancelled"));
        cancel.registerCloseable(stop);
        try {
            // The failure of an attempt that began before this call may have a cause that no longer
            // exists.
            Set<String> again = await(attempts, cancelled, older);
            await(ask(again, new HashSet<>()), cancelled, Set.of());
        } finally {
            cancel.unregisterCloseable(stop);
        }
    }

    /**
     * Returns what to wait for, by name, for the files that have not been fetched yet.
     *
     * @param older receives the names of files whose attempt is already running
     */
    private synchronized Map<String, CompletableFuture<Void>> ask(
            Collection<String> names, Set<String> older) throws IOException {
        Map<String, CompletableFuture<Void>> attempts = new LinkedHashMap<>();
        for (String name : names) {
            MissingFile file = missing.get(name);
            if (file == null) {
                continue;
            }
            if (closed) {
                throw new IOException(closedMessage(name));
            }
            attempts.put(name, file.attempt);
            if (file.running) {
                older.add(name);
            } else {
                required.add(file);
            }
        }
        notifyAll();
        return attempts;
    }

    /**
     * Waits for the attempts. Returns the names in {@code older} whose attempt failed; any other
     * failure is thrown.
     */
    private static Set<String> await(
            Map<String, CompletableFuture<Void>> attempts,
            CompletableFuture<Void> cancelled,
            Set<String> older)
            throws IOException, InterruptedException {
        Set<String> failed = new LinkedHashSet<>();
        for (Map.Entry<String, CompletableFuture<Void>> attempt : attempts.entrySet()) {
            try {
                CompletableFuture.anyOf(attempt.getValue(), cancelled).get();
            } catch (ExecutionException e) {
                if (cancelled.isDone() || !older.contains(attempt.getKey())) {
                    throw new IOException(failureMessage(attempt.getKey(), e), e.getCause());
                }
                failed.add(attempt.getKey());
            }
        }
        return failed;
    }

    // ---------------------------------------------------------------------- fetching files

    private void fetchInBackground() {
        try {
            for (MissingFile next = next(); next != null; next = next()) {
                fetch(next);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // close() interrupts it
        }
    }

    /** Null when nothing is left to do. */
    private synchronized MissingFile next() throws InterruptedException {
        while (!closed && !missing.isEmpty()) {
            long now = System.nanoTime();
            MissingFile file = firstOf(required);
            if (file == null) {
                file = firstOf(queued);
            }
            if (file == null) {
                file = firstDue(now);
            }
            if (file != null) {
                file.running = true;
                running++;
                return file;
            }
            waitForRetry(now);
        }
        return null;
    }

    /** Skips files that another thread has taken meanwhile. */
    private MissingFile firstOf(Deque<MissingFile> waiting) {
        for (MissingFile file = waiting.poll(); file != null; file = waiting.poll()) {
            if (!file.running && missing.containsKey(file.name())) {
                failed.remove(file);
                return file;
            }
        }
        return null;
    }

    private MissingFile firstDue(long now) {
        for (Iterator<MissingFile> all = failed.iterator(); all.hasNext(); ) {
            MissingFile file = all.next();
            boolean gone = file.running || !missing.containsKey(file.name());
            if (gone || file.retryAtNanos - now <= 0) {
                all.remove();
                if (!gone) {
                    return file;
                }
            }
        }
        return null;
    }

    private void waitForRetry(long now) throws InterruptedException {
        long nanos = Long.MAX_VALUE;
        for (MissingFile file : failed) {
            nanos = Math.min(nanos, file.retryAtNanos - now);
        }
        if (nanos == Long.MAX_VALUE) {
            wait(); // for the end of a running attempt
        } else {
            wait(Math.max(1, TimeUnit.NANOSECONDS.toMillis(nanos)));
        }
    }

    /** One attempt, for a file marked as running. */
    private void fetch(MissingFile file) {
        IOException failure = null;
        boolean needed = true;
        try {
            FileFetch.fetch(file.source, files, file.name(), streams, progress);
            needed = arrived(file);
        } catch (Throwable t) {
            failure = t instanceof IOException ? (IOException) t : new IOException(t.toString(), t);
        }
        CompletableFuture<Void> attempt;
        synchronized (this) {
            running--;
            file.running = false;
            attempt = file.attempt;
            if (failure == null) {
                missing.remove(file.name());
                progress.fileDone();
                if (missing.isEmpty() && !closed) {
                    finished();
                }
            } else {
                file.attempt = new CompletableFuture<>();
                file.failures++;
                long ms = Math.min(RETRY_MS_MAX, retryMsMin << Math.min(file.failures - 1, 16));
                file.retryAtNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(ms);
                failed.add(file);
                logFailure(file, ms, failure);
            }
            notifyAll();
        }
        if (!needed) {
            LOG.debug("The file {} is not needed any more.", file.name());
        }
        if (failure == null) {
            attempt.complete(null);
        } else {
            attempt.completeExceptionally(failure);
        }
    }

    private boolean arrived(MissingFile file) throws IOException {
        try {
            return db.fileArrived(file.name());
        } catch (LavaDBException | RuntimeException e) {
            progress.copied(-file.source.info().bytes());
            files.deleteIfExists(file.name());
            throw new IOException(
                    "The checkpoint file "
                            + file.source.displayName()
                            + " cannot be used: "
                            + e.getMessage(),
                    e);
        }
    }

    private void logFailure(MissingFile file, long ms, IOException failure) {
        if (!closed) {
            LOG.warn(
                    "Fetching {} failed (attempt {}). The next attempt follows in {} ms, or when"
                            + " a read needs the file.",
                    file.source.displayName(),
                    file.failures,
                    ms,
                    failure);
        }
    }

    // ---------------------------------------------------------------------- closing

    @Override
    public void close() {
        List<CompletableFuture<Void>> attempts = new ArrayList<>();
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
            missing.values().forEach(file -> attempts.add(file.attempt));
            notifyAll();
        }
        IOException reason = new IOException("the state backend was closed");
        attempts.forEach(attempt -> attempt.completeExceptionally(reason));
        executor.shutdownNow();
        if (attempts.isEmpty()) {
            return;
        }
        // Closing a stream may hang like reading it.
        Thread closing = new Thread(() -> IOUtils.closeQuietly(streams), "lava-fetch-close");
        closing.setDaemon(true);
        closing.start();
        settle();
    }

    /**
     * Waits for running attempts, so that none creates a file in a directory about to be deleted.
     */
    private void settle() {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(SETTLE_MS);
        boolean interrupted = false;
        synchronized (this) {
            while (running > 0) {
                long ms = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
                if (ms <= 0) {
                    LOG.warn(
                            "{} fetches of files hang. The backend closes without waiting for"
                                    + " them.",
                            running);
                    break;
                }
                try {
                    wait(ms);
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
