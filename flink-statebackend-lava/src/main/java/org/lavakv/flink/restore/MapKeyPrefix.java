// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.restore;

import java.io.EOFException;
import java.io.IOException;
import java.util.Arrays;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.runtime.state.CompositeKeySerializationUtils;

/**
 * Finds the position in a map entry's key at which the user's key begins, after key group, key and
 * namespace.
 *
 * <p>Entries of one map follow each other, so most keys begin with the same prefix as the previous
 * key. Comparing the prefix is sufficient: serializers determine lengths from the bytes that they
 * read, so no prefix is the beginning of another one.
 *
 * <p>Threads: one. Errors: IOException when the serializers cannot read the key.
 */
final class MapKeyPrefix {

    private final TypeSerializer<?> keySerializer;
    private final TypeSerializer<?> namespaceSerializer;
    private final boolean lengthSuffix;
    private final int keyGroupPrefixBytes;
    private final DataInputDeserializer in = new DataInputDeserializer();
    private byte[] before = {};
    private int beforeLength;

    MapKeyPrefix(
            TypeSerializer<?> keySerializer,
            TypeSerializer<?> namespaceSerializer,
            int keyGroupPrefixBytes) {
        this.keySerializer = keySerializer;
        this.namespaceSerializer = namespaceSerializer;
        this.lengthSuffix =
                CompositeKeySerializationUtils.isAmbiguousKeyPossible(
                        keySerializer, namespaceSerializer);
        this.keyGroupPrefixBytes = keyGroupPrefixBytes;
    }

    /** Length of the prefix before the user's key. */
    int lengthIn(byte[] key) throws IOException {
        if (beforeLength > 0
                && key.length >= beforeLength
                && Arrays.equals(key, 0, beforeLength, before, 0, beforeLength)) {
            return beforeLength;
        }
        if (key.length < keyGroupPrefixBytes) {
            throw new EOFException("A map entry's key of " + key.length + " bytes is too short.");
        }
        in.setBuffer(key, keyGroupPrefixBytes, key.length - keyGroupPrefixBytes);
        CompositeKeySerializationUtils.readKey(keySerializer, in, lengthSuffix);
        CompositeKeySerializationUtils.readNamespace(namespaceSerializer, in, lengthSuffix);
        before = key;
        beforeLength = in.getPosition();
        return beforeLength;
    }
}
