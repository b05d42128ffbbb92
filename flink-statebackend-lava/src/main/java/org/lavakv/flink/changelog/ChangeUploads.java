// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.changelog;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import javax.annotation.concurrent.GuardedBy;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.metrics.ThreadSafeSimpleCounter;
import org.apache.flink.runtime.io.AvailabilityProvider;
import org.apache.flink.runtime.io.AvailabilityProvider.AvailabilityHelper;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Uploads changes of all operators of a job in this process. Sets submitted within a short time go
 * into one file. A file whose upload fails or hangs is tried again.
 *
 * <p>Threads: any; {@link #submit} never waits. Listeners are called from any thread.
 */
final class ChangeUploads implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ChangeUploads.class);
    private static final int IDLE_SECONDS = 10;

    /** Learns the result of an upload. Exactly one of the two methods is called, once. */
    interface Listener {
        /**
         * @param uploaded of the sets, in their order
         */
        void uploaded(List<UploadedChanges> uploaded);

        void failed(Throwable why);
    }

    private final ChangelogSettings settings;
    private final ChangeFiles files;
    private final FileClaims claims;
    private final ScheduledThreadPoolExecutor timer;
    private final ThreadPoolExecutor threads;
    private final ThreadPoolExecutor deletions;
    private final Counter uploads = new ThreadSafeSimpleCounter();
    private final Counter failures = new ThreadSafeSimpleCounter();
    private final Set<Batch> batches = ConcurrentHashMap.newKeySet();
    private final Object lock = new Object();
    private final AvailabilityHelper availability = new AvailabilityHelper();

    @GuardedBy("lock")
    private List<Request> waiting = new ArrayList<>();

    @GuardedBy("lock")
    private long waitingBytes;

    @GuardedBy("lock")
    private long inFlightBytes;

    @GuardedBy("lock")
    private boolean closed;

    ChangeUploads(ChangelogSettings settings, ChangeFiles files, MetricGroup metrics) {
        this.settings = settings;
        this.files = files;
        ThreadFactory factory = threadFactory();
        timer = new ScheduledThreadPoolExecutor(1, factory);
        timer.setRemoveOnCancelPolicy(true);
        timer.setKeepAliveTime(IDLE_SECONDS, TimeUnit.SECONDS);
        timer.allowCoreThreadTimeOut(true);
        threads = threads(settings.threads, factory);
        deletions = threads(1, factory);
        claims = new FileClaims(deletions);
        availability.resetAvailable();
        metrics.counter("uploads", uploads);
        metrics.counter("uploadFailures", failures);
        metrics.gauge("inFlightBytes", this::inFlightBytes);
    }

    FileClaims claims() {
        return claims;
    }

    /** Not available while too many bytes are being uploaded. */
    AvailabilityProvider availability() {
        return availability;
    }

    /**
     * @param sets must not be modified any more
     */
    void submit(List<ChangeSet> sets, Listener listener) {
        Request request = new Request(sets, listener);
        boolean accepted;
        boolean enough = false;
        synchronized (lock) {
            accepted = !closed;
            if (accepted) {
                enough = accept(request);
            }
        }
        if (!accepted) {
            listener.failed(closedBefore());
        } else if (enough) {
            uploadWaiting();
        }
    }

    /**
     * Returns whether the waiting requests fill a file, so that the upload should start at once.
     * Requires the lock.
     */
    private boolean accept(Request request) {
        if (waiting.isEmpty()) {
            timer.schedule(this::uploadWaiting, settings.batchDelayMs, TimeUnit.MILLISECONDS);
        }
        waiting.add(request);
        waitingBytes += request.bytes;
        boolean wasBelowMax = inFlightBytes < settings.inFlightBytesMax;
        inFlightBytes += request.bytes;
        if (wasBelowMax && inFlightBytes >= settings.inFlightBytesMax) {
            availability.resetUnavailable();
        }
        return waitingBytes >= settings.batchBytes;
    }

    private void uploadWaiting() {
        List<Request> batch;
        synchronized (lock) {
            batch = waiting;
            waiting = new ArrayList<>();
            waitingBytes = 0;
        }
        if (!batch.isEmpty()) {
            new Batch(batch).begin(0);
        }
    }

    @Override
    public void close() {
        List<Request> left;
        synchronized (lock) {
            closed = true;
            left = waiting;
            waiting = new ArrayList<>();
        }
        timer.shutdownNow();
        threads.shutdownNow();
        deletions.shutdown(); // lets pending deletions finish
        left.forEach(request -> request.listener.failed(closedBefore()));
        // Batches whose attempts still wait for a thread would never be completed otherwise.
        batches.forEach(batch -> batch.fail(closedBefore()));
    }

    private long inFlightBytes() {
        synchronized (lock) {
            return inFlightBytes;
        }
    }

    private void ended(long bytes) {
        CompletableFuture<?> becameAvailable = null;
        synchronized (lock) {
            boolean wasBelowMax = inFlightBytes < settings.inFlightBytesMax;
            inFlightBytes -= bytes;
            if (!wasBelowMax && inFlightBytes < settings.inFlightBytesMax) {
                becameAvailable = availability.getUnavailableToResetAvailable();
            }
        }
        if (becameAvailable != null) {
            becameAvailable.complete(null);
        }
    }

    private static CancellationException closedBefore() {
        return new CancellationException("The changelog's storage was closed before the upload.");
    }

    private static ThreadPoolExecutor threads(int count, ThreadFactory factory) {
        ThreadPoolExecutor threads =
                new ThreadPoolExecutor(
                        count,
                        count,
                        IDLE_SECONDS,
                        TimeUnit.SECONDS,
                        new LinkedBlockingQueue<>(),
                        factory);
        threads.allowCoreThreadTimeOut(true);
        return threads;
    }

    private static ThreadFactory threadFactory() {
        AtomicInteger number = new AtomicInteger();
        return runnable -> {
            Thread thread = new Thread(runnable, "lava-changelog-" + number.incrementAndGet());
            thread.setDaemon(true);
            return thread;
        };
    }

    private static final class Request {
        final List<ChangeSet> sets;
        final Listener listener;
        final long bytes;

        Request(List<ChangeSet> sets, Listener listener) {
            this.sets = sets;
            this.listener = listener;
            this.bytes = sets.stream().mapToLong(set -> set.length() + set.partBytes()).sum();
        }
    }

    /** One file and the attempts to upload it. The first attempt that succeeds counts. */
    private final class Batch {
        private final List<Request> requests;
        private final List<ChangeSet> sets;
        private int begun;
        private int failed;
        private boolean done;
        private Throwable lastFailure;

        /** The timeout of the latest attempt. It keeps the changes in memory. */
        private ScheduledFuture<?> overdue;

        Batch(List<Request> requests) {
            this.requests = requests;
            this.sets =
                    requests.stream()
                            .flatMap(request -> request.sets.stream())
                            .collect(Collectors.toList());
            batches.add(this);
        }

        /**
         * Begins the attempt that follows the given number of attempts, unless it has begun
         * already.
         */
        void begin(int behind) {
            synchronized (this) {
                if (done || begun != behind) {
                    return;
                }
                begun++;
            }
            try {
                threads.execute(() -> attempt(behind + 1));
                watch(behind + 1);
            } catch (RejectedExecutionException e) {
                fail(closedBefore());
            }
        }

        private synchronized void watch(int attempt) {
            if (!done) {
                stopWatching();
                overdue =
                        timer.schedule(
                                () -> overdue(attempt), settings.timeoutMs, TimeUnit.MILLISECONDS);
            }
        }

        private synchronized void stopWatching() {
            if (overdue != null) {
                overdue.cancel(false);
            }
        }

        private void attempt(int number) {
            synchronized (this) {
                if (done) {
                    return;
                }
            }
            try {
                uploads.inc();
                List<UploadedChanges> uploaded = files.write(sets);
                if (!end()) {
                    FileClaims.deleteNow(uploaded);
                    return;
                }
                claims.claim(uploaded);
                int at = 0;
                for (Request request : requests) {
                    int next = at + request.sets.size();
                    ended(request.bytes);
                    request.listener.uploaded(uploaded.subList(at, next));
                    at = next;
                }
            } catch (Throwable t) {
                attemptFailed(number, t);
            }
        }

        private void attemptFailed(int number, Throwable why) {
            failures.inc();
            LOG.warn(
                    "Attempt {} of {} to upload changes failed.",
                    number,
                    settings.attemptsMax,
                    why);
            boolean last;
            synchronized (this) {
                failed++;
                lastFailure = why;
                last = failed == begun && begun == settings.attemptsMax;
                if (done || !last && (number != begun || begun == settings.attemptsMax)) {
                    return;
                }
            }
            if (last) {
                fail(why);
                return;
            }
            try {
                timer.schedule(() -> begin(number), settings.retryDelayMs, TimeUnit.MILLISECONDS);
            } catch (RejectedExecutionException e) {
                fail(closedBefore());
            }
        }

        private void overdue(int number) {
            Throwable before;
            synchronized (this) {
                if (done || number != begun) {
                    return;
                }
                before = lastFailure;
            }
            if (number < settings.attemptsMax) {
                begin(number);
            } else {
                fail(
                        new IOException(
                                "None of "
                                        + number
                                        + " attempts to upload changes has succeeded. The last"
                                        + " attempt did not end within "
                                        + settings.timeoutMs
                                        + " ms. Check the storage, or raise "
                                        + ChangelogOptions.UPLOAD_TIMEOUT.key()
                                        + ".",
                                before));
            }
        }

        private void fail(Throwable why) {
            if (end()) {
                for (Request request : requests) {
                    ended(request.bytes);
                    request.listener.failed(why);
                }
            }
        }

        private synchronized boolean end() {
            boolean first = !done;
            done = true;
            batches.remove(this);
            stopWatching();
            return first;
        }
    }
}
