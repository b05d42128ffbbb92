// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.shared;

import java.lang.ref.WeakReference;
import javax.annotation.Nullable;
import org.apache.flink.runtime.state.KeyGroupRange;

/**
 * Passes an instance's log from the backend to the changelog's writer. Flink creates the writer
 * right after the backend in the same thread, but gives neither a reference to the other.
 *
 * <p>Threads: any, each for itself. Ownership: none; a log that is not taken is not kept alive.
 */
public final class SharedLogs {
    private static final ThreadLocal<Offer> OFFERED = new ThreadLocal<>();

    private SharedLogs() {}

    /** The next writer of the same operator and key groups in this thread may take the log. */
    public static void offer(String operatorId, KeyGroupRange keyGroups, SharedLog log) {
        OFFERED.set(new Offer(operatorId, keyGroups, new WeakReference<>(log)));
    }

    /** Null if the backend below is another one. */
    @Nullable
    public static SharedLog take(String operatorId, KeyGroupRange keyGroups) {
        Offer offer = OFFERED.get();
        OFFERED.remove();
        return offer != null
                        && offer.operatorId.equals(operatorId)
                        && offer.keyGroups.equals(keyGroups)
                ? offer.log.get()
                : null;
    }

    private static final class Offer {
        final String operatorId;
        final KeyGroupRange keyGroups;
        final WeakReference<SharedLog> log;

        Offer(String operatorId, KeyGroupRange keyGroups, WeakReference<SharedLog> log) {
            this.operatorId = operatorId;
            this.keyGroups = keyGroups;
            this.log = log;
        }
    }
}
