// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.changelog;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.zip.CRC32C;
import org.apache.flink.runtime.state.SnappyStreamCompressionDecorator;
import org.apache.flink.runtime.state.StreamCompressionDecorator;

/**
 * The format of the changelog's files: sets of changes, one after the other. Each set starts with a
 * header, big endian: "LCH" and the version; the number of bytes that follow the header; the number
 * of changes; CRC-32C of these bytes; in version 2, which is compressed in Snappy's framing format,
 * the uncompressed length; CRC-32C of the header up to here. The changes follow ({@link
 * ChangeSet}). Versions 3 and 4 are versions 1 and 2 with changes that are in segments.
 *
 * <p>Threads: any, without state. Everything read from a file is checked before it is used.
 */
final class ChangeFormat {
    static final int HEADER_BYTES = 20;
    static final int COMPRESSED_HEADER_BYTES = 24;
    private static final int MAGIC = 'L' << 24 | 'C' << 16 | 'H' << 8;
    private static final int PLAIN = MAGIC | 1;
    private static final int COMPRESSED = MAGIC | 2;
    // Added to the other versions.
    private static final int WITH_PARTS = 2;
    private static final StreamCompressionDecorator COMPRESSION =
            SnappyStreamCompressionDecorator.INSTANCE;
    // A saving of less than an eighth is not worth the reader's time.
    private static final int SAVED_SHIFT = 3;

    private ChangeFormat() {}

    /**
     * Writes a set and returns its size in bytes.
     *
     * @param compress whether to compress the set if this makes it smaller
     */
    static long write(ChangeSet set, boolean compress, OutputStream out) throws IOException {
        set.end();
        int length = set.length();
        int withParts = set.parts().isEmpty() ? 0 : WITH_PARTS;
        if (compress) {
            Compressed compressed = new Compressed(length);
            try (OutputStream to = COMPRESSION.decorateWithCompression(compressed)) {
                to.write(set.bytes(), 0, length);
            }
            if (compressed.size() < length - (length >> SAVED_SHIFT)) {
                ByteBuffer header =
                        header(COMPRESSED + withParts, set, compressed.bytes(), compressed.size());
                header.putInt(length);
                return write(header, compressed.bytes(), compressed.size(), out);
            }
        }
        return write(header(PLAIN + withParts, set, set.bytes(), length), set.bytes(), length, out);
    }

    private static ByteBuffer header(int version, ChangeSet set, byte[] bytes, int length) {
        return ByteBuffer.allocate(headerBytes(version))
                .putInt(version)
                .putInt(length)
                .putInt(set.changes())
                .putInt(checksum(bytes, length));
    }

    private static int headerBytes(int version) {
        return isCompressed(version) ? COMPRESSED_HEADER_BYTES : HEADER_BYTES;
    }

    private static boolean isCompressed(int version) {
        return version == COMPRESSED || version == COMPRESSED + WITH_PARTS;
    }

    private static long write(ByteBuffer header, byte[] bytes, int length, OutputStream out)
            throws IOException {
        header.putInt(checksum(header.array(), header.position()));
        out.write(header.array());
        out.write(bytes, 0, length);
        return (long) header.capacity() + length;
    }

    /**
     * Reads the set that begins at the stream's position.
     *
     * @param bytesMax the bytes that the file has from here on; the method never reads more
     * @param where file and offset, for messages
     * @throws IOException saying what is wrong, and where
     */
    static ChangeReader read(InputStream in, long bytesMax, String where) throws IOException {
        DataInputStream data = new DataInputStream(in);
        byte[] magic = new byte[Integer.BYTES];
        readFully(data, magic, 0, where);
        int version = ByteBuffer.wrap(magic).getInt();
        if (version < PLAIN || version > COMPRESSED + WITH_PARTS) {
            throw damaged(where, "there are no changes of a version that this library knows");
        }
        byte[] header = Arrays.copyOf(magic, headerBytes(version));
        readFully(data, header, magic.length, where);
        ByteBuffer fields = ByteBuffer.wrap(header, magic.length, header.length - magic.length);
        int length = fields.getInt();
        int changes = fields.getInt();
        int checksum = fields.getInt();
        int lengthBefore = isCompressed(version) ? fields.getInt() : length;
        if (fields.getInt() != checksum(header, header.length - Integer.BYTES)) {
            throw damaged(where, "the header of its changes has a wrong checksum");
        }
        if (length < 0 || lengthBefore < 0 || length > bytesMax - header.length) {
            throw damaged(
                    where,
                    "its changes have "
                            + length
                            + " bytes, but the file has "
                            + bytesMax
                            + " there");
        }
        byte[] bytes = new byte[length];
        readFully(data, bytes, 0, where);
        if (checksum(bytes, length) != checksum) {
            throw damaged(where, "its changes have a wrong checksum");
        }
        if (isCompressed(version)) {
            bytes = decompress(bytes, lengthBefore, where);
        }
        return new ChangeReader(bytes, changes, version > COMPRESSED, where);
    }

    /** Never allocates more than the available data needs, whatever length the header claims. */
    private static byte[] decompress(byte[] compressed, int length, String where)
            throws IOException {
        try (InputStream in =
                COMPRESSION.decorateWithCompression(new ByteArrayInputStream(compressed))) {
            byte[] bytes = in.readNBytes(length);
            if (bytes.length == length && in.read() < 0) {
                return bytes;
            }
        } catch (IOException | RuntimeException e) {
            throw new IOException(
                    damaged(where, "its changes cannot be decompressed").getMessage(), e);
        }
        throw damaged(where, "the length of its changes differs from the length in their header");
    }

    static IOException damaged(String where, String what) {
        return new IOException(
                "The changelog's file "
                        + where
                        + " is damaged: "
                        + what
                        + ". Restore the job from another checkpoint.");
    }

    private static void readFully(DataInputStream in, byte[] to, int from, String where)
            throws IOException {
        try {
            in.readFully(to, from, to.length - from);
        } catch (EOFException e) {
            throw damaged(where, "the file ends within its changes");
        }
    }

    private static int checksum(byte[] bytes, int length) {
        CRC32C crc = new CRC32C();
        crc.update(bytes, 0, length);
        return (int) crc.getValue();
    }

    /** An output that returns its bytes without a copy. */
    private static final class Compressed extends ByteArrayOutputStream {
        /**
         * @param before the uncompressed length; the buffer starts at half of it
         */
        Compressed(int before) {
            super((before >> 1) + 1);
        }

        byte[] bytes() {
            return buf;
        }
    }
}
