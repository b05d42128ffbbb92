package org.lavakv;

import java.lang.System.Logger.Level;
import java.lang.ref.Cleaner;
import java.util.concurrent.atomic.AtomicLong;
import org.lavakv.log.LibraryLog;

/**
 * Something native that is closed by its owner. The native handle stays valid until this object is
 * unreachable, so a call after close finds a closed handle, never freed memory.
 *
 * <p>Threads: close may race with anything.
 *
 * <p>Ownership: the maker closes it. An object that becomes unreachable unclosed is closed by a
 * cleaner, which counts that and logs it with the thread that opened it and when; with its stack
 * where assertions are enabled for this package or the system property org.lavakv.leak.trace is
 * true.
 */
abstract class NativeObject implements AutoCloseable {

    static final AtomicLong LEAKED = new AtomicLong();

    private static final LibraryLog LOG = LibraryLog.of(NativeObject.class);
    private static final Cleaner CLEANER = Cleaner.create();

    final long handle;

    NativeObject(long handle, String what) {
        this(handle, what, new Origin(), null);
    }

    /**
     * @param snapshots which forgets the origin when the cleaner closes this; may be null
     */
    NativeObject(long handle, String what, Origin origin, OpenSnapshots snapshots) {
        this.handle = handle;
        CLEANER.register(this, new Release(handle, what, origin, snapshots));
    }

    /**
     * Waits for calls and background jobs in flight, then frees what the object holds. Repeating it
     * does nothing. An interrupt does not end it; the thread's flag stays as it is.
     *
     * <p>Errors: none; a failure while files are being closed is logged.
     */
    @Override
    public void close() {
        // Each native call waits at most 200 ms. Not interruptible: memory must not stay behind,
        // and calls in flight end by themselves, jobs too as soon as the system lets them.
        while (!close0(handle)) {
            Thread.onSpinWait();
        }
    }

    final boolean isHandleOpen() {
        return isOpen0(handle);
    }

    /** True when closed now, false when calls or jobs were still in flight after a while. */
    private native boolean close0(long handle);

    private native boolean isOpen0(long handle);

    /** Closes if need be, and frees the handle itself. True when it had not been closed. */
    private static native boolean release0(long handle);

    /** What is left to do when an object is unreachable; must not refer to it. */
    private static final class Release implements Runnable {
        private final long handle;
        private final String what;
        private final Origin origin;
        private final OpenSnapshots snapshots;

        Release(long handle, String what, Origin origin, OpenSnapshots snapshots) {
            this.handle = handle;
            this.what = what;
            this.origin = origin;
            this.snapshots = snapshots;
        }

        @Override
        public void run() {
            if (snapshots != null) {
                snapshots.remove(origin);
            }
            if (release0(handle)) {
                try {
                    LOG.log(
                            Level.WARNING,
                            what
                                    + " was not closed before it became unreachable; its native memory was"
                                    + " freed now. It was opened "
                                    + origin
                                    + "."
                                    + Origin.advice(origin.stack()),
                            origin.stack());
                } finally {
                    // Behind the log, for who waits for the count to find what was logged.
                    LEAKED.incrementAndGet();
                }
            }
        }
    }
}
