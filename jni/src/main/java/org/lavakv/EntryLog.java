package org.lavakv;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * The log that an instance shares with the layer above it, which logs each of its changes: a value
 * that ends an entry is stored there alone, for both (XLL). Entries stand in segments, files in the
 * instance's directory, which are its value files, too.
 *
 * <p>Threads: what logs and {@link #roll} as writes of {@link LavaDB}; the rest any.
 *
 * <p>Ownership: the instance's, and valid as long as that is open.
 *
 * <p>Errors: as writes of {@link LavaDB}; nothing was logged then.
 */
public final class EntryLog {
    private static final int NOT_FOUND = Status.Code.NOT_FOUND.number();

    private final LavaDB db;

    EntryLog(LavaDB db) {
        this.db = db;
    }

    /** Logs an entry, whatever it is; where it is, is the answer. */
    public EntryLocation append(byte[] entry) throws LavaDBException {
        Objects.requireNonNull(entry, "entry");
        long[] at = new long[4];
        db.repeat(() -> append0(db.handle, entry, entry.length, at));
        return new EntryLocation(at);
    }

    /**
     * Logs an entry, and puts the value that ends it; of the value's front the entry may lack one
     * byte.
     *
     * @throws LavaDBException INVALID_ARGUMENT when the entry does not end so
     */
    public EntryLocation putExternal(
            TableHandle t, byte[] key, int prefixLen, byte[] value, byte[] entry)
            throws LavaDBException {
        Arguments.checkKey(key, 0, key.length, prefixLen);
        Arguments.checkValue(t, value, 0, value.length);
        Objects.requireNonNull(entry, "entry");
        long table = db.own(t);
        long[] at = new long[4];
        db.repeat(
                () ->
                        putExternal0(
                                db.handle,
                                table,
                                key,
                                key.length,
                                prefixLen,
                                value,
                                value.length,
                                entry,
                                entry.length,
                                at));
        return new EntryLocation(at);
    }

    /**
     * The same for the last write, when that was a {@link LavaDB#put}, or a {@link LavaDB#append}
     * of one element to a list without TTL, the instance has it as it was made and of a size to be
     * stored apart, and the value or the element ends the entry. Writes are watched from the first
     * call on.
     *
     * @return null when it is not so, or there are many elements of the list in the segment
     *     already; nothing was done
     */
    public EntryLocation bindExternal(byte[] entry) throws LavaDBException {
        Objects.requireNonNull(entry, "entry");
        long[] at = new long[4];
        int[] answer = {0};
        db.repeat(
                () -> {
                    answer[0] = bindExternal0(db.handle, entry, entry.length, at);
                    return answer[0] == NOT_FOUND ? BoundedCall.DONE : answer[0];
                });
        return answer[0] == NOT_FOUND ? null : new EntryLocation(at);
    }

    /**
     * Where in a segment that is still held a key's value is, for {@link #readValue}; null: nowhere
     * there.
     */
    public EntryLocation getExternal(TableHandle t, byte[] key, int prefixLen)
            throws LavaDBException {
        Arguments.checkKey(key, 0, key.length, prefixLen);
        long[] at = new long[4];
        int answer = getExternal0(db.handle, db.own(t), key, key.length, prefixLen, at);
        return answer == NOT_FOUND ? null : new EntryLocation(at);
    }

    /**
     * An entry as it was logged.
     *
     * @throws LavaDBException NOT_FOUND when its segment was released and is gone
     */
    public byte[] read(EntryLocation entry) throws LavaDBException {
        return read0(db.handle, entry.segment(), entry.offset(), entry.bytes(), false);
    }

    /** The value that {@link #getExternal} found, without the rest of its entry. */
    public byte[] readValue(EntryLocation value) throws LavaDBException {
        return read0(db.handle, value.segment(), value.offset(), value.bytes(), true);
    }

    /** The next entry begins a new segment. No input or output. */
    public void roll() throws LavaDBException {
        db.repeat(() -> roll0(db.handle));
    }

    /**
     * Ends a segment that entries do not go to any more: its file is whole then, and does not
     * change.
     *
     * @throws LavaDBException INVALID_ARGUMENT while entries go there; IO_ERROR, NO_SPACE: it never
     *     will be whole, but its entries can be read
     */
    public void finish(long segment) throws LavaDBException {
        finish0(db.handle, segment);
    }

    /**
     * The layer above has all entries up to this sequence elsewhere: a segment's file goes when all
     * of its entries are released, and the instance does not need it either.
     */
    public void release(long through) throws LavaDBException {
        release0(db.handle, through);
    }

    /** The name of a segment's file in the instance's directory. */
    public String segmentName(long segment) throws LavaDBException {
        return new String(segmentName0(db.handle, segment), StandardCharsets.UTF_8);
    }

    /**
     * The entries in these bytes of a segment, wherever they were brought. Needs the library to be
     * loaded.
     *
     * @param segment the name that its file had in the instance's directory
     * @param offset where the bytes were in it
     * @throws LavaDBException CORRUPTION, naming segment and offset
     */
    public static List<byte[]> decode(String segment, long offset, byte[] bytes, int off, int len)
            throws LavaDBException {
        Objects.checkFromIndexSize(off, len, bytes.length);
        LavaLibrary.checkLoaded();
        Decoder in = new Decoder(decode0(Encoder.utf8(segment), offset, bytes, off, len));
        int count = in.int32();
        List<byte[]> entries = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            entries.add(in.bytes());
        }
        return entries;
    }

    private native int append0(long handle, byte[] entry, int len, long[] out)
            throws LavaDBException;

    private native int bindExternal0(long handle, byte[] entry, int len, long[] out)
            throws LavaDBException;

    private native int putExternal0(
            long handle,
            long table,
            byte[] key,
            int keyLen,
            int prefixLen,
            byte[] value,
            int valueLen,
            byte[] entry,
            int entryLen,
            long[] out)
            throws LavaDBException;

    private native int getExternal0(
            long handle, long table, byte[] key, int keyLen, int prefixLen, long[] out)
            throws LavaDBException;

    private native byte[] read0(
            long handle, long segment, long offset, long bytes, boolean valueAlone)
            throws LavaDBException;

    private native int roll0(long handle) throws LavaDBException;

    private native int finish0(long handle, long segment) throws LavaDBException;

    private native int release0(long handle, long through) throws LavaDBException;

    private native byte[] segmentName0(long handle, long segment) throws LavaDBException;

    private static native byte[] decode0(byte[] name, long offset, byte[] bytes, int off, int len)
            throws LavaDBException;
}
