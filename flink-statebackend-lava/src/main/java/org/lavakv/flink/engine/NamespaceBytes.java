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
 * The current namespace of one state, serialized at most once while it stays the same.
 *
 * <p>Setting a namespace of an immutable type to the same object again, as always happens with
 * {@code VoidNamespace}, costs one comparison.
 *
 * <p>Threads: one thread. Errors: serializers' {@link IOException}s are wrapped.
 */
public final class NamespaceBytes<N> {

    private final TypeSerializer<N> serializer;
    private final boolean lengthSuffix;
    private final boolean immutable;
    private final DataOutputSerializer bytes = new DataOutputSerializer(16);
    private N current;
    private boolean serialized;
    private long version;

    /**
     * @param keySerializer the serializer of the backend's keys: it decides, together with the
     *     namespace's serializer, whether the composite key contains lengths
     */
    public NamespaceBytes(TypeSerializer<?> keySerializer, TypeSerializer<N> serializer) {
        this.serializer = serializer;
        this.lengthSuffix =
                CompositeKeySerializationUtils.isAmbiguousKeyPossible(keySerializer, serializer);
        this.immutable = serializer.isImmutableType();
    }

    public TypeSerializer<N> serializer() {
        return serializer;
    }

    public N get() {
        return current;
    }

    public void set(N namespace) {
        if (namespace == current && immutable) {
            return;
        }
        current = namespace;
        serialized = false;
        version++;
    }

    /** Whether key and namespace are followed by their lengths in the composite key. */
    boolean lengthSuffix() {
        return lengthSuffix;
    }

    /** Changes with every namespace that is set. */
    long version() {
        return version;
    }

    void writeTo(DataOutputSerializer key) throws IOException {
        if (!serialized) {
            Preconditions.checkNotNull(current, "No namespace set.");
            bytes.clear();
            CompositeKeySerializationUtils.writeNameSpace(current, serializer, bytes, lengthSuffix);
            serialized = true;
        }
        key.write(bytes.getSharedBuffer(), 0, bytes.length());
    }

    /** The bytes of a namespace in a composite key, including its length suffix. */
    public static <N> byte[] serialize(
            N namespace, TypeSerializer<N> serializer, boolean lengthSuffix) {
        DataOutputSerializer out = new DataOutputSerializer(16);
        try {
            CompositeKeySerializationUtils.writeNameSpace(namespace, serializer, out, lengthSuffix);
        } catch (IOException e) {
            throw new FlinkRuntimeException("Serializing the namespace failed.", e);
        }
        return out.getCopyOfBuffer();
    }
}
