package org.lavakv;

import java.io.IOException;
import java.io.OutputStream;
import java.util.Objects;

/**
 * Writes a new file of a {@link Volume}. The engine buffers.
 *
 * <p>Threads: one; any may close it, which ends the other's writing with an IOException.
 */
final class VolumeOutputStream extends OutputStream {

    final VolumeOutput output;
    private final String file;
    // Beside the native state: a second close must not finish again, nor one after a failure.
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

    /** Writes the rest, unless writing failed before. Repeating it does nothing. */
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
