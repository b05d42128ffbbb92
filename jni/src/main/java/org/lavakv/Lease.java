package org.lavakv;

/**
 * A share of the process's native memory: what one Flink slot gave. All instances opened with the
 * same lease share it.
 *
 * <p>Threads: any thread.
 *
 * <p>Ownership: the caller closes it. Instances opened with it keep their share until they are
 * closed themselves, so the order does not matter.
 *
 * <p>Errors: every method but close throws {@link LavaClosedException} after close.
 *
 * <p>Units: bytes.
 */
public final class Lease extends NativeObject {

    Lease(long handle) {
        super(handle, "a memory lease (org.lavakv.Lease)");
    }

    /** What was leased. */
    public long capacityBytes() {
        return number0(handle, 0);
    }

    /** The part for memtables, sealed runs included; the rest serves the shared block cache. */
    public long writeBufferBytes() {
        return number0(handle, 1);
    }

    /** What memtables and sealed runs hold now. */
    public long writeBufferUsedBytes() {
        return number0(handle, 2);
    }

    /** Everything that is charged to this lease now (the cache is the host's). */
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
