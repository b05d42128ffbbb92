// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.changelog;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import javax.annotation.Nullable;
import org.apache.flink.runtime.state.changelog.StateChange;
import org.apache.flink.util.CloseableIterator;

/**
 * The changes of one set.
 *
 * <p>Threads: one. Errors: {@link UncheckedIOException}, saying what is wrong, and where.
 */
final class ChangeReader implements CloseableIterator<StateChange> {
    private static final int VARINT_BYTES_MAX = 5;
    private static final int VARINT_MORE = 0x80;
    private static final int VARINT_BITS = 7;
    private static final int PART_BYTES_MIN = 1 + 2 * Long.BYTES;

    /** Reads the changes of a part. */
    interface ChangelogSegments {
        /**
         * @param index the position of the part in {@link #parts}
         */
        List<byte[]> read(int index, ChangeSet.Part part) throws IOException;
    }

    private final ByteBuffer bytes;
    private final String where;
    private final List<ChangeSet.Part> parts;
    @Nullable private ChangelogSegments segments;
    private Iterator<byte[]> elsewhere = new ArrayList<byte[]>().iterator();
    private int nextPart;
    private int left;

    /**
     * @param where file and offset, for messages
     */
    ChangeReader(byte[] bytes, int count, boolean hasParts, String where) throws IOException {
        this.bytes = ByteBuffer.wrap(bytes);
        this.where = where;
        this.left = count;
        try {
            this.parts = hasParts ? takeParts() : List.of();
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
    }

    /** Removes the parts from the end of the bytes and returns them. */
    private List<ChangeSet.Part> takeParts() {
        check(bytes.remaining() >= Integer.BYTES);
        int end = bytes.limit() - Integer.BYTES;
        int length = bytes.getInt(end);
        check(length >= 0 && length <= end);
        bytes.limit(end).position(end - length);
        int count = varint();
        check(count > 0 && count <= bytes.remaining() / PART_BYTES_MIN);
        List<ChangeSet.Part> found = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            check(bytes.hasRemaining());
            byte[] file = new byte[bytes.get() & 0xff];
            check(bytes.remaining() >= file.length + 2 * Long.BYTES);
            bytes.get(file);
            ChangeSet.Part part =
                    new ChangeSet.Part(
                            -1,
                            new String(file, StandardCharsets.US_ASCII),
                            bytes.getLong(),
                            bytes.getLong());
            check(part.offset >= 0 && part.bytes() >= 0);
            found.add(part);
        }
        check(!bytes.hasRemaining());
        bytes.limit(end - length).position(0);
        return found;
    }

    /**
     * The parts of segments that contain changes. The checkpoint names one file for each, after the
     * set's file.
     */
    List<ChangeSet.Part> parts() {
        return parts;
    }

    /** Must be called before the first change is read if there are parts. */
    void setChangelogSegments(ChangelogSegments from) {
        segments = from;
    }

    @Override
    public boolean hasNext() {
        return left > 0;
    }

    @Override
    public StateChange next() {
        if (left <= 0) {
            throw new NoSuchElementException();
        }
        left--;
        int first = varint();
        boolean isElsewhere = first >= ChangeSet.ELSEWHERE;
        int keyGroup = (isElsewhere ? first - ChangeSet.ELSEWHERE : first) - 1;
        check(keyGroup >= StateChange.META_KEY_GROUP);
        byte[] change = isElsewhere ? nextElsewhere() : nextHere();
        check(left > 0 || !bytes.hasRemaining() && nextPart == parts.size());
        check(left > 0 || !elsewhere.hasNext());
        return keyGroup == StateChange.META_KEY_GROUP
                ? StateChange.ofMetadataChange(change)
                : StateChange.ofDataChange(keyGroup, change);
    }

    private byte[] nextHere() {
        int length = varint();
        check(length >= 0 && length <= bytes.remaining());
        byte[] change = new byte[length];
        bytes.get(change);
        return change;
    }

    private byte[] nextElsewhere() {
        while (!elsewhere.hasNext()) {
            check(nextPart < parts.size() && segments != null);
            try {
                elsewhere = segments.read(nextPart, parts.get(nextPart)).iterator();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            nextPart++;
        }
        return elsewhere.next();
    }

    @Override
    public void close() {}

    private int varint() {
        int value = 0;
        for (int i = 0; i < VARINT_BYTES_MAX; i++) {
            check(bytes.hasRemaining());
            int part = bytes.get();
            value |= (part & VARINT_MORE - 1) << i * VARINT_BITS;
            if ((part & VARINT_MORE) == 0) {
                return value;
            }
        }
        throw contradiction();
    }

    private void check(boolean holds) {
        if (!holds) {
            throw contradiction();
        }
    }

    private UncheckedIOException contradiction() {
        return new UncheckedIOException(
                ChangeFormat.damaged(where, "the number or the lengths of its changes are wrong"));
    }
}
