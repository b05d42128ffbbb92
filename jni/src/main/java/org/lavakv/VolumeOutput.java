// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv;

/**
 * A new file of a {@link Volume}.
 *
 * <p>Threads: any thread; one at a time writes.
 *
 * <p>Ownership: {@link VolumeOutputStream} closes it. It keeps the volume mounted. Close drops
 * buffered bytes unless {@link #finish} was called before.
 */
final class VolumeOutput extends NativeObject {

    /** Maximum size of one {@link #append}. */
    static final int PIECE_BYTES_MAX = 1 << 20;

    VolumeOutput(long handle, String file) {
        super(handle, "a file of a volume that was being written, " + file + ",");
    }

    void append(byte[] in, int off, int len) throws LavaDBException {
        append0(handle, in, off, len);
    }

    /** Writes the buffered bytes; nothing can be appended afterwards. */
    void finish() throws LavaDBException {
        finish0(handle);
    }

    private native void append0(long handle, byte[] in, int off, int len) throws LavaDBException;

    private native void finish0(long handle) throws LavaDBException;
}
