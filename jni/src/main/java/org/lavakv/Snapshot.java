// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv;

/**
 * A pinned, sealed state of an instance.
 *
 * <p>Threads: any thread.
 *
 * <p>Ownership: the caller closes it, which unpins its files. Closing the {@link LavaDB} first is
 * safe, but logged as a leak unless {@link #expectLateClose} was called. Afterwards every call
 * except close throws {@link LavaClosedException}.
 */
public final class Snapshot extends NativeObject {

    final LavaDB db;
    private final Origin origin;

    Snapshot(LavaDB db, long handle) {
        this(db, handle, new Origin());
    }

    private Snapshot(LavaDB db, long handle, Origin origin) {
        super(handle, "a snapshot of " + db.path(), origin, db.openSnapshots());
        this.db = db;
        this.origin = origin;
        db.openSnapshots().add(origin);
    }

    /**
     * For a caller that closes the snapshot on a separate thread, possibly after the database:
     * closing the database does not log it then. A snapshot that is never closed is still logged by
     * the cleaner.
     */
    public void expectLateClose() {
        db.openSnapshots().remove(origin);
    }

    /**
     * Waits until the whole content of the snapshot is in files.
     *
     * @throws LavaDBException ABORTED when the thread is interrupted (its flag stays set); IO_ERROR
     *     or NO_SPACE when the last flush failed: the data still exists, and the call may be
     *     repeated
     */
    public void waitFlushed() throws LavaDBException {
        BoundedCall.untilNotBusy(
                "waiting for the flush of a snapshot of " + db.path(), () -> waitFlushed0(handle));
    }

    /**
     * The files, and the metadata from which {@link LavaDB#open} imports them. Only after {@link
     * #waitFlushed()}.
     *
     * @throws LavaDBException as the engine reports it; BUSY before waitFlushed
     */
    public CheckpointFiles getFiles() throws LavaDBException {
        Decoder in = new Decoder(files0(handle));
        return new CheckpointFiles(in.files(), in.bytes(), in.int64(), in.int64(), in.strings());
    }

    /** Unpins the files. Repeating it does nothing. */
    @Override
    public void close() {
        db.openSnapshots().remove(origin);
        super.close();
    }

    /** Zero on success, or the number of BUSY. */
    private native int waitFlushed0(long handle) throws LavaDBException;

    private native byte[] files0(long handle) throws LavaDBException;
}
