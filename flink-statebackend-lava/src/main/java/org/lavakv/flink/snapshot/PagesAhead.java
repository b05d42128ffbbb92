package org.lavakv.flink.snapshot;

import java.io.Closeable;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import javax.annotation.Nullable;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.util.ExceptionUtils;
import org.lavakv.ScanOptions;
import org.lavakv.ScanPage;
import org.lavakv.Snapshot;
import org.lavakv.flink.engine.LavaInstance;

/**
 * Reads the states of a savepoint, by key group and then by state, on a thread of its own, a few
 * pages ahead of the one that writes them: storage is read and written at the same time.
 *
 * <p>Threads: one asks for pages, gives them back and closes; the other is this object's.
 *
 * <p>Ownership: borrows instance and snapshot. Pages are its own, no more than {@link #PAGES},
 * which bounds what waits in the heap. {@link #close} ends the thread.
 *
 * <p>Errors: those of a scan come when their page is asked for.
 */
final class PagesAhead implements Closeable {

    /** One is written and one filled, and one waits, so that neither side waits for the other. */
    private static final int PAGES = 3;

    private static final String THREAD_NAME = "lava-savepoint-read";

    private static final AtomicInteger THREADS = new AtomicInteger();

    /** A page with entries, or what ended the reading; null at its regular end. */
    private static final class Filled {
        final int keyGroup;
        final int state;
        @Nullable final ScanPage page;
        @Nullable final Throwable failure;

        Filled(int keyGroup, int state, ScanPage page) {
            this.keyGroup = keyGroup;
            this.state = state;
            this.page = page;
            this.failure = null;
        }

        Filled(@Nullable Throwable failure) {
            this.keyGroup = -1;
            this.state = -1;
            this.page = null;
            this.failure = failure;
        }
    }

    private final LavaInstance instance;
    private final Snapshot snapshot;
    private final KeyGroupRange keyGroupRange;
    private final List<StateScan> states;
    private final BlockingQueue<ScanPage> free = new ArrayBlockingQueue<>(PAGES);

    /** With room for how the reading ended. */
    private final BlockingQueue<Filled> filled = new ArrayBlockingQueue<>(PAGES + 1);

    private final Thread thread;

    /** Taken from the queue and not yet asked for. */
    @Nullable private Filled front;

    /**
     * Begins to read.
     *
     * @param states by their number in the savepoint
     */
    PagesAhead(
            LavaInstance instance,
            Snapshot snapshot,
            KeyGroupRange keyGroupRange,
            List<StateScan> states) {
        this.instance = instance;
        this.snapshot = snapshot;
        this.keyGroupRange = keyGroupRange;
        this.states = states;
        for (int i = 0; i < PAGES; i++) {
            free.add(new ScanPage());
        }
        thread = new Thread(this::read, THREAD_NAME + "-" + THREADS.incrementAndGet());
        thread.setDaemon(true);
        thread.start();
    }

    /**
     * The next page of a state's key group, or null when there is none. Asked in the order of the
     * savepoint, until null. The caller gives it back.
     *
     * @throws InterruptedIOException the calling thread was interrupted; its flag stays set
     */
    @Nullable
    ScanPage next(int keyGroup, int state) throws IOException {
        if (front == null) {
            front = take();
        }
        if (front.failure != null) {
            ExceptionUtils.rethrowIfFatalErrorOrOOM(front.failure);
            // Anew, for the stack of the caller; those of scans say what was read.
            throw new IOException(
                    front.failure instanceof IOException
                            ? front.failure.getMessage()
                            : "Reading ahead for a savepoint failed: " + front.failure,
                    front.failure);
        }
        if (front.keyGroup != keyGroup || front.state != state) {
            return null;
        }
        ScanPage page = front.page;
        front = null;
        return page;
    }

    private Filled take() throws InterruptedIOException {
        try {
            return filled.take();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("The savepoint was interrupted.");
        }
    }

    void giveBack(ScanPage page) {
        free.add(page);
    }

    private void read() {
        Throwable failure = null;
        try {
            for (int keyGroup = keyGroupRange.getStartKeyGroup();
                    keyGroup <= keyGroupRange.getEndKeyGroup();
                    keyGroup++) {
                for (int state = 0; state < states.size(); state++) {
                    read(keyGroup, state);
                }
            }
        } catch (Throwable t) {
            // After an interrupt there is nobody to tell.
            failure = t;
        }
        filled.add(new Filled(failure));
    }

    private void read(int keyGroup, int state) throws IOException, InterruptedException {
        ScanOptions options = StateScan.ofKeyGroup(keyGroup, instance.keyGroupPrefixBytes());
        boolean last;
        do {
            ScanPage page = free.take();
            states.get(state).fill(instance, snapshot, options, page);
            last = page.done() || page.count() == 0;
            if (page.count() == 0) {
                free.add(page);
            } else {
                options.continueAfter(page);
                filled.add(new Filled(keyGroup, state, page));
            }
        } while (!last);
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
