// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv;

import java.io.IOException;
import java.io.InputStream;
import java.util.Objects;

/**
 * Reads a file of a {@link Volume} from its beginning. Unbuffered.
 *
 * <p>Threads: one; any thread may close it, which ends a read on another thread with an
 * IOException.
 */
final class VolumeInputStream extends InputStream {

    final VolumeInput input;
    private final String file;
    private final long size;
    private long position;

    VolumeInputStream(VolumeInput input, String file) {
        this.input = input;
        this.file = file;
        try {
            this.size = input.size();
        } catch (RuntimeException | Error e) {
            input.close();
            throw e;
        }
    }

    @Override
    public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] out, int off, int len) throws IOException {
        Objects.checkFromIndexSize(off, len, out.length);
        try {
            int n = input.read(position, out, off, len);
            position += n;
            return n == 0 && len > 0 ? -1 : n;
        } catch (LavaDBException | LavaClosedException e) {
            throw new IOException(
                    "Reading " + file + " at offset " + position + " failed: " + e.getMessage(), e);
        }
    }

    @Override
    public long skip(long count) {
        long skipped = Math.max(0, Math.min(count, size - position));
        position += skipped;
        return skipped;
    }

    @Override
    public int available() {
        return (int) Math.min(Integer.MAX_VALUE, size - position);
    }

    /** Waits for a running read. Repeating the call does nothing. */
    @Override
    public void close() {
        input.close();
    }
}
