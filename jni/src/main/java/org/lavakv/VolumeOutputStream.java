// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv;

import java.io.IOException;
import java.io.OutputStream;
import java.util.Objects;

/**
 * Writes a new file of a {@link Volume}. The engine buffers.
 *
 * <p>Threads: one; any thread may close it, which ends a write on another thread with an
 * IOException.
 */
final class VolumeOutputStream extends OutputStream {

    final VolumeOutput output;
    private final String file;
    // In addition to the native state: a second close, or a close after a failure, must not finish
    // the file.
    private volatile boolean done;

    VolumeOutputStream(VolumeOutput output, String file) {
        this.output = output;
        this.file = file;
    }

    @Override
    public void write(int b) throws IOException {
        write(new byte[] {(byte) b}, 0, 1);
    }

    @Override
    public void write(byte[] in, int off, int len) throws IOException {
        Objects.checkFromIndexSize(off, len, in.length);
        try {
            for (int written = 0; written < len; ) {
                int n = Math.min(len - written, VolumeOutput.PIECE_BYTES_MAX);
                output.append(in, off + written, n);
                written += n;
            }
        } catch (LavaDBException | LavaClosedException e) {
            done = true;
            throw failure(e);
        }
    }

    /**
     * Writes the remaining bytes, unless a write failed before. Repeating the call does nothing.
     */
    @Override
    public void close() throws IOException {
        if (done) {
            output.close();
            return;
        }
        done = true;
        try {
            output.finish();
        } catch (LavaDBException | LavaClosedException e) {
            throw failure(e);
        } finally {
            output.close();
        }
    }

    private IOException failure(Exception e) {
        return new IOException("Writing " + file + " failed: " + e.getMessage(), e);
    }
}
