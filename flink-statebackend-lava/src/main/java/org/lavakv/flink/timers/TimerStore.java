// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.timers;

import java.io.IOException;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.util.FlinkRuntimeException;
import org.lavakv.LavaDBException;
import org.lavakv.ScanPage;
import org.lavakv.TableHandle;
import org.lavakv.flink.engine.CursorViews;
import org.lavakv.flink.engine.LavaInstance;
import org.lavakv.flink.engine.TableCursor;

/**
 * The engine's side of one timer state, for all key groups. Elements are keys without values. Their
 * byte order is the order of their priority.
 *
 * <p>Threads: the task's thread. Errors: {@link FlinkRuntimeException} naming the state.
 */
final class TimerStore<E> {

    private static final byte[] NO_VALUE = {};

    private final LavaInstance instance;
    private final TableHandle table;
    private final CursorViews views;
    private final TypeSerializer<E> serializer;
    private final DataOutputSerializer output = new DataOutputSerializer(64);
    private final DataInputDeserializer input = new DataInputDeserializer();
    private final ScanPage page = new ScanPage();

    TimerStore(LavaInstance instance, TableHandle table, TypeSerializer<E> serializer) {
        this.instance = instance;
        this.table = table;
        this.views = instance.views(table);
        this.serializer = serializer;
    }

    byte[] serialize(byte[] keyGroup, E element) {
        try {
            output.clear();
            output.write(keyGroup);
            serializer.serialize(element, output);
            return output.getCopyOfBuffer();
        } catch (IOException e) {
            throw failure("Serializing", e);
        }
    }

    E deserialize(byte[] key) {
        int skipped = instance.keyGroupPrefixBytes();
        input.setBuffer(key, skipped, key.length - skipped);
        try {
            return serializer.deserialize(input);
        } catch (IOException e) {
            throw failure("Reading", e);
        }
    }

    byte[] keyGroupBytes(int keyGroup) {
        return TableCursor.keyGroupBytes(keyGroup, instance.keyGroupPrefixBytes());
    }

    void put(byte[] key) {
        try {
            views.beforeWrite(key, key.length, 0);
            instance.db().put(table, key, 0, key.length, 0, NO_VALUE, 0, 0);
        } catch (LavaDBException e) {
            throw failure("Adding", e);
        }
    }

    void delete(byte[] key) {
        try {
            views.beforeWrite(key, key.length, 0);
            instance.db().delete(table, key, 0, key.length, 0);
        } catch (LavaDBException e) {
            throw failure("Removing", e);
        }
    }

    /**
     * The keys of a key group after {@code after}, or all for null.
     *
     * @param shared whether the cursor is exhausted or abandoned before the next call, so that it
     *     may use the common page
     */
    TableCursor behind(int keyGroup, byte[] after, int firstPageEntries, boolean shared) {
        return TableCursor.ofKeyGroup(
                instance, table, keyGroup, after, firstPageEntries, shared ? page : new ScanPage());
    }

    /** All keys of all key groups as of this call, whatever is written while they are read. */
    TableCursor viewOfAll(int firstPageEntries) throws LavaDBException {
        return TableCursor.ofTable(instance, table, true, firstPageEntries).asView(views);
    }

    FlinkRuntimeException failure(String doing, Exception cause) {
        return new FlinkRuntimeException(
                doing + " timers of '" + table.name() + "' failed: " + cause.getMessage(), cause);
    }
}
