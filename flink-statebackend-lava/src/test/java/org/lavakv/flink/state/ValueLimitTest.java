// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.state;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.Collections;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.lavakv.LavaDB;
import org.lavakv.flink.testing.BackendFixture;

/** A value larger than the engine's limit is refused, and the state still works. */
class ValueLimitTest {

    private static final int MAX = LavaDB.VALUE_BYTES_MAX;

    @TempDir Path root;

    private BackendFixture fixture;
    private AbstractKeyedStateBackend<Integer> backend;

    @BeforeEach
    void open() throws Exception {
        fixture = new BackendFixture(root);
        backend = fixture.create(BackendFixture.ALL);
        backend.setCurrentKey(1);
    }

    @AfterEach
    void close() throws Exception {
        fixture.close();
    }

    /** Simulates a serializer that wrote too many bytes: only the final length is too large. */
    private static final class HugeOutput extends DataOutputSerializer {
        private boolean handedOver;

        HugeOutput() {
            super(128);
        }

        @Override
        public byte[] getSharedBuffer() {
            handedOver = true;
            return super.getSharedBuffer();
        }

        @Override
        public int length() {
            return handedOver ? MAX + 1 : super.length();
        }
    }

    private static void refused(Object state, String name, ThrowingCallable write) {
        ((AbstractLavaState<?, ?, ?>) state).out = new HugeOutput();
        assertThatThrownBy(write)
                .hasMessageContaining("'" + name + "'")
                .hasMessageContaining(" has " + (MAX + 1) + " bytes, the limit is " + MAX);
        // The large buffer is not kept.
        assertThat(((AbstractLavaState<?, ?, ?>) state).out).isNotInstanceOf(HugeOutput.class);
    }

    @Test
    void valuesBeyondTheLimitAreRefused() throws Exception {
        ValueState<String> value = BackendFixture.value(backend);
        MapState<String, Integer> map = BackendFixture.map(backend);
        value.update("before");
        map.put("a", 1);
        refused(value, "the-value", () -> value.update("huge"));
        refused(map, "the-map", () -> map.put("a", 2));
        assertThat(value.value()).isEqualTo("before");
        assertThat(map.get("a")).isEqualTo(1);
        value.update("after");
        map.putAll(Collections.singletonMap("a", 3));
        assertThat(value.value()).isEqualTo("after");
        assertThat(map.get("a")).isEqualTo(3);
    }

    @Test
    void listsBeyondTheLimitAreRefused() throws Exception {
        ListState<Integer> list = BackendFixture.list(backend);
        list.add(1);
        refused(list, "the-list", () -> list.update(Collections.singletonList(2)));
        refused(list, "the-list", () -> list.add(2));
        assertThat(list.get()).containsExactly(1);
        list.add(3);
        assertThat(list.get()).containsExactly(1, 3);
    }
}
