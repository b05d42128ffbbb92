// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.restore;

import java.io.IOException;
import org.apache.flink.core.fs.FSDataInputStream;

/**
 * Buffers a stream, and counts positions as seen by the reader. Fields of a canonical savepoint are
 * read byte by byte, and each read of a file system's stream may be a remote call.
 *
 * <p>Threads: one. Ownership: closes the stream. Units: bytes.
 */
final class BufferedInput extends FSDataInputStream {

    private static final int BUFFER_BYTES = 64 << 10;

    private final FSDataInputStream in;
    private final byte[] buffer = new byte[BUFFER_BYTES];

    /** Position of the buffer's first byte in the stream. */
    private long start;

    private int position;
    private int limit;

    /** Reading begins at the stream's current position. */
    BufferedInput(FSDataInputStream in) throws IOException {
        this.in = in;
        start = in.getPos();
    }

    @Override
    public void seek(long to) throws IOException {
        if (to >= start && to <= start + limit) {
            position = (int) (to - start);
            return;
        }
        in.seek(to);
        start = to;
        position = 0;
        limit = 0;
    }

    @Override
    public long getPos() {
        return start + position;
    }

    @Override
    public int read() throws IOException {
        return position < limit || fill() ? buffer[position++] & 0xff : -1;
    }

    @Override
    public int read(byte[] to, int offset, int length) throws IOException {
        if (length == 0) {
            return 0;
        }
        if (position == limit && !fill()) {
            return -1;
        }
        int count = Math.min(length, limit - position);
        System.arraycopy(buffer, position, to, offset, count);
        position += count;
        return count;
    }

    /** Reads the bytes after those in the buffer; false at the end. */
    private boolean fill() throws IOException {
        start += limit;
        position = 0;
        limit = 0;
        int read = in.read(buffer, 0, buffer.length);
        limit = Math.max(0, read);
        return limit > 0;
    }

    @Override
    public int available() throws IOException {
        return limit - position + in.available();
    }

    @Override
    public void close() throws IOException {
        in.close();
    }
}
