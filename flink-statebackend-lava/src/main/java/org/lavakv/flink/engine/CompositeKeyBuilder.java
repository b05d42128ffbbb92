// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.engine;

import java.io.IOException;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.runtime.state.CompositeKeySerializationUtils;
import org.apache.flink.util.FlinkRuntimeException;
import org.apache.flink.util.Preconditions;

/**
 * Builds the keys of all states of a backend in one reusable buffer, byte for byte as Flink's own
 * composite keys: key group, key, namespace, and for maps the user's key. Lengths follow key and
 * namespace if both are of variable size.
 *
 * <p>The key is serialized once when it is set. The namespace is appended once for as long as calls
 * use the same state and namespace.
 *
 * <p>Threads: one thread. Ownership: {@link #buffer} is valid until the next call.
 *
 * <p>Errors: {@link NullPointerException} without a key; serializers' exceptions.
 */
public final class CompositeKeyBuilder<K> {

    private final TypeSerializer<K> keySerializer;
    private final int keyGroupPrefixBytes;
    private final DataOutputSerializer out = new DataOutputSerializer(64);
    private int keyEnd;
    private NamespaceBytes<?> prefixOwner;
    private long prefixVersion;
    private int prefixEnd;

    public CompositeKeyBuilder(TypeSerializer<K> keySerializer, int keyGroupPrefixBytes) {
        this.keySerializer = keySerializer;
        this.keyGroupPrefixBytes = keyGroupPrefixBytes;
    }

    /** Sets and serializes the key with which all following keys start. */
    public void setKey(K key, int keyGroup) {
        prefixOwner = null;
        keyEnd = 0;
        out.clear();
        try {
            CompositeKeySerializationUtils.writeKeyGroup(keyGroup, keyGroupPrefixBytes, out);
            keySerializer.serialize(key, out);
        } catch (IOException e) {
            throw new FlinkRuntimeException("Serializing the key failed.", e);
        }
        keyEnd = out.length();
    }

    /**
     * Puts key group, key and namespace into the buffer.
     *
     * @return its length
     */
    public int withNamespace(NamespaceBytes<?> namespace) {
        if (prefixOwner == namespace && prefixVersion == namespace.version()) {
            out.setPosition(prefixEnd);
            return prefixEnd;
        }
        if (keyEnd == 0) {
            throw new NullPointerException(
                    "No key set. This method should not be called outside of a keyed context.");
        }
        prefixOwner = null;
        out.setPosition(keyEnd);
        try {
            if (namespace.lengthSuffix()) {
                CompositeKeySerializationUtils.writeVariableIntBytes(
                        keyEnd - keyGroupPrefixBytes, out);
            }
            namespace.writeTo(out);
        } catch (IOException e) {
            throw new FlinkRuntimeException("Serializing the namespace failed.", e);
        }
        prefixOwner = namespace;
        prefixVersion = namespace.version();
        prefixEnd = out.length();
        return prefixEnd;
    }

    /**
     * Appends a map's key to the bytes of the last {@link #withNamespace}, replacing the key of an
     * earlier call. All states share the buffer, so no other state may be accessed between the two
     * calls.
     *
     * @return the length of the whole key
     */
    public <U> int withUserKey(U userKey, TypeSerializer<U> userKeySerializer) throws IOException {
        Preconditions.checkState(prefixOwner != null, "A map's key must follow a namespace.");
        out.setPosition(prefixEnd);
        userKeySerializer.serialize(userKey, out);
        return out.length();
    }

    /** The result of the last call; longer than the key. */
    public byte[] buffer() {
        return out.getSharedBuffer();
    }

    /** A copy of the current key group, key and namespace. */
    public byte[] copyWithNamespace(NamespaceBytes<?> namespace) {
        int length = withNamespace(namespace);
        byte[] copy = new byte[length];
        System.arraycopy(out.getSharedBuffer(), 0, copy, 0, length);
        return copy;
    }
}
