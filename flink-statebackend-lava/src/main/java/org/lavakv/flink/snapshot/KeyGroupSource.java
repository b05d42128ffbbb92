package org.lavakv.flink.snapshot;

import java.io.IOException;

/**
 * The entries of one state in canonical form, by key group.
 *
 * <p>Threads: one. Ownership: arrays are fresh, the caller may change them.
 */
interface KeyGroupSource {

    /** Goes before the first entry of a key group, which is behind that of the last seek. */
    void seek(int keyGroup) throws IOException;

    /** Goes to the key group's next entry, if there is one. */
    boolean next() throws IOException;

    /** The entry's, as {@link #value()}, until the next move. */
    byte[] key();

    byte[] value();

    /** Whether the order of entries matters to who restores them, as that of timers may. */
    default boolean isOrdered() {
        return false;
    }

    /** Writes all entries of the key group that are behind this one; then there is no next one. */
    default void writeRest(EntryOutput out) throws IOException {
        while (next()) {
            out.write(key(), value());
        }
    }
}
