// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.engine;

import org.apache.flink.core.memory.DataInputDeserializer;
import org.lavakv.LavaDB;
import org.lavakv.LavaDBException;
import org.lavakv.TableHandle;

/**
 * Reads values into a reusable buffer.
 *
 * <p>Threads: one thread. Ownership: {@link #buffer} and {@link #input} are valid until the next
 * read.
 */
public final class ValueReader {

    private static final int INITIAL_BYTES = 256;
    private static final int LARGE_BYTES = 1 << 20;
    private static final int SMALL_READS_MAX = 1024;

    private final DataInputDeserializer input = new DataInputDeserializer();
    private byte[] buffer = new byte[INITIAL_BYTES];
    private int smallReads;

    /**
     * Reads the value of a key.
     *
     * @return the value's length, or a negative number when the key does not exist
     */
    public int read(LavaDB db, TableHandle table, byte[] key, int keyLength, int prefixLength)
            throws LavaDBException {
        int length = db.get(table, key, 0, keyLength, prefixLength, buffer, 0);
        while (length > buffer.length) {
            buffer = new byte[grown(length)];
            length = db.get(table, key, 0, keyLength, prefixLength, buffer, 0);
        }
        if (buffer.length > LARGE_BYTES) {
            shrinkAfterSmallReads(length);
        }
        return length;
    }

    public byte[] buffer() {
        return buffer;
    }

    /** A view of part of the value that was read. */
    public DataInputDeserializer input(int offset, int length) {
        input.setBuffer(buffer, offset, length);
        return input;
    }

    private static int grown(int length) {
        int enlarged = length + (length >> 2);
        return enlarged > 0 ? enlarged : length;
    }

    // One huge value must not keep its buffer for the rest of the job.
    private void shrinkAfterSmallReads(int length) {
        smallReads = length > LARGE_BYTES / 2 ? 0 : smallReads + 1;
        if (smallReads > SMALL_READS_MAX && length <= LARGE_BYTES / 2) {
            byte[] smaller = new byte[LARGE_BYTES / 2];
            System.arraycopy(buffer, 0, smaller, 0, Math.max(0, length));
            buffer = smaller;
            smallReads = 0;
        }
    }
}
