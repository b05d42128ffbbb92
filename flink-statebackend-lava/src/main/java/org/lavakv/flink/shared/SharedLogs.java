package org.lavakv.flink.shared;

import java.lang.ref.WeakReference;
import javax.annotation.Nullable;
import org.apache.flink.runtime.state.KeyGroupRange;

/**
 * Hands an instance's log from the backend to the changelog's writer: Flink makes the one right
 * after the other in a task's thread, and tells neither of the other.
 *
 * <p>Threads: any, each for itself. Ownership: none; a log that nobody takes is not kept.
 */
public final class SharedLogs {
    private static final ThreadLocal<Offer> OFFERED = new ThreadLocal<>();

    private SharedLogs() {}

    /** Whoever of the same operator and key groups is made next in this thread may take it. */
    public static void offer(String operatorId, KeyGroupRange keyGroups, SharedLog log) {
        OFFERED.set(new Offer(operatorId, keyGroups, new WeakReference<>(log)));
    }

    /** Null: the backend below is another one. */
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
