// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv;

/**
 * A file of a {@link Volume} that is open for reading.
 *
 * <p>Threads: any thread.
 *
 * <p>Ownership: {@link VolumeInputStream} closes it. It keeps the volume mounted.
 */
final class VolumeInput extends NativeObject {

    VolumeInput(long handle, String file) {
        super(handle, "a file of a volume that was being read, " + file + ",");
    }

    /** Its length in bytes. */
    long size() {
        return size0(handle);
    }

    /** Reads from an offset, at most 1 MiB in one call; 0 at the end. */
    int read(long offset, byte[] out, int off, int len) throws LavaDBException {
        return read0(handle, offset, out, off, len);
    }

    private native long size0(long handle);

    private native int read0(long handle, long offset, byte[] out, int off, int len)
            throws LavaDBException;
}
