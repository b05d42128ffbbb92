// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.testing;

import java.io.IOException;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.flink.api.common.typeutils.SimpleTypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.api.common.typeutils.base.TypeSerializerSingleton;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/** Serializes strings, and counts how many were read. Threads: any. */
public final class CountingStringSerializer extends TypeSerializerSingleton<String> {

    private static final long serialVersionUID = 1L;

    private static final AtomicInteger DESERIALIZED = new AtomicInteger();

    private static volatile Runnable action = () -> {};
    private static volatile Runnable serializing = () -> {};

    private final TypeSerializer<String> strings = StringSerializer.INSTANCE;

    public static void reset() {
        DESERIALIZED.set(0);
        action = () -> {};
        serializing = () -> {};
    }

    /** Runs the action with each serialization, until the next reset. */
    public static void whenSerializing(Runnable newAction) {
        serializing = newAction;
    }

    /** Runs the action with each deserialization, until the next reset. */
    public static void whenDeserializing(Runnable newAction) {
        action = newAction;
    }

    public static int deserialized() {
        return DESERIALIZED.get();
    }

    @Override
    public boolean isImmutableType() {
        return true;
    }

    @Override
    public String createInstance() {
        return strings.createInstance();
    }

    @Override
    public String copy(String from) {
        return from;
    }

    @Override
    public String copy(String from, String reuse) {
        return from;
    }

    @Override
    public int getLength() {
        return strings.getLength();
    }

    @Override
    public void serialize(String value, DataOutputView target) throws IOException {
        serializing.run();
        strings.serialize(value, target);
    }

    @Override
    public String deserialize(DataInputView source) throws IOException {
        DESERIALIZED.incrementAndGet();
        action.run();
        return strings.deserialize(source);
    }

    @Override
    public String deserialize(String reuse, DataInputView source) throws IOException {
        return deserialize(source);
    }

    @Override
    public void copy(DataInputView source, DataOutputView target) throws IOException {
        strings.copy(source, target);
    }

    @Override
    public TypeSerializerSnapshot<String> snapshotConfiguration() {
        return new Snapshot();
    }

    /** The snapshot of this serializer. */
    public static final class Snapshot extends SimpleTypeSerializerSnapshot<String> {
        public Snapshot() {
            super(CountingStringSerializer::new);
        }
    }
}
