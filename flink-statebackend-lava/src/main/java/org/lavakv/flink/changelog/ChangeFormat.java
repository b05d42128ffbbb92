package org.lavakv.flink.changelog;

import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.NoSuchElementException;
import java.util.zip.CRC32C;
import org.apache.flink.runtime.state.changelog.StateChange;
import org.apache.flink.util.CloseableIterator;

/**
 * The format of the changelog's files: sets of changes one behind the other, each by a header of 20
 * bytes, big endian: "LCH" and the version 1, bytes of the changes, their number, their CRC-32C,
 * the CRC-32C of these 16 bytes; then the changes ({@link ChangeSet}).
 *
 * <p>Threads: any, without state. Nothing that a file says is trusted before it is checked.
 */
final class ChangeFormat {
    static final int HEADER_BYTES = 20;
    private static final int CHECKED_HEADER_BYTES = HEADER_BYTES - Integer.BYTES;
    private static final int MAGIC = 'L' << 24 | 'C' << 16 | 'H' << 8 | 1;
    private static final int VARINT_BYTES_MAX = 5;
    private static final int VARINT_MORE = 0x80;
    private static final int VARINT_BITS = 7;

    private ChangeFormat() {}

    /** Writes a set; returns the bytes that it takes. */
    static long write(ChangeSet set, OutputStream out) throws IOException {
        ByteBuffer header = ByteBuffer.allocate(HEADER_BYTES);
        header.putInt(MAGIC).putInt(set.length()).putInt(set.changes()).putInt(set.checksum());
        header.putInt(checksum(header.array(), CHECKED_HEADER_BYTES));
        out.write(header.array());
        out.write(set.bytes(), 0, set.length());
        return (long) HEADER_BYTES + set.length();
    }

    /**
     * Reads the set that begins where the stream stands.
     *
     * @param bytesMax what the file has from there on; more is never allocated
     * @param where file and offset, for messages
     * @throws IOException saying what is wrong, and where
     */
    static CloseableIterator<StateChange> read(InputStream in, long bytesMax, String where)
            throws IOException {
        DataInputStream data = new DataInputStream(in);
        byte[] header = new byte[HEADER_BYTES];
        readFully(data, header, where);
        ByteBuffer fields = ByteBuffer.wrap(header);
        int magic = fields.getInt();
        int length = fields.getInt();
        int changes = fields.getInt();
        int checksum = fields.getInt();
        if (fields.getInt() != checksum(header, CHECKED_HEADER_BYTES)) {
            throw damaged(where, "the header of its changes has a wrong checksum");
        }
        if (magic != MAGIC) {
            throw damaged(where, "no changes of a version that this library knows begin there");
        }
        if (length < 0 || length > bytesMax - HEADER_BYTES) {
            throw damaged(
                    where,
                    "its changes have "
                            + length
                            + " bytes, but the file has "
                            + bytesMax
                            + " there");
        }
        byte[] bytes = new byte[length];
        readFully(data, bytes, where);
        if (checksum(bytes, length) != checksum) {
            throw damaged(where, "its changes have a wrong checksum");
        }
        return new Changes(ByteBuffer.wrap(bytes), changes, where);
    }

    static IOException damaged(String where, String what) {
        return new IOException(
                "The changelog's file "
                        + where
                        + " is damaged: "
                        + what
                        + ". Restore the job from another checkpoint.");
    }

    private static void readFully(DataInputStream in, byte[] to, String where) throws IOException {
        try {
            in.readFully(to);
        } catch (EOFException e) {
            throw damaged(where, "it ends within its changes");
        }
    }

    private static int checksum(byte[] bytes, int length) {
        CRC32C crc = new CRC32C();
        crc.update(bytes, 0, length);
        return (int) crc.getValue();
    }

    private static final class Changes implements CloseableIterator<StateChange> {
        private final ByteBuffer bytes;
        private final String where;
        private int left;

        Changes(ByteBuffer bytes, int count, String where) {
            this.bytes = bytes;
            this.where = where;
            this.left = count;
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
            int keyGroup = varint() - 1;
            int length = varint();
            if (keyGroup < StateChange.META_KEY_GROUP || length < 0 || length > bytes.remaining()) {
                throw contradiction();
            }
            byte[] change = new byte[length];
            bytes.get(change);
            if (left == 0 && bytes.hasRemaining()) {
                throw contradiction();
            }
            return keyGroup == StateChange.META_KEY_GROUP
                    ? StateChange.ofMetadataChange(change)
                    : StateChange.ofDataChange(keyGroup, change);
        }

        @Override
        public void close() {}

        private int varint() {
            int value = 0;
            for (int i = 0; i < VARINT_BYTES_MAX; i++) {
                if (!bytes.hasRemaining()) {
                    throw contradiction();
                }
                int part = bytes.get();
                value |= (part & VARINT_MORE - 1) << i * VARINT_BITS;
                if ((part & VARINT_MORE) == 0) {
                    return value;
                }
            }
            throw contradiction();
        }

        private UncheckedIOException contradiction() {
            return new UncheckedIOException(
                    damaged(where, "its changes contradict their number or lengths"));
        }
    }
}
