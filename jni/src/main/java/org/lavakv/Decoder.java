// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * Reads values that the native library packed into one array: big endian, lengths before bytes.
 *
 * <p>Errors: INTERNAL when the array is too short, which means that library and jar do not match.
 * Nothing larger than the array is allocated.
 */
final class Decoder {

    private static final int TABLE_BYTES_MIN = 2 * Byte.BYTES + Integer.BYTES + 3 * Long.BYTES;
    private static final int VARINT_BITS = 7;
    private static final int FILE_BYTES_MIN = 2 * Integer.BYTES + Long.BYTES;

    private final ByteBuffer in;

    Decoder(byte[] bytes) {
        this(ByteBuffer.wrap(bytes));
    }

    private Decoder(ByteBuffer in) {
        this.in = in;
    }

    boolean hasMore() {
        return in.hasRemaining();
    }

    int int32() throws LavaDBException {
        need(Integer.BYTES);
        return in.getInt();
    }

    long int64() throws LavaDBException {
        need(Long.BYTES);
        return in.getLong();
    }

    private byte int8() throws LavaDBException {
        need(Byte.BYTES);
        return in.get();
    }

    int unsigned8() throws LavaDBException {
        return int8() & 0xff;
    }

    /** Seven bits a byte, the lowest first; not negative. */
    long varint() throws LavaDBException {
        long number = 0;
        for (int shift = 0; shift < Long.SIZE - 1; shift += VARINT_BITS) {
            byte next = int8();
            number |= (long) (next & 0x7f) << shift;
            if (next >= 0) {
                return number;
            }
        }
        throw malformed("has a number of more than 63 bits");
    }

    /** A string preceded by its length as a varint. */
    String shortString() throws LavaDBException {
        long length = varint();
        need(length);
        return NameBytes.toName(array((int) length));
    }

    /** A part behind its length of 2 bytes, for a decoder that cannot read beyond it. */
    Decoder shortPart() throws LavaDBException {
        need(Short.BYTES);
        int length = in.getShort() & 0xffff;
        need(length);
        ByteBuffer part = in.slice();
        part.limit(length);
        in.position(in.position() + length);
        return new Decoder(part);
    }

    byte[] bytes() throws LavaDBException {
        return array(int32());
    }

    private byte[] array(int length) throws LavaDBException {
        need(length);
        byte[] bytes = new byte[length];
        in.get(bytes);
        return bytes;
    }

    String string() throws LavaDBException {
        return new String(bytes(), StandardCharsets.UTF_8);
    }

    List<TableInfo> tables() throws LavaDBException {
        int count = count(TABLE_BYTES_MIN);
        List<TableInfo> tables = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            String name = NameBytes.toName(bytes());
            long id = int64();
            TableKind kind = TableKind.of(int8());
            TtlLayout layout = TtlLayout.of(int8());
            TableOptions options = new TableOptions().setKind(kind).setTtlLayout(layout);
            tables.add(
                    new TableInfo(
                            name,
                            id,
                            options.setTtlMs(notNegative()).setSeparationBytes(notNegative())));
        }
        return tables;
    }

    List<FileInfo> files() throws LavaDBException {
        int count = count(FILE_BYTES_MIN);
        List<FileInfo> files = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            files.add(new FileInfo(string(), int64(), int32()));
        }
        return files;
    }

    List<String> strings() throws LavaDBException {
        int count = count(Integer.BYTES);
        List<String> strings = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            strings.add(string());
        }
        return strings;
    }

    long notNegative() throws LavaDBException {
        long number = int64();
        if (number < 0) {
            throw malformed("has the number " + number + " where none is below 0");
        }
        return number;
    }

    /** The number of items that follow, each of at least {@code bytesMin} bytes. */
    int count(int bytesMin) throws LavaDBException {
        int count = int32();
        if (count < 0) {
            throw malformed("counts " + count + " things");
        }
        need((long) count * bytesMin);
        return count;
    }

    private void need(long bytes) throws LavaDBException {
        if (bytes < 0 || bytes > in.remaining()) {
            throw malformed("has " + in.remaining() + " bytes left where " + bytes + " should be");
        }
    }

    LavaDBException malformed(String how) {
        return new LavaDBException(
                Status.Code.INTERNAL,
                "reading an answer of the native library: at offset "
                        + in.position()
                        + " of "
                        + in.limit()
                        + " it "
                        + how
                        + "; use the library that is in this jar");
    }
}
