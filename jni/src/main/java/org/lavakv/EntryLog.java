// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * One log for an instance and the layer above it (XLL), which logs each of its changes as an entry.
 * A value at the end of an entry is stored only there. Entries are in segments, which are files in
 * the instance's directory and also serve as its value files. See docs/changelog.md.
 *
 * <p>Threads: the calls that log, and {@link #roll}, like writes of {@link LavaDB}; the rest any.
 *
 * <p>Ownership: the instance's, and valid as long as the instance is open.
 *
 * <p>Errors: like writes of {@link LavaDB}; nothing was logged then.
 */
public final class EntryLog {
    private static final int NOT_FOUND = Status.Code.NOT_FOUND.number();

    private final LavaDB db;

    EntryLog(LavaDB db) {
        this.db = db;
    }

    /** Logs an entry of any bytes and returns its location. */
    public EntryLocation append(byte[] entry) throws LavaDBException {
        Objects.requireNonNull(entry, "entry");
        long[] at = new long[4];
        db.writes.repeat(() -> append0(db.handle, entry, entry.length, at));
        return new EntryLocation(at);
    }

    /**
     * Logs an entry and puts the value at its end. The first byte of the value may be missing in
     * the entry.
     *
     * @throws LavaDBException INVALID_ARGUMENT when the entry does not end with the value
     */
    public EntryLocation putExternal(
            TableHandle t, byte[] key, int prefixLen, byte[] value, byte[] entry)
            throws LavaDBException {
        Arguments.checkKey(key, 0, key.length, prefixLen);
        Arguments.checkValue(t, value, 0, value.length);
        Objects.requireNonNull(entry, "entry");
        long table = db.own(t);
        long[] at = new long[4];
        db.writes.repeat(
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
     * Like putExternal, but for the last write. That must have been a {@link LavaDB#put}, or a
     * {@link LavaDB#append} of one element to a list without TTL. Its value or element must still
     * be unchanged in memory, be large enough to be separated, and end the entry. The instance
     * tracks writes from the first call on.
     *
     * @return null when a condition is not met, or the segment already contains many elements of
     *     the list; nothing was done
     */
    public EntryLocation bindExternal(byte[] entry) throws LavaDBException {
        Objects.requireNonNull(entry, "entry");
        long[] at = new long[4];
        int[] answer = {0};
        db.writes.repeat(
                () -> {
                    answer[0] = bindExternal0(db.handle, entry, entry.length, at);
                    return answer[0] == NOT_FOUND ? BoundedCall.DONE : answer[0];
                });
        return answer[0] == NOT_FOUND ? null : new EntryLocation(at);
    }

    /**
     * The location of a key's value in a segment that is still held, for {@link #readValue}; null
     * if the value is not in one.
     */
    public EntryLocation getExternal(TableHandle t, byte[] key, int prefixLen)
            throws LavaDBException {
        Arguments.checkKey(key, 0, key.length, prefixLen);
        long[] at = new long[4];
        int answer = getExternal0(db.handle, db.own(t), key, key.length, prefixLen, at);
        return answer == NOT_FOUND ? null : new EntryLocation(at);
    }

    /**
     * Reads an entry as it was logged.
     *
     * @throws LavaDBException NOT_FOUND when its segment was released and is gone
     */
    public byte[] read(EntryLocation entry) throws LavaDBException {
        return read0(db.handle, entry.segment(), entry.offset(), entry.bytes(), false);
    }

    /** Reads the value that {@link #getExternal} found, without the rest of its entry. */
    public byte[] readValue(EntryLocation value) throws LavaDBException {
        return read0(db.handle, value.segment(), value.offset(), value.bytes(), true);
    }

    /** Puts the next entry into a new segment. Does no I/O. */
    public void roll() throws LavaDBException {
        db.writes.repeat(() -> roll0(db.handle));
    }

    /**
     * Ends a segment that receives no further entries: its file is then complete and does not
     * change.
     *
     * @throws LavaDBException INVALID_ARGUMENT while entries are added to it; IO_ERROR, NO_SPACE:
     *     the file will never be complete, but its entries can be read
     */
    public void finish(long segment) throws LavaDBException {
        finish0(db.handle, segment);
    }

    /**
     * The layer above stores all entries up to this sequence elsewhere. A segment's file is deleted
     * when all of its entries are released and the instance does not need it either.
     */
    public void release(long through) throws LavaDBException {
        release0(db.handle, through);
    }

    /** The name of a segment's file in the instance's directory. */
    public String segmentName(long segment) throws LavaDBException {
        return new String(segmentName0(db.handle, segment), StandardCharsets.UTF_8);
    }

    /**
     * Decodes the entries in these bytes of a segment, wherever they were copied. Requires the
     * library to be loaded.
     *
     * @param segment the file name of the segment in the instance's directory
     * @param offset the offset of the bytes in the segment
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
