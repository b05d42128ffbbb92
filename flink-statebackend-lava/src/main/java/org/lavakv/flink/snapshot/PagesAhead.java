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
 * Reads the states of a savepoint, by key group and then by state, on a thread of its own, a few
 * pages ahead of the one that writes them: storage is read and written at the same time. The engine
 * has its entries in that order, so that one walk reads them all, however many key groups and
 * states there are.
 *
 * <p>Threads: one asks for pages and closes; the other is this object's.
 *
 * <p>Ownership: borrows instance and snapshot. Pages are its own, no more than {@link #PAGES},
 * which bounds what waits in the heap. {@link #close} ends the thread.
 *
 * <p>Errors: those of a scan come when their page is asked for.
 */
final class PagesAhead implements Closeable {

    /** One is written and one filled, and one waits, so that neither side waits for the other. */
    private static final int PAGES = 3;

    private static final int PAGE_BYTES = 512 << 10;
    private static final int PAGE_ENTRIES = 8192;

    private static final String THREAD_NAME = "lava-savepoint-read";

    private static final AtomicInteger THREADS = new AtomicInteger();

    /** A page with entries, or the failure that ended the reading; neither at its regular end. */
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

    /** With room for how the reading ended. */
    private final BlockingQueue<Filled> filled = new ArrayBlockingQueue<>(PAGES + 1);

    private final Thread thread;

    /** Taken from the queue last. */
    @Nullable private Filled front;

    /** Whether the section that the front's page is in has not been asked for yet. */
    private boolean sectionWaits;

    /**
     * Begins to read.
     *
     * @param tables those of the states, by their number in the savepoint and so by ascending id
     */
    PagesAhead(LavaInstance instance, Snapshot snapshot, List<TableHandle> tables) {
        this.instance = instance;
        this.snapshot = snapshot;
        this.states = tables.size();
        this.scan =
                new TablesScan(tables)
                        .setEntriesMax(PAGE_ENTRIES)
                        .setBytesMax(PAGE_BYTES)
                        .setFillCache(false); // which is the job's
        for (int i = 0; i < PAGES; i++) {
            free.add(new ScanPage());
        }
        thread = new Thread(this::read, THREAD_NAME + "-" + THREADS.incrementAndGet());
        thread.setDaemon(true);
        thread.start();
    }

    /**
     * A page whose next entries, up to the end of its section, are of the state's key group; null
     * when there are no more. Asked in the order of the savepoint, until null. The page is the
     * caller's until the next call, which reads on behind its section.
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
     * The first state of the key group whose entries were not asked for yet; the number of states
     * when there is none.
     *
     * @param from the entries of states before it were asked for; returned if it is that number, or
     *     above, where states are that have their entries elsewhere
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

    /** Finds the first section that was not asked for; false when there is none. */
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
            // Anew, for the stack of the caller.
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
            // After an interrupt there is nobody to tell.
            failure = t;
        }
        filled.add(new Filled(null, failure));
    }

    /** Stops the reading, and waits for the page that is under way. More than once: nothing. */
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
