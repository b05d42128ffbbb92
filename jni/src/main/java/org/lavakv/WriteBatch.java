// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Objects;

/**
 * Operations that {@link LavaDB#write} applies atomically, collected on the Java heap and passed in
 * one native call. All tables must belong to one instance. Reusable after {@link #clear()}.
 *
 * <p>Threads: one thread at a time.
 *
 * <p>Ownership: copies keys and values.
 *
 * <p>Errors: IndexOutOfBoundsException and NullPointerException for bad ranges; the batch is then
 * unchanged. IllegalStateException beyond 1 GiB: write and clear the batch earlier.
 */
public final class WriteBatch {

    /** Kind (1 byte), table (8), bytes of the key, of its prefix and of the value (4 each). */
    private static final int HEADER_BYTES = 21;

    private static final int BYTES_MAX = 1 << 30;
    private static final byte PUT = 1;
    private static final byte DELETE = 2;
    private static final byte APPEND = 3;
    private static final byte DELETE_PREFIX = 4;
    private static final byte[] NOTHING = {};
    private static final VarHandle INT32 =
            MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.BIG_ENDIAN);
    private static final VarHandle INT64 =
            MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

    LavaDB db;
    byte[] bytes;
    int length;
    private int count;

    /** A batch with an initial capacity of 4 KiB. */
    public WriteBatch() {
        this(4096);
    }

    /** A batch with an initial capacity of this many bytes. */
    public WriteBatch(int initialBytes) {
        bytes = new byte[Math.max(HEADER_BYTES, initialBytes)];
    }

    /** Sets a key's value. */
    public void put(
            TableHandle t,
            byte[] key,
            int keyOff,
            int keyLen,
            int prefixLen,
            byte[] value,
            int valOff,
            int valLen) {
        add(PUT, t, key, keyOff, keyLen, prefixLen, value, valOff, valLen);
    }

    /** Deletes a key. */
    public void delete(TableHandle t, byte[] key, int keyOff, int keyLen, int prefixLen) {
        add(DELETE, t, key, keyOff, keyLen, prefixLen, NOTHING, 0, 0);
    }

    /** Appends list segments to a key's value. */
    public void append(
            TableHandle t, byte[] key, int keyOff, int keyLen, byte[] segments, int off, int len) {
        add(APPEND, t, key, keyOff, keyLen, 0, segments, off, len);
    }

    /** Deletes all keys that were written with this prefix. */
    public void deletePrefix(TableHandle t, byte[] prefix, int off, int len) {
        add(DELETE_PREFIX, t, prefix, off, len, 0, NOTHING, 0, 0);
    }

    /** Number of operations in the batch. */
    public int count() {
        return count;
    }

    /** Size of the batch in bytes: keys, values and its own headers. */
    public int byteCount() {
        return length;
    }

    /** Empties the batch; storage is kept. */
    public void clear() {
        db = null;
        length = 0;
        count = 0;
    }

    private void add(
            byte kind,
            TableHandle t,
            byte[] key,
            int keyOff,
            int keyLen,
            int prefixLen,
            byte[] value,
            int valOff,
            int valLen) {
        Objects.checkFromIndexSize(keyOff, keyLen, key.length);
        Objects.checkFromIndexSize(valOff, valLen, value.length);
        Arguments.checkPrefix(prefixLen, keyLen);
        if (db != null && db != t.db) {
            throw new IllegalArgumentException(
                    "table "
                            + t.name()
                            + " is not of the instance that this batch is for: "
                            + db.path());
        }
        int at = length;
        reserve((long) HEADER_BYTES + keyLen + valLen);
        db = t.db;
        bytes[at] = kind;
        INT64.set(bytes, at + 1, t.pointer);
        INT32.set(bytes, at + 9, keyLen);
        INT32.set(bytes, at + 13, prefixLen);
        INT32.set(bytes, at + 17, valLen);
        System.arraycopy(key, keyOff, bytes, at + HEADER_BYTES, keyLen);
        System.arraycopy(value, valOff, bytes, at + HEADER_BYTES + keyLen, valLen);
        length = at + HEADER_BYTES + keyLen + valLen;
        count++;
    }

    private void reserve(long more) {
        long needed = length + more;
        if (needed > BYTES_MAX) {
            throw new IllegalStateException(
                    "a write batch may hold at most "
                            + BYTES_MAX
                            + " bytes, but would have "
                            + needed
                            + ": write and clear the batch earlier");
        }
        if (needed > bytes.length) {
            bytes = Arrays.copyOf(bytes, (int) Math.min(BYTES_MAX, Math.max(needed, 2L * length)));
        }
    }
}
