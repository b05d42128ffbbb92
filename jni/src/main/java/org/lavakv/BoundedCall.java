// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv;

/** A native call that returns 0, or Busy if it would have waited too long. */
interface BoundedCall {

    int DONE = 0;

    int call() throws LavaDBException;

    /** Repeats a wait that returns Busy. An interrupt of the thread ends it. */
    static void untilNotBusy(String what, BoundedCall call) throws LavaDBException {
        while (call.call() != DONE) {
            if (Thread.currentThread().isInterrupted()) {
                throw new LavaDBException(
                        Status.Code.ABORTED,
                        what + ": abandoned, because the thread was interrupted");
            }
        }
    }
}
