package org.lavakv.flink.changelog;

import java.io.IOException;
import org.apache.flink.core.memory.DataOutputSerializer;

/**
 * Changes of one operator that are uploaded together, already in the format of their file: each is
 * the key group and one (0: metadata) and the length, both as varints, then the bytes.
 *
 * <p>Threads: one fills it, then it does not change.
 */
final class ChangeSet {
    private static final int INITIAL_BYTES = 1 << 10;
    private static final int VARINT_MORE = 0x80;
    private static final int VARINT_BITS = 7;

    private final DataOutputSerializer out = new DataOutputSerializer(INITIAL_BYTES);
    private int changes;

    /**
     * Adds a change.
     *
     * @param keyGroup -1: metadata
     * @throws IOException when the set would have more than an array can
     */
    void add(int keyGroup, byte[] change) throws IOException {
        writeVarint(keyGroup + 1);
        writeVarint(change.length);
        out.write(change);
        changes++;
    }

    boolean isEmpty() {
        return changes == 0;
    }

    int changes() {
        return changes;
    }

    /** Bytes of all changes, as they are stored. */
    int length() {
        return out.length();
    }

    /** The first {@link #length()} bytes count; the caller must not change them. */
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
