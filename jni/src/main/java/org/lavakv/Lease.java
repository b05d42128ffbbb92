// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv;

/**
 * A share of the process's native memory, for example that of one Flink slot. All instances opened
 * with the same lease share it.
 *
 * <p>Threads: any thread.
 *
 * <p>Ownership: the caller closes it. Instances opened with it keep their share until they are
 * closed themselves, so the order does not matter.
 *
 * <p>Errors: every method except close throws {@link LavaClosedException} after close.
 *
 * <p>Units: bytes.
 */
public final class Lease extends NativeObject {

    Lease(long handle) {
        super(handle, "a memory lease (org.lavakv.Lease)");
    }

    /** Size of the lease. */
    public long capacityBytes() {
        return number0(handle, 0);
    }

    /** The part for memtables and sealed runs; the rest serves the shared block cache. */
    public long writeBufferBytes() {
        return number0(handle, 1);
    }

    /** Bytes currently used by memtables and sealed runs. */
    public long writeBufferUsedBytes() {
        return number0(handle, 2);
    }

    /** Bytes currently charged to this lease (the cache is charged to the host). */
    public long usedBytes() {
        return number0(handle, 3);
    }

    /** Drops the caller's reference. Repeating it does nothing. */
    @Override
    public void close() {
        super.close();
    }

    private native long number0(long handle, int which);
}
