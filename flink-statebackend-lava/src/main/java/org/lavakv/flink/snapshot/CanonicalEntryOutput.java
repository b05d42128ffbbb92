// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.snapshot;

import java.io.IOException;
import java.io.OutputStream;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * Writes entries of a canonical savepoint in large pieces, because an entry has four fields and
 * each call of a file system's stream may be expensive.
 *
 * <p>Threads: one. Ownership: borrows the stream; {@link #flush} passes all written entries to it.
 */
final class CanonicalEntryOutput {

    static final int BUFFER_BYTES = 512 << 10;

    private static final VarHandle INT32 =
            MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.BIG_ENDIAN);

    private final byte[] buffer = new byte[BUFFER_BYTES];
    private OutputStream out;
    private int size;

    /**
     * Sets the stream for the following entries. Unflushed entries for the previous stream are
     * lost.
     */
    void begin(OutputStream to) {
        out = to;
        size = 0;
    }

    void write(byte[] key, byte[] value) throws IOException {
        write(key, 0, key.length, value, 0, value.length);
    }

    void write(
            byte[] key,
            int keyOffset,
            int keyLength,
            byte[] value,
            int valueOffset,
            int valueLength)
            throws IOException {
        write(key, keyOffset, keyLength);
        write(value, valueOffset, valueLength);
    }

    /** Writes a length and as many bytes. */
    private void write(byte[] bytes, int offset, int length) throws IOException {
        if (length > BUFFER_BYTES - Integer.BYTES - size) {
            flush();
        }
        INT32.set(buffer, size, length);
        size += Integer.BYTES;
        if (length > BUFFER_BYTES - size) {
            flush();
            out.write(bytes, offset, length);
            return;
        }
        System.arraycopy(bytes, offset, buffer, size, length);
        size += length;
    }

    void flush() throws IOException {
        if (size > 0) {
            out.write(buffer, 0, size);
            size = 0;
        }
    }
}
