// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.state;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.base.ListSerializer;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.runtime.state.internal.InternalListState;
import org.apache.flink.util.FlinkRuntimeException;
import org.apache.flink.util.Preconditions;
import org.lavakv.LavaDBException;
import org.lavakv.flink.engine.ListSegments;
import org.lavakv.flink.engine.StateContext;
import org.lavakv.flink.engine.StateTable;

/**
 * {@link org.apache.flink.api.common.state.ListState} on the engine, with one segment for each
 * element. Therefore an add is an append without a read, and single elements can expire.
 */
final class LavaListState<K, N, V> extends AbstractLavaState<K, N, List<V>>
        implements InternalListState<K, N, V> {

    private final ListSegments segments = new ListSegments();
    private TypeSerializer<V> elementSerializer;

    LavaListState(StateContext<K> context) {
        super(context);
    }

    @Override
    void update(StateTable table, List<V> defaultValue) {
        super.update(table, defaultValue);
        elementSerializer = ((ListSerializer<V>) valueSerializer).getElementSerializer();
    }

    /**
     * A copy of the current list. Later changes of the state do not affect the copy, nor the
     * reverse.
     */
    @Override
    public Iterable<V> get() throws IOException {
        return getInternal();
    }

    @Override
    public List<V> getInternal() throws IOException {
        int length = read();
        return length < 0 ? null : parse(length);
    }

    private List<V> parse(int length) throws IOException {
        List<V> elements = new ArrayList<>();
        segments.reset(reader.buffer(), 0, length);
        while (nextSegment()) {
            DataInputDeserializer input = reader.input(segments.offset(), segments.length());
            if (segments.kind() == ListSegments.ELEMENT) {
                elements.add(elementSerializer.deserialize(input));
            } else {
                readJoined(input, elementSerializer, elements);
            }
        }
        // A list may have no element left after its elements expired in a compaction.
        return elements.isEmpty() ? null : elements;
    }

    private boolean nextSegment() throws IOException {
        try {
            return segments.next();
        } catch (IOException e) {
            throw new IOException(failure("Reading", e), e);
        }
    }

    /** Reads elements that are joined by one byte. */
    static <T> void readJoined(
            DataInputDeserializer input, TypeSerializer<T> serializer, List<T> elements)
            throws IOException {
        while (input.available() > 0) {
            elements.add(serializer.deserialize(input));
            if (input.available() > 0) {
                input.readByte();
            }
        }
    }

    @Override
    public void add(V value) throws IOException {
        Preconditions.checkNotNull(value, "You cannot add null to a ListState.");
        out.clear();
        writeElement(value);
        append();
    }

    @Override
    public void addAll(List<V> values) throws IOException {
        Preconditions.checkNotNull(values, "List of values to add cannot be null.");
        if (!values.isEmpty()) {
            out.clear();
            writeElements(values);
            append();
        }
    }

    @Override
    public void update(List<V> values) throws IOException {
        updateInternal(values);
    }

    @Override
    public void updateInternal(List<V> values) throws IOException {
        Preconditions.checkNotNull(values, "List of values to add cannot be null.");
        if (values.isEmpty()) {
            clear();
            return;
        }
        out.clear();
        writeElements(values);
        write();
    }

    private void writeElements(List<V> values) throws IOException {
        for (V value : values) {
            Preconditions.checkNotNull(value, "You cannot add null to a ListState.");
            writeElement(value);
        }
    }

    private void writeElement(V value) throws IOException {
        observe(value);
        int mark = ListSegments.begin(out);
        elementSerializer.serialize(value, out);
        ListSegments.end(out, mark, ListSegments.ELEMENT);
    }

    private void append() throws IOException {
        int length = keys.withNamespace(namespace);
        try {
            views.beforeWrite(keys.buffer(), length, 0);
            db.append(table, keys.buffer(), 0, length, out.getSharedBuffer(), 0, out.length());
        } catch (LavaDBException e) {
            throw new IOException(failure("Appending to", e), e);
        } finally {
            written();
        }
    }

    @Override
    public void mergeNamespaces(N target, Collection<N> sources) {
        if (sources == null || sources.isEmpty()) {
            return;
        }
        try {
            out.clear();
            List<byte[]> merging = new ArrayList<>();
            for (N source : new LinkedHashSet<>(sources)) {
                if (source != null && !source.equals(target)) {
                    setCurrentNamespace(source);
                    // The concatenated segments of several lists are the segments of the
                    // concatenated list.
                    byte[] key = copyKey();
                    int length = read(key, key.length);
                    if (length >= 0) {
                        out.write(reader.buffer(), 0, length);
                        merging.add(key);
                    }
                }
            }
            setCurrentNamespace(target);
            if (!merging.isEmpty()) {
                writeMerged(copyKey(), true, merging);
            }
        } catch (IOException e) {
            throw new FlinkRuntimeException(failure("Merging namespaces of", e), e);
        }
    }

    @Override
    byte[] readSerialized(byte[] key, TypeSerializer<List<V>> safeValueSerializer)
            throws Exception {
        byte[] value = db.get(table, key, 0, key.length, 0);
        return value == null ? null : ListSegments.join(value, 0, value.length);
    }
}
