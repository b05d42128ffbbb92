// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv;

import java.lang.System.Logger.Level;
import java.lang.ref.Cleaner;
import java.util.concurrent.atomic.AtomicLong;
import org.lavakv.log.LibraryLog;

/**
 * A native object that its owner closes. The native handle stays valid until this object is
 * unreachable, so a call after close finds a closed handle, never freed memory.
 *
 * <p>Threads: close may be concurrent with any call.
 *
 * <p>Ownership: the creator closes it. A cleaner closes an object that becomes unreachable without
 * having been closed. It counts such objects and logs the thread that opened them and the time. The
 * stack is included if assertions are enabled for this package or the system property
 * org.lavakv.leak.trace is true.
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
     * @param snapshots forgets the origin when the cleaner closes this object; may be null
     */
    NativeObject(long handle, String what, Origin origin, OpenSnapshots snapshots) {
        this.handle = handle;
        CLEANER.register(this, new Release(handle, what, origin, snapshots));
    }

    /**
     * Waits for running calls and background jobs, then frees the object's resources. Repeating it
     * does nothing. An interrupt does not end the wait, and the thread's flag stays set.
     *
     * <p>Errors: none; a failure to close files is logged.
     */
    @Override
    public void close() {
        // Each native call waits at most 200 ms. Not interruptible, because memory must not be
        // leaked. Running calls end by themselves, and jobs end as soon as the operating system
        // lets them.
        while (!close0(handle)) {
            Thread.onSpinWait();
        }
    }

    final boolean isHandleOpen() {
        return isOpen0(handle);
    }

    /**
     * Returns true when the object is closed, false when calls or jobs were still running after the
     * wait.
     */
    private native boolean close0(long handle);

    private native boolean isOpen0(long handle);

    /**
     * Closes the object if necessary, and frees the handle. Returns true if it had not been closed.
     */
    private static native boolean release0(long handle);

    /** The cleanup of an unreachable object; must not refer to it. */
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
                                    + " was not closed before it became unreachable. Its native"
                                    + " memory has been freed now. It was opened "
                                    + origin
                                    + "."
                                    + Origin.advice(origin.stack()),
                            origin.stack());
                } finally {
                    // Incremented after the message is logged, because tests wait for the count and
                    // then look for the message.
                    LEAKED.incrementAndGet();
                }
            }
        }
    }
}
