// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.snapshot;

import java.io.IOException;

/**
 * The entries of one state in canonical form, by key group.
 *
 * <p>Threads: one. Ownership: arrays are new, so the caller may change them.
 */
interface KeyGroupSource {

    /**
     * Moves before the first entry of a key group. Key groups must be visited in ascending order.
     */
    void seek(int keyGroup) throws IOException;

    /** Moves to the key group's next entry; false if there is none. */
    boolean next() throws IOException;

    /** The entry's key. Like {@link #value()}, valid until the next move. */
    byte[] key();

    byte[] value();

    /** Whether the order of entries matters for a restore, as it does for timers. */
    default boolean isOrdered() {
        return false;
    }

    /** Writes all remaining entries of the key group; afterwards there is no next one. */
    default void writeRest(CanonicalEntryOutput out) throws IOException {
        while (next()) {
            out.write(key(), value());
        }
    }
}
