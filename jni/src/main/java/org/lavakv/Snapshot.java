package org.lavakv;

/**
 * A pinned, sealed view of an instance.
 *
 * <p>Threads: any thread.
 *
 * <p>Ownership: the caller closes it, which unpins its files. Closing the {@link LavaDB} first is
 * allowed; every call but close then throws {@link LavaClosedException}.
 */
public final class Snapshot extends NativeObject {

    final LavaDB db;

    Snapshot(LavaDB db, long handle) {
        super(handle, "a snapshot of " + db.path());
        this.db = db;
    }

    /**
     * Waits until everything that the snapshot shows is in files.
     *
     * @throws LavaDBException ABORTED when the thread is interrupted (its flag stays set); IO_ERROR
     *     or NO_SPACE when the last flush failed: the data is still there, and this may be called
     *     again
     */
    public void waitFlushed() throws LavaDBException {
        LavaDB.untilNotBusy(
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
        return new CheckpointFiles(in.files(), in.bytes());
    }

    /** Unpins the files. Repeating it does nothing. */
    @Override
    public void close() {
        super.close();
    }

    /** Zero when done, or the number of BUSY. */
    private native int waitFlushed0(long handle) throws LavaDBException;

    private native byte[] files0(long handle) throws LavaDBException;
}
