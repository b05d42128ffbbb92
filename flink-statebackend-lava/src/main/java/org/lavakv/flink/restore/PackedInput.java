// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.restore;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.util.IOUtils;
import org.lavakv.flink.checkpoint.PackedFiles;

/**
 * Reads one file of a pack, and ends at the file's end.
 *
 * <p>Threads: one. Ownership: closes the pack's stream.
 */
final class PackedInput extends FilterInputStream {

    private long left;

    private PackedInput(InputStream in, long bytes) {
        super(in);
        left = bytes;
    }

    /** Takes over the pack's stream, also when the call fails. */
    static InputStream of(FSDataInputStream pack, PackedFiles.Location location)
            throws IOException {
        try {
            pack.seek(location.offset());
            return new PackedInput(pack, location.bytes());
        } catch (IOException | RuntimeException e) {
            IOUtils.closeQuietly(pack);
            throw new IOException("Looking for " + location + " failed: " + e.getMessage(), e);
        }
    }

    @Override
    public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] to, int offset, int length) throws IOException {
        if (left == 0 && length > 0) {
            return -1;
        }
        int read = in.read(to, offset, (int) Math.min(length, left));
        left -= Math.max(0, read);
        return read;
    }

    @Override
    public long skip(long bytes) throws IOException {
        long skipped = in.skip(Math.min(bytes, left));
        left -= skipped;
        return skipped;
    }

    @Override
    public int available() throws IOException {
        return (int) Math.min(in.available(), left);
    }

    @Override
    public boolean markSupported() {
        return false;
    }
}
