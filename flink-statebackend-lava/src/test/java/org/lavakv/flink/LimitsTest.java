// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.Map;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.ReducingState;
import org.apache.flink.api.common.state.ReducingStateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.BackendBuildingException;
import org.apache.flink.runtime.state.KeyGroupedInternalPriorityQueue;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.apache.flink.runtime.state.hashmap.HashMapStateBackend;
import org.apache.flink.streaming.api.operators.TimerHeapInternalTimer;
import org.apache.flink.streaming.api.operators.TimerSerializer;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.lavakv.LavaDB;
import org.lavakv.flink.testing.BackendFixture;

/** Keys at the engine's limit are stored, longer ones are refused, and the state still works. */
class LimitsTest {

    private static final int MAX = LavaDB.KEY_BYTES_MAX;

    /** Key group, the length of a string, and the bytes of VoidNamespace. */
    private static final int OVERHEAD = 1 + 4 + 1;

    private static final String LONGEST_KEY = "k".repeat(MAX - OVERHEAD);
    private static final String TOO_LONG_KEY = LONGEST_KEY + "k";

    @TempDir Path root;

    private BackendFixture fixture;
    private AbstractKeyedStateBackend<String> backend;

    @BeforeEach
    void open() throws Exception {
        fixture = new BackendFixture(root);
        backend = create();
    }

    @AfterEach
    void close() throws Exception {
        fixture.close();
    }

    private AbstractKeyedStateBackend<String> create(KeyedStateHandle... handles) throws Exception {
        return fixture.create(
                BackendFixture.ALL, Arrays.asList(handles), StringSerializer.INSTANCE);
    }

    private static void refused(String state, ThrowingCallable access) {
        assertThatThrownBy(access)
                .hasMessageContaining("'" + state + "'")
                .hasMessageContaining(" has " + (MAX + 1) + " bytes, the limit is " + MAX);
    }

    @Test
    void valuesAndLists() throws Exception {
        ValueState<String> value = BackendFixture.value(backend);
        ListState<Integer> list = BackendFixture.list(backend);
        ReducingState<Integer> sum =
                BackendFixture.state(
                        backend,
                        new ReducingStateDescriptor<>(
                                "the-sum", Integer::sum, IntSerializer.INSTANCE));
        backend.setCurrentKey(LONGEST_KEY);
        value.update("value");
        list.add(1);
        backend.setCurrentKey(TOO_LONG_KEY);
        refused("the-value", () -> value.update("value"));
        refused("the-value", value::value);
        refused("the-value", value::clear);
        refused("the-list", () -> list.add(1));
        refused("the-list", () -> list.addAll(Arrays.asList(1, 2)));
        refused("the-list", () -> list.update(Arrays.asList(1, 2)));
        refused("the-list", list::get);
        refused("the-sum", () -> sum.add(1));
        backend.setCurrentKey(LONGEST_KEY);
        list.add(2);

        AbstractKeyedStateBackend<String> restored =
                create(BackendFixture.remote(fixture.checkpoint(backend, 1)));
        for (AbstractKeyedStateBackend<String> each : Arrays.asList(backend, restored)) {
            each.setCurrentKey(LONGEST_KEY);
            assertThat(BackendFixture.value(each).value()).isEqualTo("value");
            assertThat(BackendFixture.list(each).get()).containsExactly(1, 2);
            assertThat(each.getKeys("the-value", VoidNamespace.INSTANCE)).hasSize(1);
            assertThat(each.getKeys("the-list", VoidNamespace.INSTANCE)).hasSize(1);
        }
    }

    @Test
    void maps() throws Exception {
        MapState<String, Integer> map = BackendFixture.map(backend);
        // The key takes one byte, and one for its length.
        String longest = "u".repeat(MAX - 1 - 2 - 1 - 4);
        String tooLong = longest + "u";
        backend.setCurrentKey("k");
        map.put(longest, 1);
        map.put("other", 2);
        refused("the-map", () -> map.put(tooLong, 1));
        refused("the-map", () -> map.putAll(Collections.singletonMap(tooLong, 1)));
        refused("the-map", () -> map.get(tooLong));
        refused("the-map", () -> map.contains(tooLong));
        refused("the-map", () -> map.remove(tooLong));
        assertThat(map.keys()).containsExactlyInAnyOrder(longest, "other");

        // A key that leaves no space for any entry.
        backend.setCurrentKey(TOO_LONG_KEY);
        refused("the-map", map::clear);
        refused("the-map", map::isEmpty);
        refused("the-map", () -> map.keys().iterator().hasNext());

        AbstractKeyedStateBackend<String> restored =
                create(BackendFixture.remote(fixture.checkpoint(backend, 1)));
        for (AbstractKeyedStateBackend<String> each : Arrays.asList(backend, restored)) {
            MapState<String, Integer> its = BackendFixture.map(each);
            each.setCurrentKey("k");
            assertThat(its.entries())
                    .containsExactlyInAnyOrder(Map.entry(longest, 1), Map.entry("other", 2));
            its.clear();
            assertThat(its.isEmpty()).isTrue();
        }
    }

    @Test
    void timers() throws Exception {
        // Key group, time, and the key with its length; VoidNamespace takes a byte.
        String longest = "k".repeat(MAX - 1 - 8 - 4 - 1);
        String tooLong = longest + "k";
        KeyGroupedInternalPriorityQueue<TimerHeapInternalTimer<String, VoidNamespace>> queue =
                backend.create(
                        "timers",
                        new TimerSerializer<>(
                                StringSerializer.INSTANCE, VoidNamespaceSerializer.INSTANCE));
        queue.add(timer(5, longest));
        refused("timers", () -> queue.add(timer(1, tooLong)));
        assertThat(queue.size()).isEqualTo(1);
        assertThat(queue.poll()).isEqualTo(timer(5, longest));
        assertThat(queue.poll()).isNull();
    }

    private static TimerHeapInternalTimer<String, VoidNamespace> timer(long time, String key) {
        return new TimerHeapInternalTimer<>(time, key, VoidNamespace.INSTANCE);
    }

    @Test
    void keyOfAnotherBackendsSavepoint() throws Exception {
        fixture.use(new HashMapStateBackend());
        AbstractKeyedStateBackend<String> heap = create();
        heap.setCurrentKey(TOO_LONG_KEY);
        BackendFixture.value(heap).update("value");
        KeyedStateHandle savepoint = BackendFixture.savepoint(heap);
        fixture.use(fixture.newLava(true));
        int files = BackendFixture.filesIn(fixture.instances()).size();
        assertThatThrownBy(() -> create(savepoint))
                .isInstanceOf(BackendBuildingException.class)
                .hasMessageContaining(
                        "'the-value' has " + (MAX + 1) + " bytes, the limit is " + MAX);
        assertThat(BackendFixture.filesIn(fixture.instances())).hasSize(files);
    }
}
