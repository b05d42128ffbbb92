// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.restore;

import java.io.EOFException;
import java.io.IOException;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.core.memory.DataInputViewStreamWrapper;
import org.apache.flink.runtime.state.CompositeKeySerializationUtils;
import org.apache.flink.runtime.state.FullSnapshotUtil;
import org.apache.flink.runtime.state.SnappyStreamCompressionDecorator;
import org.apache.flink.runtime.state.StreamCompressionDecorator;
import org.apache.flink.runtime.state.UncompressedStreamCompressionDecorator;

/**
 * Reads the entries of a canonical savepoint. Flink's format has no checksum, so each entry is
 * checked as far as possible: its bytes must exist before memory is allocated for them, its state
 * must be described, and its key must belong to the key group.
 *
 * <p>Threads: one. Errors: IOException that says what is wrong, but not where.
 */
final class CanonicalEntries {

    /**
     * Up to this many bytes are allocated because a length says so; more only when the bytes have
     * been read.
     */
    private static final int TRUSTED_BYTES = 8 << 10;

    private final FSDataInputStream file;
    private final long fileBytes;
    private final boolean compressed;
    private final int states;
    private final int keyGroupPrefixBytes;

    private DataInputViewStreamWrapper in;
    private int keyGroup;
    private int following;
    private byte[] key;
    private byte[] value;

    /**
     * @param fileBytes the file's length, as far as it is known
     * @param states number of states that the savepoint describes
     */
    CanonicalEntries(
            FSDataInputStream file,
            long fileBytes,
            boolean compressed,
            int states,
            int keyGroupPrefixBytes) {
        this.file = file;
        this.fileBytes = fileBytes;
        this.compressed = compressed;
        this.states = states;
        this.keyGroupPrefixBytes = keyGroupPrefixBytes;
    }

    /** Moves before the first entry of a key group, which has at least one. */
    void seek(int keyGroup, long offset) throws IOException {
        this.keyGroup = keyGroup;
        file.seek(offset);
        StreamCompressionDecorator decorator =
                compressed
                        ? SnappyStreamCompressionDecorator.INSTANCE
                        : UncompressedStreamCompressionDecorator.INSTANCE;
        in = new DataInputViewStreamWrapper(decorator.decorateWithCompression(file));
        following = in.readUnsignedShort();
        checkState();
    }

    /** Whether the key group has another entry. */
    boolean hasNext() {
        return following != FullSnapshotUtil.END_OF_KEY_GROUP_MARK;
    }

    /** The next entry's state, as an index into the list of described states. */
    int nextState() {
        return following;
    }

    /** Moves to the next entry. */
    void next() throws IOException {
        key = bytes("key");
        if (key.length < keyGroupPrefixBytes) {
            throw new IOException("a key of " + key.length + " bytes has no key group");
        }
        value = bytes("value");
        boolean last = FullSnapshotUtil.hasMetaDataFollowsFlag(key);
        if (last) {
            FullSnapshotUtil.clearMetaDataFollowsFlag(key);
        }
        int ofKey = CompositeKeySerializationUtils.extractKeyGroup(keyGroupPrefixBytes, key);
        if (ofKey != keyGroup) {
            throw new IOException(
                    "a key belongs to key group "
                            + ofKey
                            + " according to its first "
                            + keyGroupPrefixBytes
                            + " bytes (the length of a key group at this job's maximum"
                            + " parallelism)");
        }
        if (last) {
            following = in.readUnsignedShort();
            if (hasNext()) {
                checkState();
            }
        }
    }

    /** The current entry's key; a new array. */
    byte[] key() {
        return key;
    }

    /** The current entry's value; a new array. */
    byte[] value() {
        return value;
    }

    private void checkState() throws IOException {
        if (following >= states) {
            throw new IOException(
                    "the next entry belongs to state "
                            + following
                            + ", but only "
                            + states
                            + " states are described");
        }
    }

    private byte[] bytes(String what) throws IOException {
        int length = in.readInt();
        if (length < 0) {
            throw new IOException("a " + what + " has the length " + length);
        }
        if (length > TRUSTED_BYTES && (compressed || length > fileBytes - file.getPos())) {
            // Missing bytes end the read before the whole length is allocated.
            byte[] bytes = in.readNBytes(length);
            if (bytes.length < length) {
                throw new EOFException(
                        "a "
                                + what
                                + " of "
                                + length
                                + " bytes ends after "
                                + bytes.length
                                + " of them");
            }
            return bytes;
        }
        byte[] bytes = new byte[length];
        in.readFully(bytes);
        return bytes;
    }
}
