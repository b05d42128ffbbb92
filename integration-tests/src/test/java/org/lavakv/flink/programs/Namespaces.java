// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.programs;

import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.apache.flink.streaming.api.windowing.windows.TimeWindow;

/** The type of a state's namespaces. */
enum Namespaces {
    NONE(VoidNamespaceSerializer.INSTANCE, VoidNamespace.INSTANCE),
    WINDOWS(
            new TimeWindow.Serializer(),
            new TimeWindow(0, 10),
            new TimeWindow(-10, 0),
            new TimeWindow(10, Long.MAX_VALUE)),
    TEXTS(StringSerializer.INSTANCE, "", "n", "n\0", "n".repeat(130));

    private final TypeSerializer<?> serializer;
    private final Object[] all;

    Namespaces(TypeSerializer<?> serializer, Object... all) {
        this.serializer = serializer;
        this.all = all;
    }

    @SuppressWarnings("unchecked")
    TypeSerializer<Object> serializer() {
        return (TypeSerializer<Object>) serializer;
    }

    int count() {
        return all.length;
    }

    Object get(int number) {
        return all[number];
    }
}
