package org.lavakv;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * Entries of a scan, filled by one native call and read without allocation: {@code while
 * (page.next()) { use page.buffer() at page.keyOffset() ... }}.
 *
 * <p>Threads: one thread at a time.
 *
 * <p>Ownership: reusable; offsets and buffer are valid until the page is filled again.
 *
 * <p>Units: bytes.
 */
public final class ScanPage {

    /** Before the entries stand, as int32: entries, flags, bytes of entries, bytes of last key. */
    static final int HEADER_BYTES = 16;

    private static final VarHandle INT32 =
            MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.BIG_ENDIAN);
    private static final int FLAG_DONE = 1;

    private byte[] buffer = new byte[512];
    private int count;
    private boolean done;
    private int lastKeyOffset;
    private int lastKeyLength;

    private int visited;
    private int nextOffset;
    private int keyOffset;
    private int keyLength;
    private int valueOffset;
    private int valueLength;

    /** An empty page. */
    public ScanPage() {}

    /** How many entries the page holds. */
    public int count() {
        return count;
    }

    /** True when there is nothing further in the range behind this page. */
    public boolean done() {
        return done;
    }

    /** Steps to the next entry; false behind the last one. */
    public boolean next() {
        if (visited == count) {
            return false;
        }
        visited++;
        keyLength = (int) INT32.get(buffer, nextOffset);
        valueLength = (int) INT32.get(buffer, nextOffset + 4);
        keyOffset = nextOffset + 8;
        valueOffset = keyOffset + keyLength;
        nextOffset = valueOffset + valueLength;
        return true;
    }

    /** Goes back before the first entry. */
    public void rewind() {
        visited = 0;
        nextOffset = HEADER_BYTES;
    }

    /** The bytes that the offsets point into; another array after the next fill. */
    public byte[] buffer() {
        return buffer;
    }

    /** Where the current key starts, without its skipped bytes. */
    public int keyOffset() {
        return keyOffset;
    }

    public int keyLength() {
        return keyLength;
    }

    public int valueOffset() {
        return valueOffset;
    }

    /** Zero in a scan of keys only. */
    public int valueLength() {
        return valueLength;
    }

    /** A copy of the current key, without its skipped bytes. */
    public byte[] key() {
        return Arrays.copyOfRange(buffer, keyOffset, keyOffset + keyLength);
    }

    /** A copy of the current value. */
    public byte[] value() {
        return Arrays.copyOfRange(buffer, valueOffset, valueOffset + valueLength);
    }

    /** A copy of the whole last key of the page; empty for an empty page. */
    public byte[] lastKey() {
        return Arrays.copyOfRange(buffer, lastKeyOffset, lastKeyOffset + lastKeyLength);
    }

    /** Where in the buffer the whole last key stands. */
    public int lastKeyOffset() {
        return lastKeyOffset;
    }

    public int lastKeyLength() {
        return lastKeyLength;
    }

    /** Makes room; what the page held is gone. */
    byte[] reserve(int bytes) {
        clear();
        if (buffer.length < bytes) {
            buffer = new byte[bytes];
        }
        return buffer;
    }

    /** Reads the header that the native call wrote. */
    void filled() {
        count = (int) INT32.get(buffer, 0);
        done = ((int) INT32.get(buffer, 4) & FLAG_DONE) != 0;
        lastKeyOffset = HEADER_BYTES + (int) INT32.get(buffer, 8);
        lastKeyLength = (int) INT32.get(buffer, 12);
        rewind();
    }

    private void clear() {
        count = 0;
        done = false;
        lastKeyOffset = 0;
        lastKeyLength = 0;
        keyOffset = 0;
        keyLength = 0;
        valueOffset = 0;
        valueLength = 0;
        rewind();
    }
}
