// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.programs;

import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.api.common.typeutils.base.StringSerializer;

/**
 * The type of a program's keys. The first values of each type are those that encodings often get
 * wrong.
 */
enum KeyKind {
    INT(IntSerializer.INSTANCE, 0, 1, -1, Integer.MAX_VALUE, Integer.MIN_VALUE, 128, 255, 256),
    LONG(LongSerializer.INSTANCE, 0L, -1L, Long.MAX_VALUE, Long.MIN_VALUE, 1L << 32, 255L),
    TEXT(
            StringSerializer.INSTANCE,
            "",
            "a",
            "a\0",
            "\0",
            "ab",
            "\uffff",
            "k".repeat(300),
            "\ud83d\ude00");

    private final TypeSerializer<?> serializer;
    private final Object[] first;

    KeyKind(TypeSerializer<?> serializer, Object... first) {
        this.serializer = serializer;
        this.first = first;
    }

    @SuppressWarnings("unchecked")
    TypeSerializer<Object> serializer() {
        return (TypeSerializer<Object>) serializer;
    }

    Object key(int number) {
        if (number < first.length) {
            return first[number];
        }
        switch (this) {
            case INT:
                return 1000 + number;
            case LONG:
                return 1000L + number;
            default:
                return "key " + number;
        }
    }
}
