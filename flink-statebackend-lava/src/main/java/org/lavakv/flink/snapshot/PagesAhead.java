// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.snapshot;

import java.io.Closeable;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import javax.annotation.Nullable;
import org.apache.flink.util.ExceptionUtils;
import org.lavakv.ScanPage;
import org.lavakv.Snapshot;
import org.lavakv.TableHandle;
import org.lavakv.TablesScan;
import org.lavakv.flink.engine.LavaInstance;

/**
 * Reads the states of a savepoint, by key group and then by state, on its own thread, a few pages
 * ahead of the thread that writes them. Thus reading and writing overlap. The engine stores its
 * entries in this order, so one pass reads them all, however many key groups and states there are.
 *
 * <p>Threads: one thread requests pages and closes; the other is this object's.
 *
 * <p>Ownership: borrows instance and snapshot. Owns at most {@link #PAGES} pages, which limits the
 * heap usage. {@link #close} ends the thread.
 *
 * <p>Errors: an error of a scan is thrown when its page is requested.
 */
final class PagesAhead implements Closeable {

    /**
     * One page is written, one is filled, and one waits, so that neither thread waits for the
     * other.
     */
    private static final int PAGES = 3;

    private static final int PAGE_BYTES = 512 << 10;
    private static final int PAGE_ENTRIES = 8192;

    private static final String THREAD_NAME = "lava-savepoint-read";

    private static final AtomicInteger THREADS = new AtomicInteger();

    /** A page with entries, or the failure that ended the reading; neither at the regular end. */
    private static final class Filled {
        @Nullable final ScanPage page;
        @Nullable final Throwable failure;

        Filled(@Nullable ScanPage page, @Nullable Throwable failure) {
            this.page = page;
            this.failure = failure;
        }
    }

    private final LavaInstance instance;
    private final Snapshot snapshot;
    private final TablesScan scan;
    private final int states;
    private final BlockingQueue<ScanPage> free = new ArrayBlockingQueue<>(PAGES);

    /** Has a slot for the end of the reading as well. */
    private final BlockingQueue<Filled> filled = new ArrayBlockingQueue<>(PAGES + 1);

    private final Thread thread;

    /** The element taken from the queue last. */
    @Nullable private Filled front;

    /** Whether the section with the front page's next entries has not been requested yet. */
    private boolean sectionWaits;

    /**
     * Begins to read.
     *
     * @param tables the states' tables, in the order of their numbers in the savepoint, which is
     *     that of ascending ids
     */
    PagesAhead(LavaInstance instance, Snapshot snapshot, List<TableHandle> tables) {
        this.instance = instance;
        this.snapshot = snapshot;
        this.states = tables.size();
        this.scan =
                new TablesScan(tables)
                        .setEntriesMax(PAGE_ENTRIES)
                        .setBytesMax(PAGE_BYTES)
                        .setFillCache(false); // the cache belongs to the job
        for (int i = 0; i < PAGES; i++) {
            free.add(new ScanPage());
        }
        thread = new Thread(this::read, THREAD_NAME + "-" + THREADS.incrementAndGet());
        thread.setDaemon(true);
        thread.start();
    }

    /**
     * A page whose next entries, up to the end of its section, belong to the key group and state;
     * null when there are no more. Callers ask in the order of the savepoint, and for each state
     * until null. The page is valid until the next call, which continues after its section.
     *
     * @throws InterruptedIOException the calling thread was interrupted; its flag stays set
     */
    @Nullable
    ScanPage next(int keyGroup, int state) throws IOException {
        if (!findSection() || !isOf(keyGroup) || front.page.sectionTable() != state) {
            return null;
        }
        sectionWaits = false;
        return front.page;
    }

    /**
     * The first state of the key group whose entries were not requested yet; the number of states
     * when there is none.
     *
     * @param from the entries of states before this one were already requested. Returned unchanged
     *     if it is the number of states or more: the entries of such states are not in the engine.
     */
    int nextState(int keyGroup, int from) throws IOException {
        if (from >= states) {
            return from;
        }
        return findSection() && isOf(keyGroup) ? front.page.sectionTable() : states;
    }

    private boolean isOf(int keyGroup) {
        return front.page.sectionPartition() == keyGroup;
    }

    /** Finds the first section that was not requested yet; false when there is none. */
    private boolean findSection() throws IOException {
        while (!sectionWaits) {
            if (front == null) {
                front = take();
            }
            check(front);
            if (front.page == null) {
                return false;
            }
            sectionWaits = front.page.nextSection();
            if (!sectionWaits) {
                free.add(front.page);
                front = null;
            }
        }
        return true;
    }

    private static void check(Filled filled) throws IOException {
        if (filled.failure != null) {
            ExceptionUtils.rethrowIfFatalErrorOrOOM(filled.failure);
            // A new exception, so that it has the caller's stack.
            throw new IOException(
                    "Reading states for a savepoint failed: " + filled.failure.getMessage(),
                    filled.failure);
        }
    }

    private Filled take() throws InterruptedIOException {
        try {
            return filled.take();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("The savepoint was interrupted.");
        }
    }

    private void read() {
        Throwable failure = null;
        try {
            boolean done = false;
            while (!done) {
                ScanPage page = free.take();
                instance.db().scanTables(scan, page, snapshot);
                done = page.done();
                scan.continueAfter(page);
                filled.add(new Filled(page, null));
            }
        } catch (Throwable t) {
            // After an interrupt nobody waits for the failure.
            failure = t;
        }
        filled.add(new Filled(null, failure));
    }

    /** Stops the reading, and waits for the current page. Repeating the call does nothing. */
    @Override
    public void close() {
        thread.interrupt();
        boolean interrupted = false;
        while (thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
