package org.lavakv.flink.snapshot;

import java.io.IOException;

/**
 * The entries of one state in canonical form, by key group.
 *
 * <p>Threads: one. Ownership: arrays are fresh, the caller may change them.
 */
interface KeyGroupSource {

    /** Goes before the first entry of a key group. */
    void seek(int keyGroup) throws IOException;

    /** Goes to the key group's next entry, if there is one. */
    boolean next() throws IOException;

    byte[] key();

    byte[] value();
}
