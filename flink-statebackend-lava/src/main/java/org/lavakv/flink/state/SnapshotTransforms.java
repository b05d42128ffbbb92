// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.state;

import java.io.IOException;
import java.util.Arrays;
import java.util.Optional;
import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.base.ListSerializer;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.runtime.state.StateSnapshotTransformer;
import org.apache.flink.runtime.state.StateSnapshotTransformer.CollectionStateSnapshotTransformer;
import org.apache.flink.runtime.state.StateSnapshotTransformer.CollectionStateSnapshotTransformer.TransformStrategy;
import org.apache.flink.runtime.state.StateSnapshotTransformer.StateSnapshotTransformFactory;
import org.apache.flink.util.FlinkRuntimeException;
import org.lavakv.flink.engine.ListSegments;

/**
 * Adapts Flink's transformation of a state's values in a full snapshot (dropping expired ones) to
 * values in canonical form: a map's value after its null flag, a list's elements joined by one
 * byte.
 *
 * <p>Threads: factories any thread; each transformer is used by one thread.
 */
public final class SnapshotTransforms {

    private SnapshotTransforms() {}

    /** The factory of transformers for whole canonical values of a state of this kind. */
    @SuppressWarnings("unchecked")
    public static <SV, SEV> StateSnapshotTransformFactory<SV> forCanonicalValues(
            StateDescriptor.Type type,
            StateSnapshotTransformFactory<SEV> factory,
            TypeSerializer<SV> stateSerializer) {
        if (type == StateDescriptor.Type.LIST) {
            TypeSerializer<SEV> elementSerializer =
                    ((ListSerializer<SEV>) stateSerializer).getElementSerializer();
            return new Factory<SV>() {
                @Override
                public Optional<StateSnapshotTransformer<byte[]>> createForSerializedState() {
                    return factory.createForDeserializedState()
                            .map(
                                    each ->
                                            new ListTransformer<>(
                                                    each, elementSerializer.duplicate()));
                }
            };
        }
        if (type == StateDescriptor.Type.MAP) {
            return new Factory<SV>() {
                @Override
                public Optional<StateSnapshotTransformer<byte[]>> createForSerializedState() {
                    return factory.createForSerializedState().map(MapTransformer::new);
                }
            };
        }
        return new Factory<SV>() {
            @Override
            public Optional<StateSnapshotTransformer<byte[]>> createForSerializedState() {
                return factory.createForSerializedState();
            }
        };
    }

    private abstract static class Factory<SV> implements StateSnapshotTransformFactory<SV> {
        @Override
        public Optional<StateSnapshotTransformer<SV>> createForDeserializedState() {
            throw new UnsupportedOperationException(
                    "Lava keeps state in serialized form and transforms only that.");
        }
    }

    /** Transforms the value after the null flag; a dropped value drops the entry. */
    private static final class MapTransformer implements StateSnapshotTransformer<byte[]> {

        private final StateSnapshotTransformer<byte[]> userValues;

        MapTransformer(StateSnapshotTransformer<byte[]> userValues) {
            this.userValues = userValues;
        }

        @Override
        public byte[] filterOrTransform(byte[] value) {
            if (value == null) {
                return null;
            }
            if (value[0] != 0) {
                // RocksDB leaves a null entry where an entry with TTL has expired; here the entry
                // is dropped.
                return userValues.filterOrTransform(null) == null ? null : value;
            }
            byte[] userValue = Arrays.copyOfRange(value, 1, value.length);
            byte[] transformed = userValues.filterOrTransform(userValue);
            if (transformed == userValue) {
                return value;
            }
            if (transformed == null) {
                return null;
            }
            byte[] result = new byte[transformed.length + 1];
            System.arraycopy(transformed, 0, result, 1, transformed.length);
            return result;
        }
    }

    /** Transforms the elements of a joined list one by one; an empty result drops the list. */
    private static final class ListTransformer<T> implements StateSnapshotTransformer<byte[]> {

        private final StateSnapshotTransformer<T> elements;
        private final TypeSerializer<T> serializer;
        private final boolean stopAtFirstKept;
        private final DataInputDeserializer input = new DataInputDeserializer();
        private final DataOutputSerializer output = new DataOutputSerializer(128);

        ListTransformer(StateSnapshotTransformer<T> elements, TypeSerializer<T> serializer) {
            this.elements = elements;
            this.serializer = serializer;
            this.stopAtFirstKept =
                    elements instanceof CollectionStateSnapshotTransformer
                            && ((CollectionStateSnapshotTransformer<?>) elements)
                                            .getFilterStrategy()
                                    == TransformStrategy.STOP_ON_FIRST_INCLUDED;
        }

        @Override
        public byte[] filterOrTransform(byte[] value) {
            if (value == null) {
                return null;
            }
            try {
                return transform(value);
            } catch (IOException e) {
                throw new FlinkRuntimeException("Transforming a list for a savepoint failed.", e);
            }
        }

        private byte[] transform(byte[] value) throws IOException {
            input.setBuffer(value);
            output.clear();
            int start = 0;
            while (input.available() > 0) {
                T kept = elements.filterOrTransform(serializer.deserialize(input));
                if (input.available() > 0) {
                    input.readByte();
                }
                if (kept != null) {
                    if (stopAtFirstKept) {
                        return Arrays.copyOfRange(value, start, value.length);
                    }
                    if (output.length() > 0) {
                        output.writeByte(ListSegments.DELIMITER);
                    }
                    serializer.serialize(kept, output);
                }
                start = input.getPosition();
            }
            return output.length() == 0 ? null : output.getCopyOfBuffer();
        }
    }
}
