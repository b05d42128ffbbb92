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
import org.lavakv.flink.engine.LateFiles;
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
final class LateFetch implements LateFiles, MissingFiles {

    private static final Logger LOG = LoggerFactory.getLogger(LateFetch.class);
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
    private final Map<String, Late> missing = new LinkedHashMap<>();
    private final Deque<Late> required = new ArrayDeque<>();
    private final Deque<Late> queued = new ArrayDeque<>();
    private final List<Late> failed = new ArrayList<>();
    private int running;
    private boolean closed;

    /** A file that has not been fetched yet. */
    private static final class Late {
        private final FileSource source;
        private boolean running;
        private int failures;
        private long retryAtNanos;

        /** Completes with the current attempt, or with the next one if none is running. */
        private CompletableFuture<Void> attempt = new CompletableFuture<>();

        Late(FileSource source) {
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
    LateFetch(
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
        for (FileInfo file : db.missingFiles()) {
            Late late = new Late(sources.get(file.name()));
            missing.put(file.name(), late);
            queued.add(late);
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
                missing.values().stream().mapToLong(late -> late.source.info().bytes()).sum());
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
                Late late = missing.get(name);
                if (late == null) {
                    checkKnown(name);
                    return;
                }
                attempt = late.attempt;
                if (!late.running) {
                    mine = true;
                    late.running = true;
                    running++;
                    executor.execute(() -> fetch(late));
                }
            }
            try {
                attempt.get();
                return;
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw failure(
                        Status.Code.ABORTED,
                        "waiting for the file "
                                + name
                                + " was given up: the thread was interrupted",
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
        return "the file " + name + " is not fetched any more: the state backend was closed";
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
            Late late = missing.get(name);
            if (late == null) {
                continue;
            }
            if (closed) {
                throw new IOException(closedMessage(name));
            }
            attempts.put(name, late.attempt);
            if (late.running) {
                older.add(name);
            } else {
                required.add(late);
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
            for (Late next = next(); next != null; next = next()) {
                fetch(next);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // close() interrupts it
        }
    }

    /** Null when nothing is left to do. */
    private synchronized Late next() throws InterruptedException {
        while (!closed && !missing.isEmpty()) {
            long now = System.nanoTime();
            Late late = firstOf(required);
            if (late == null) {
                late = firstOf(queued);
            }
            if (late == null) {
                late = firstDue(now);
            }
            if (late != null) {
                late.running = true;
                running++;
                return late;
            }
            waitForRetry(now);
        }
        return null;
    }

    /** Skips files that another thread has taken meanwhile. */
    private Late firstOf(Deque<Late> waiting) {
        for (Late late = waiting.poll(); late != null; late = waiting.poll()) {
            if (!late.running && missing.containsKey(late.name())) {
                failed.remove(late);
                return late;
            }
        }
        return null;
    }

    private Late firstDue(long now) {
        for (Iterator<Late> all = failed.iterator(); all.hasNext(); ) {
            Late late = all.next();
            boolean gone = late.running || !missing.containsKey(late.name());
            if (gone || late.retryAtNanos - now <= 0) {
                all.remove();
                if (!gone) {
                    return late;
                }
            }
        }
        return null;
    }

    private void waitForRetry(long now) throws InterruptedException {
        long nanos = Long.MAX_VALUE;
        for (Late late : failed) {
            nanos = Math.min(nanos, late.retryAtNanos - now);
        }
        if (nanos == Long.MAX_VALUE) {
            wait(); // for the end of a running attempt
        } else {
            wait(Math.max(1, TimeUnit.NANOSECONDS.toMillis(nanos)));
        }
    }

    /** One attempt, for a file marked as running. */
    private void fetch(Late late) {
        IOException failure = null;
        boolean needed = true;
        try {
            FileFetch.fetch(late.source, files, late.name(), streams, progress);
            needed = arrived(late);
        } catch (Throwable t) {
            failure = t instanceof IOException ? (IOException) t : new IOException(t.toString(), t);
        }
        CompletableFuture<Void> attempt;
        synchronized (this) {
            running--;
            late.running = false;
            attempt = late.attempt;
            if (failure == null) {
                missing.remove(late.name());
                progress.fileDone();
                if (missing.isEmpty() && !closed) {
                    finished();
                }
            } else {
                late.attempt = new CompletableFuture<>();
                late.failures++;
                long ms = Math.min(RETRY_MS_MAX, retryMsMin << Math.min(late.failures - 1, 16));
                late.retryAtNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(ms);
                failed.add(late);
                logFailure(late, ms, failure);
            }
            notifyAll();
        }
        if (!needed) {
            LOG.debug("The file {} is not needed any more.", late.name());
        }
        if (failure == null) {
            attempt.complete(null);
        } else {
            attempt.completeExceptionally(failure);
        }
    }

    private boolean arrived(Late late) throws IOException {
        try {
            return db.fileArrived(late.name());
        } catch (LavaDBException | RuntimeException e) {
            progress.copied(-late.source.info().bytes());
            files.deleteIfExists(late.name());
            throw new IOException(
                    "The checkpoint file "
                            + late.source.displayName()
                            + " cannot be used: "
                            + e.getMessage(),
                    e);
        }
    }

    private void logFailure(Late late, long ms, IOException failure) {
        if (!closed) {
            LOG.warn(
                    "Fetching {} failed, for the {}. time; it is tried again in {} ms, or when"
                            + " it is needed.",
                    late.source.displayName(),
                    late.failures,
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
            missing.values().forEach(late -> attempts.add(late.attempt));
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
                    LOG.warn("{} fetches of files hang; going on without them.", running);
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
