package org.lavakv;

/** A native call that answers 0 or that it would have waited too long. */
interface BoundedCall {

    int DONE = 0;

    int call() throws LavaDBException;

    /** Repeats a wait that answers Busy. The thread's interrupt ends it. */
    static void untilNotBusy(String what, BoundedCall call) throws LavaDBException {
        while (call.call() != DONE) {
            if (Thread.currentThread().isInterrupted()) {
                throw new LavaDBException(
                        Status.Code.ABORTED, what + ": given up, the thread was interrupted");
            }
        }
    }
}
