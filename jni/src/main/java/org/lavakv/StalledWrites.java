// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv;

import static org.lavakv.BoundedCall.DONE;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Repeats the writes of one instance while background work is behind, and counts how long they
 * wait.
 *
 * <p>Threads: any.
 */
final class StalledWrites {

    private final String path;
    private final AtomicLong nanos = new AtomicLong();

    /** The directory of the instance, for messages. */
    StalledWrites(String path) {
        this.path = path;
    }

    /** See {@link LavaDB#stalledNanos}. */
    long nanos() {
        return nanos.get();
    }

    /** Repeats a write that returns Busy. An interrupt of the thread ends it. */
    void repeat(BoundedCall call) throws LavaDBException {
        long before = System.nanoTime();
        while (call.call() != DONE) {
            long now = System.nanoTime();
            nanos.addAndGet(now - before);
            before = now;
            if (Thread.currentThread().isInterrupted()) {
                throw new LavaDBException(
                        Status.Code.ABORTED,
                        "writing to "
                                + path
                                + ": abandoned, because the thread was interrupted while it"
                                + " waited for background work; nothing was written");
            }
        }
    }
}
