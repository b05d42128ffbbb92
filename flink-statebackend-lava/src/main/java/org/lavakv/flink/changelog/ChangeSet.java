// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.changelog;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import javax.annotation.Nullable;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.lavakv.flink.shared.SharedLog;

/**
 * Changes of one operator that are uploaded together, already in the file's format. Each change has
 * two varints, the key group plus one (0: metadata) and the length, followed by its bytes. A change
 * that is in a segment of a log shared with an instance has {@link #ELSEWHERE} added to its first
 * number, and nothing after it. The end of the set lists the locations of these changes, see {@link
 * Part}.
 *
 * <p>Threads: one thread fills and ends the set, which is immutable afterwards.
 */
final class ChangeSet {
    /** Larger than any key group. */
    static final int ELSEWHERE = 1 << 16;

    private static final int INITIAL_BYTES = 1 << 10;
    private static final int VARINT_MORE = 0x80;
    private static final int VARINT_BITS = 7;

    private final DataOutputSerializer out = new DataOutputSerializer(INITIAL_BYTES);
    private final List<Part> parts = new ArrayList<>();
    @Nullable private SharedLog log;
    private long partBytes;
    private int changes;
    private boolean ended;

    /** Consecutive changes in a segment. Units: bytes. */
    static final class Part {
        final long segment;
        final String file;
        final long offset;
        private long bytes;

        /**
         * @param segment the segment's number in this process; -1 for a part that was read from a
         *     file
         * @param file the segment's name among the files of its instance
         */
        Part(long segment, String file, long offset, long bytes) {
            this.segment = segment;
            this.file = file;
            this.offset = offset;
            this.bytes = bytes;
        }

        long bytes() {
            return bytes;
        }
    }

    /**
     * Adds a change.
     *
     * @param keyGroup -1: metadata
     * @throws IOException when the set would exceed the maximum size of an array
     */
    void add(int keyGroup, byte[] change) throws IOException {
        writeVarint(keyGroup + 1);
        writeVarint(change.length);
        out.write(change);
        changes++;
    }

    /** Adds a change that is in a segment, after the changes added before. */
    void add(int keyGroup, SharedLog of, SharedLog.Location change) throws IOException {
        writeVarint(keyGroup + 1 + ELSEWHERE);
        changes++;
        log = of;
        partBytes += change.bytes();
        Part last = parts.isEmpty() ? null : parts.get(parts.size() - 1);
        if (last != null
                && last.segment == change.segment()
                && last.offset + last.bytes == change.offset()) {
            last.bytes += change.bytes();
        } else {
            parts.add(new Part(change.segment(), change.file(), change.offset(), change.bytes()));
        }
    }

    /** Ends the set; nothing may be added afterwards. */
    void end() throws IOException {
        if (parts.isEmpty() || ended) {
            return;
        }
        ended = true;
        int begin = out.length();
        writeVarint(parts.size());
        for (Part part : parts) {
            byte[] file = part.file.getBytes(StandardCharsets.US_ASCII);
            out.writeByte(file.length);
            out.write(file);
            out.writeLong(part.offset);
            out.writeLong(part.bytes);
        }
        out.writeInt(out.length() - begin);
    }

    boolean isEmpty() {
        return changes == 0;
    }

    int changes() {
        return changes;
    }

    /** Bytes of the changes stored in this set. */
    int length() {
        return out.length();
    }

    /** Bytes of the changes in segments. */
    long partBytes() {
        return partBytes;
    }

    /** The parts in the order of their changes. */
    List<Part> parts() {
        return Collections.unmodifiableList(parts);
    }

    /** The log that contains the parts; null without parts. */
    @Nullable
    SharedLog log() {
        return log;
    }

    /** Only the first {@link #length()} bytes are valid. The caller must not modify them. */
    byte[] bytes() {
        return out.getSharedBuffer();
    }

    private void writeVarint(int value) throws IOException {
        int left = value;
        while ((left & -VARINT_MORE) != 0) {
            out.writeByte(left & (VARINT_MORE - 1) | VARINT_MORE);
            left >>>= VARINT_BITS;
        }
        out.writeByte(left);
    }
}
