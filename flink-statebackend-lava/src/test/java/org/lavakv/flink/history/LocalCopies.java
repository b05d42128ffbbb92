// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.history;

import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import javax.annotation.Nullable;
import org.apache.flink.runtime.state.KeyedStateHandle;

/**
 * The local copies of checkpoints on a TaskManager, by subtask, kept and deleted like in Flink's
 * store.
 *
 * <p>Threads: one. Ownership: the copies.
 */
final class LocalCopies {

    private final Map<Integer, TreeMap<Long, KeyedStateHandle>> copies = new HashMap<>();

    private TreeMap<Long, KeyedStateHandle> of(int subtask) {
        return copies.computeIfAbsent(subtask, ignored -> new TreeMap<>());
    }

    void store(int subtask, long checkpoint, @Nullable KeyedStateHandle copy) {
        if (copy != null) {
            of(subtask).put(checkpoint, copy);
        }
    }

    /** The copy of a checkpoint, or null. */
    @Nullable
    KeyedStateHandle get(int subtask, long checkpoint) {
        return of(subtask).get(checkpoint);
    }

    /** Deletes older copies. */
    void confirm(int subtask, long checkpoint) throws Exception {
        discard(of(subtask).headMap(checkpoint, false));
    }

    /** Deletes the copy of this checkpoint. */
    void abort(int subtask, long checkpoint) throws Exception {
        discard(of(subtask).subMap(checkpoint, true, checkpoint, true));
    }

    /** Deletes all copies except the restored one. */
    void restored(int subtask, long checkpoint) throws Exception {
        discard(of(subtask).headMap(checkpoint, false));
        discard(of(subtask).tailMap(checkpoint, false));
    }

    /** Deletes all copies: the TaskManager or the job has ended. */
    void clear() throws Exception {
        for (TreeMap<Long, KeyedStateHandle> some : copies.values()) {
            discard(some);
        }
    }

    private static void discard(Map<Long, KeyedStateHandle> some) throws Exception {
        for (KeyedStateHandle copy : some.values()) {
            copy.discardState();
        }
        some.clear();
    }
}
