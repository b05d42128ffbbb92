// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.engine;

import java.io.IOException;
import java.nio.ByteBuffer;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;

/**
 * The engine's form of a list: a sequence of segments, each a LEB128 number {@code length << 2 |
 * kind} followed by {@code length} bytes. Kind 0 is one element. Kind 1 is several elements joined
 * by one byte, as in canonical savepoints; only the serializer knows their boundaries.
 *
 * <p>Threads: one thread. Errors: {@link IOException} for bytes that are not segments.
 */
public final class ListSegments {

    /** One element, as its serializer wrote it. */
    public static final int ELEMENT = 0;

    /** Several elements, joined by {@link #DELIMITER}. */
    public static final int JOINED = 1;

    /** A list that grew beyond the engine's limit; its elements are lost. */
    private static final int TOO_LONG = 3;

    /** Separates the elements of a joined list. */
    public static final byte DELIMITER = ',';

    private static final int KIND_BITS = 2;
    private static final int VARINT_BYTES_MAX = 5;

    private byte[] bytes;
    private int position;
    private int end;
    private int kind;
    private int offset;
    private int length;

    /** Starts to read the segments in a part of {@code bytes}. */
    public void reset(byte[] bytes, int offset, int length) {
        this.bytes = bytes;
        this.position = offset;
        this.end = offset + length;
    }

    /** Moves to the next segment; false if there is none. */
    public boolean next() throws IOException {
        if (position >= end) {
            return false;
        }
        long header = 0;
        int shift = 0;
        int b;
        do {
            if (position >= end || shift >= 7 * VARINT_BYTES_MAX) {
                throw malformed();
            }
            b = bytes[position++];
            header |= (long) (b & 0x7f) << shift;
            shift += 7;
        } while (b < 0);
        kind = (int) (header & ((1 << KIND_BITS) - 1));
        long segmentLength = header >>> KIND_BITS;
        if (segmentLength > end - position) {
            throw malformed();
        }
        if (kind == TOO_LONG && segmentLength == 2 * Long.BYTES) {
            throw tooLong(ByteBuffer.wrap(bytes, position, 2 * Long.BYTES));
        }
        if (kind > JOINED) {
            throw malformed();
        }
        offset = position;
        length = (int) segmentLength;
        position += length;
        return true;
    }

    public int kind() {
        return kind;
    }

    public int offset() {
        return offset;
    }

    public int length() {
        return length;
    }

    private IOException malformed() {
        return new IOException(
                "The stored list is damaged: no list segment at byte "
                        + position
                        + " of "
                        + end
                        + ". Restore from a checkpoint.");
    }

    private static IOException tooLong(ByteBuffer sizeAndLimit) {
        return new IOException(
                "The list grew to "
                        + sizeAndLimit.getLong()
                        + " bytes, but the limit is "
                        + sizeAndLimit.getLong()
                        + ". Its elements are lost. Clear or update the list, or restore from an"
                        + " earlier checkpoint.");
    }

    /**
     * Begins a segment of unknown length. The caller writes its bytes and then calls {@link #end}.
     *
     * @return the mark for {@link #end}
     */
    public static int begin(DataOutputSerializer out) throws IOException {
        int mark = out.length();
        out.writeByte(0);
        return mark;
    }

    /** Ends the segment that {@link #begin} began. */
    public static void end(DataOutputSerializer out, int mark, int kind) throws IOException {
        int length = out.length() - mark - 1;
        long header = (long) length << KIND_BITS | kind;
        int headerBytes = 1;
        while (header >>> (7 * headerBytes) != 0) {
            out.writeByte(0);
            headerBytes++;
        }
        byte[] buffer = out.getSharedBuffer();
        if (headerBytes > 1) {
            System.arraycopy(buffer, mark + 1, buffer, mark + headerBytes, length);
        }
        for (int i = 0; i < headerBytes; i++) {
            int more = i + 1 < headerBytes ? 0x80 : 0;
            buffer[mark + i] = (byte) (header & 0x7f | more);
            header >>>= 7;
        }
    }

    /** Writes one segment with the given bytes. */
    public static void write(DataOutputSerializer out, int kind, byte[] bytes, int off, int len)
            throws IOException {
        int mark = begin(out);
        out.write(bytes, off, len);
        end(out, mark, kind);
    }

    /**
     * Writes a list in Flink's canonical form, one segment for each element.
     *
     * @param serializer the serializer that wrote the elements; only it knows where each one ends
     * @throws IOException if the serializer cannot read the elements
     */
    public static void split(DataOutputSerializer out, byte[] joined, TypeSerializer<?> serializer)
            throws IOException {
        DataInputDeserializer input = new DataInputDeserializer(joined);
        while (input.available() > 0) {
            int begin = joined.length - input.available();
            serializer.deserialize(input);
            int end = joined.length - input.available();
            write(out, ELEMENT, joined, begin, end - begin);
            if (input.available() > 0 && input.readByte() != DELIMITER) {
                throw new IOException(
                        "The stored list is damaged: no element ends at byte "
                                + end
                                + " of "
                                + joined.length
                                + ". Restore from another savepoint.");
            }
        }
    }

    /**
     * The list in Flink's canonical form: all elements joined by {@link #DELIMITER}.
     *
     * @throws IOException if the bytes are not segments
     */
    public static byte[] join(byte[] bytes, int off, int len) throws IOException {
        DataOutputSerializer out = new DataOutputSerializer(Math.max(16, len));
        ListSegments segments = new ListSegments();
        segments.reset(bytes, off, len);
        boolean first = true;
        while (segments.next()) {
            if (!first) {
                out.writeByte(DELIMITER);
            }
            out.write(bytes, segments.offset(), segments.length());
            first = false;
        }
        return out.getCopyOfBuffer();
    }
}
