// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.snapshot;

import java.io.IOException;
import java.util.Collections;
import java.util.Iterator;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.runtime.state.CompositeKeySerializationUtils;
import org.apache.flink.runtime.state.heap.HeapPriorityQueueStateSnapshot;
import org.lavakv.flink.checkpoint.HeapTimerFile;

/**
 * Timers on the heap, in the form of the canonical format and of {@link HeapTimerFile}: key group
 * and timer, no value.
 */
final class HeapTimerSource implements KeyGroupSource, HeapTimerFile.Timers {

    private static final byte[] NO_VALUE = {};

    private final HeapPriorityQueueStateSnapshot<?> timers;
    private final TypeSerializer<Object> serializer;
    private final int keyGroupPrefixBytes;
    private final DataOutputSerializer out = new DataOutputSerializer(64);
    private Iterator<?> ofKeyGroup = Collections.emptyIterator();
    private byte[] key;

    @SuppressWarnings("unchecked")
    HeapTimerSource(HeapPriorityQueueStateSnapshot<?> timers, int keyGroupPrefixBytes) {
        this.timers = timers;
        this.serializer = (TypeSerializer<Object>) timers.getMetaInfo().getElementSerializer();
        this.keyGroupPrefixBytes = keyGroupPrefixBytes;
    }

    @Override
    public String state() {
        return timers.getMetaInfo().getName();
    }

    @Override
    public void seek(int keyGroup) throws IOException {
        ofKeyGroup = timers.getIteratorForKeyGroup(keyGroup);
        out.clear();
        CompositeKeySerializationUtils.writeKeyGroup(keyGroup, keyGroupPrefixBytes, out);
    }

    @Override
    public boolean next() throws IOException {
        if (!ofKeyGroup.hasNext()) {
            return false;
        }
        out.setPosition(keyGroupPrefixBytes);
        serializer.serialize(ofKeyGroup.next(), out);
        key = out.getCopyOfBuffer();
        return true;
    }

    @Override
    public boolean isOrdered() {
        return true;
    }

    @Override
    public byte[] key() {
        return key;
    }

    @Override
    public byte[] value() {
        return NO_VALUE;
    }
}
