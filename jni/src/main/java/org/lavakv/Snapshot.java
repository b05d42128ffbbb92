package org.lavakv;

/**
 * A pinned, sealed view of an instance.
 *
 * <p>Threads: any thread.
 *
 * <p>Ownership: the caller closes it, which unpins its files. Closing the {@link LavaDB} first is
 * safe, but logged as a leak unless {@link #expectLateClose} was called; every call but close then
 * throws {@link LavaClosedException}.
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
     * For a caller that closes this on a thread of its own, perhaps after the database: closing the
     * database does not log it then. When it is never closed, the cleaner logs that all the same.
     */
    public void expectLateClose() {
        db.openSnapshots().remove(origin);
    }

    /**
     * Waits until everything that the snapshot shows is in files.
     *
     * @throws LavaDBException ABORTED when the thread is interrupted (its flag stays set); IO_ERROR
     *     or NO_SPACE when the last flush failed: the data is still there, and this may be called
     *     again
     */
    public void waitFlushed() throws LavaDBException {
        BoundedCall.untilNotBusy(
                "waiting for the flush of a snapshot of " + db.path(), () -> waitFlushed0(handle));
    }

    /**
     * The files and the metadata from which {@link LavaDB#open} imports them. Only after {@link
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

    /** Zero when done, or the number of BUSY. */
    private native int waitFlushed0(long handle) throws LavaDBException;

    private native byte[] files0(long handle) throws LavaDBException;
}
