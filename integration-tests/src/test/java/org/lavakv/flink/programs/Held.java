// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.programs;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import javax.annotation.Nullable;
import org.apache.flink.api.common.state.State;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.base.ListSerializer;
import org.apache.flink.api.common.typeutils.base.MapSerializer;
import org.apache.flink.queryablestate.client.state.serialization.KvStateSerializer;
import org.apache.flink.runtime.state.internal.InternalKvState;
import org.apache.flink.runtime.state.ttl.TtlOriginal;
import org.apache.flink.runtime.state.ttl.TtlValue;

/**
 * A value, an element of a list or an entry of a map as stored by a backend, with its timestamp for
 * TTL. It is read like queryable state, which neither renews nor clears anything.
 */
final class Held {

    /** The entry's key in a map; null in other states. */
    @Nullable final Object userKey;

    @Nullable final Object value;

    /** The timestamp for TTL; without TTL, the minimum. */
    final long written;

    private Held(@Nullable Object userKey, @Nullable Object value) {
        this.userKey = userKey;
        boolean timed = value instanceof TtlValue;
        this.value = timed ? ((TtlValue<?>) value).getUserValue() : value;
        this.written = timed ? ((TtlValue<?>) value).getLastAccessTimestamp() : Long.MIN_VALUE;
    }

    boolean isExpired(StateSpec state, long now) {
        return state.isExpired(written, now);
    }

    @Override
    public String toString() {
        return (userKey == null ? "" : Texts.shown(userKey) + "=")
                + Texts.shown(value)
                + (written == Long.MIN_VALUE ? "" : "@" + written);
    }

    /**
     * The whole content of a cell, including expired values; entries of a map are sorted by key.
     */
    static List<Held> in(State state, TypeSerializer<Object> keys, Cell cell) throws Exception {
        InternalKvState<Object, Object, Object> original = TtlOriginal.of(state);
        TypeSerializer<Object> values = original.getValueSerializer();
        TypeSerializer<Object> namespaces = cell.state.namespaces.serializer();
        byte[] bytes =
                original.getSerializedValue(
                        KvStateSerializer.serializeKeyAndNamespace(
                                cell.key, keys, cell.namespace, namespaces),
                        keys,
                        namespaces,
                        values);
        List<Held> all = new ArrayList<>();
        if (bytes == null) {
            return all;
        }
        switch (cell.state.kind) {
            case LIST:
                for (Object element :
                        KvStateSerializer.deserializeList(
                                bytes,
                                ((ListSerializer<?>) (Object) values).getElementSerializer())) {
                    all.add(new Held(null, element));
                }
                return all;
            case MAP:
                MapSerializer<?, ?> map = (MapSerializer<?, ?>) (Object) values;
                for (Map.Entry<?, ?> entry :
                        KvStateSerializer.deserializeMap(
                                        bytes, map.getKeySerializer(), map.getValueSerializer())
                                .entrySet()) {
                    all.add(new Held(entry.getKey(), entry.getValue()));
                }
                all.sort(Comparator.comparing(held -> (String) held.userKey));
                return all;
            default:
                all.add(new Held(null, KvStateSerializer.deserializeValue(bytes, values)));
                return all;
        }
    }
}
