// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.StateTtlConfig;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.common.typeutils.base.ListSerializer;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.queryablestate.client.state.serialization.KvStateSerializer;
import org.apache.flink.runtime.execution.CancelTaskException;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.apache.flink.runtime.state.internal.InternalKvState;
import org.apache.flink.runtime.state.internal.InternalListState;
import org.apache.flink.util.StateMigrationException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.lavakv.DBStatistics;
import org.lavakv.Host;
import org.lavakv.LavaDB;
import org.lavakv.ScanOptions;
import org.lavakv.ScanPage;
import org.lavakv.TableHandle;
import org.lavakv.TableKind;
import org.lavakv.TableOptions;
import org.lavakv.flink.engine.ListSegments;
import org.lavakv.flink.testing.BackendFixture;
import org.lavakv.flink.testing.CountingStringSerializer;

/**
 * Properties of states that Flink's own suites do not test: costs, pages, forms of lists,
 * lifecycle.
 */
class LavaStatesTest {

    @TempDir Path directory;

    private BackendFixture fixture;
    private LavaKeyedStateBackend<Integer> backend;
    private LavaDB db;

    @BeforeEach
    void open() throws Exception {
        fixture = new BackendFixture(directory);
        backend = (LavaKeyedStateBackend<Integer>) fixture.create(BackendFixture.ALL);
        db = backend.instance().db();
        backend.setCurrentKey(1);
    }

    @AfterEach
    void close() throws Exception {
        fixture.close();
    }

    private static int count(Iterable<?> elements) {
        int count = 0;
        for (Object ignored : elements) {
            count++;
        }
        return count;
    }

    // ---------------------------------------------------------------------- migration

    @Test
    void cancelledMigrationEnds() throws Exception {
        for (int key = 0; key < 600; key++) {
            backend.setCurrentKey(key);
            BackendFixture.value(backend).update("value");
        }
        LavaKeyedStateBackend<Integer> restored =
                (LavaKeyedStateBackend<Integer>)
                        fixture.create(
                                BackendFixture.ALL,
                                BackendFixture.remote(fixture.checkpoint(backend, 1)));
        ValueStateDescriptor<String> withTtl =
                new ValueStateDescriptor<>(
                        BackendFixture.VALUE.getName(), StringSerializer.INSTANCE);
        withTtl.enableTimeToLive(StateTtlConfig.newBuilder(Duration.ofHours(1)).build());
        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> BackendFixture.state(restored, withTtl))
                .hasRootCauseInstanceOf(CancelTaskException.class)
                .cause()
                .isInstanceOf(StateMigrationException.class)
                .hasMessageContaining("'the-value' was cancelled");
        assertThat(Thread.interrupted()).isTrue();
    }

    // ---------------------------------------------------------------------- maps

    @Test
    void mapWorksOnAfterALargeEntry() throws Exception {
        MapState<String, String> map =
                BackendFixture.state(
                        backend,
                        new MapStateDescriptor<>(
                                "large", StringSerializer.INSTANCE, StringSerializer.INSTANCE));
        String large = "x".repeat(5 << 20);
        for (int round = 0; round < 2; round++) {
            Map<String, String> expected = new HashMap<>();
            expected.put("large " + round, large);
            expected.put("small " + round, "y");
            map.putAll(expected);
            Map<String, String> found = new HashMap<>();
            map.entries().forEach(entry -> found.put(entry.getKey(), entry.getValue()));
            assertThat(found).isEqualTo(expected);
            map.putAll(Collections.singletonMap("more", "z"));
            assertThat(count(map.keys())).isEqualTo(3);
            map.clear();
            assertThat(map.isEmpty()).isTrue();
        }
    }

    @Test
    void keysAndExistenceReadNoValues() throws Exception {
        CountingStringSerializer values = new CountingStringSerializer();
        MapState<Integer, String> map =
                BackendFixture.state(
                        backend,
                        new MapStateDescriptor<>("counted", IntSerializer.INSTANCE, values));
        for (int i = 0; i < 100; i++) {
            map.put(i, "value " + i);
        }
        CountingStringSerializer.reset();
        assertThat(map.contains(5)).isTrue();
        assertThat(map.contains(100)).isFalse();
        assertThat(map.isEmpty()).isFalse();
        assertThat(map.keys()).hasSize(100);
        assertThat(CountingStringSerializer.deserialized()).isZero();
        assertThat(map.values()).hasSize(100);
        assertThat(CountingStringSerializer.deserialized()).isEqualTo(100);
    }

    @Test
    void clearOfNothingWritesNothing() throws Exception {
        MapState<String, Integer> map = BackendFixture.map(backend);
        backend.setCurrentKey(2);
        map.put("another", 1);
        backend.setCurrentKey(1);
        DBStatistics before = db.getStatistics();
        for (int i = 0; i < 1000; i++) {
            backend.setCurrentKey(1000 + i);
            map.clear();
        }
        DBStatistics after = db.getStatistics();
        // Reading the memtable may sort it once; a thousand tombstones would be far more.
        assertThat(after.memtableActiveBytes() - before.memtableActiveBytes()).isLessThan(10_000);
        backend.setCurrentKey(2);
        assertThat(map.get("another")).isEqualTo(1);
    }

    @Test
    void clearCostsTheSameWhateverTheMapHolds() throws Exception {
        MapState<String, Integer> map = BackendFixture.map(backend);
        for (int i = 0; i < 2000; i++) {
            map.put("key " + i, i);
        }
        db.flush();
        long before = db.getStatistics().memtableActiveBytes();
        map.clear();
        // One record; two thousand tombstones would take ten times as much.
        assertThat(db.getStatistics().memtableActiveBytes() - before).isLessThan(10_000);
        assertThat(map.isEmpty()).isTrue();
        assertThat(map.get("key 7")).isNull();
        map.put("key 7", 8);
        assertThat(map.entries()).hasSize(1);
    }

    @Test
    void iteratorRemovesAndWritesThroughAcrossPages() throws Exception {
        MapState<String, Integer> map = BackendFixture.map(backend);
        Map<String, Integer> expected = new HashMap<>();
        for (int i = 0; i < 1000; i++) {
            expected.put("key " + i, i);
        }
        map.putAll(expected);
        List<Map.Entry<String, Integer>> kept = new ArrayList<>();
        Iterator<Map.Entry<String, Integer>> iterator = map.iterator();
        assertThatThrownBy(iterator::remove).isInstanceOf(IllegalStateException.class);
        int n = 0;
        while (iterator.hasNext()) {
            Map.Entry<String, Integer> entry = iterator.next();
            // A previous hasNext() must not lose the entry to remove, even at the end of a page.
            iterator.hasNext();
            if (n++ % 2 == 0) {
                iterator.remove();
                expected.remove(entry.getKey());
            } else {
                kept.add(entry);
            }
        }
        assertThat(n).isEqualTo(1000);
        for (Map.Entry<String, Integer> entry : kept) {
            assertThat(entry.setValue(-entry.getValue())).isEqualTo(expected.get(entry.getKey()));
            expected.compute(entry.getKey(), (key, value) -> -value);
        }
        Map<String, Integer> actual = new HashMap<>();
        map.entries().forEach(entry -> actual.put(entry.getKey(), entry.getValue()));
        assertThat(actual).isEqualTo(expected);
    }

    @Test
    void iteratorStaysAtItsKeyAndBearsWrites() throws Exception {
        MapState<String, Integer> map = BackendFixture.map(backend);
        for (int i = 0; i < 200; i++) {
            map.put(String.format("a%03d", i), i);
        }
        backend.setCurrentKey(2);
        map.put("other", 1);
        backend.setCurrentKey(1);
        Iterable<String> keys = map.keys();
        Iterator<Map.Entry<String, Integer>> iterator = map.iterator();
        backend.setCurrentKey(2);
        int seen = 0;
        while (iterator.hasNext()) {
            Map.Entry<String, Integer> entry = iterator.next();
            seen++;
            backend.setCurrentKey(1);
            map.put(entry.getKey(), entry.getValue() + 1);
            map.put("0", 1);
            backend.setCurrentKey(2);
        }
        assertThat(seen).isEqualTo(200);
        assertThat(count(keys)).isEqualTo(201);
        assertThat(count(map.keys())).isEqualTo(1);
    }

    @Test
    void severalIteratorsDoNotDisturbEachOther() throws Exception {
        MapState<String, Integer> map = BackendFixture.map(backend);
        for (int i = 0; i < 40; i++) {
            map.put("key " + i, i);
        }
        int pairs = 0;
        for (String ignored : map.keys()) {
            for (Map.Entry<String, Integer> entry : map.entries()) {
                assertThat(entry.getKey()).isEqualTo("key " + entry.getValue());
                assertThat(map.isEmpty()).isFalse();
                pairs++;
            }
        }
        assertThat(pairs).isEqualTo(1600);
    }

    @Test
    void mapsHoldNullValues() throws Exception {
        MapState<String, Integer> map = BackendFixture.map(backend);
        map.put("null", null);
        assertThat(map.contains("null")).isTrue();
        assertThat(map.get("null")).isNull();
        assertThat(map.values()).containsExactly((Integer) null);
        map.putAll(Collections.singletonMap("second", null));
        assertThat(map.entries()).hasSize(2);
    }

    // ---------------------------------------------------------------------- lists

    @Test
    void joinedListsAreReadAndGrow() throws Exception {
        ListState<String> list =
                BackendFixture.state(
                        backend, new ListStateDescriptor<>("l", StringSerializer.INSTANCE));
        DataOutputSerializer joined = new DataOutputSerializer(64);
        StringSerializer.INSTANCE.serialize("a,b", joined);
        joined.writeByte(ListSegments.DELIMITER);
        StringSerializer.INSTANCE.serialize("", joined);
        DataOutputSerializer value = new DataOutputSerializer(64);
        ListSegments.write(
                value, ListSegments.JOINED, joined.getSharedBuffer(), 0, joined.length());
        list.add("placeholder");
        byte[] key = onlyKey("l");
        TableHandle table = db.createTable("l", new TableOptions().setKind(TableKind.LIST));
        db.put(table, key, 0, key.length, 0, value.getSharedBuffer(), 0, value.length());

        assertThat(list.get()).containsExactly("a,b", "");
        list.add("c");
        list.addAll(Arrays.asList("d", "e"));
        assertThat(list.get()).containsExactly("a,b", "", "c", "d", "e");
        assertThat(queried(list)).containsExactly("a,b", "", "c", "d", "e");
    }

    @SuppressWarnings("unchecked")
    private List<String> queried(ListState<String> list) throws Exception {
        InternalListState<Integer, VoidNamespace, String> internal =
                (InternalListState<Integer, VoidNamespace, String>) (InternalKvState<?, ?, ?>) list;
        byte[] keyAndNamespace =
                KvStateSerializer.serializeKeyAndNamespace(
                        1,
                        IntSerializer.INSTANCE,
                        VoidNamespace.INSTANCE,
                        VoidNamespaceSerializer.INSTANCE);
        byte[] value =
                internal.getSerializedValue(
                        keyAndNamespace,
                        IntSerializer.INSTANCE,
                        VoidNamespaceSerializer.INSTANCE,
                        internal.getValueSerializer());
        return KvStateSerializer.deserializeList(value, StringSerializer.INSTANCE);
    }

    private byte[] onlyKey(String table) throws Exception {
        ScanPage page = new ScanPage();
        TableHandle handle = db.createTable(table, new TableOptions().setKind(TableKind.LIST));
        db.scan(handle, new ScanOptions(), page, null);
        assertThat(page.count()).isEqualTo(1);
        return page.lastKey();
    }

    @Test
    void addsDoNotRead() throws Exception {
        ListState<Integer> list = BackendFixture.list(backend);
        list.add(0);
        long before = db.getStatistics().reads();
        for (int i = 1; i < 100; i++) {
            list.add(i);
        }
        list.addAll(Arrays.asList(100, 101));
        assertThat(db.getStatistics().reads()).isEqualTo(before);
        assertThat(list.get()).hasSize(102);
    }

    @Test
    void listsRefuseNull() throws Exception {
        ListState<Integer> list = BackendFixture.list(backend);
        assertThatThrownBy(() -> list.add(null)).isInstanceOf(NullPointerException.class);
        assertThatThrownBy(() -> list.addAll(Arrays.asList(1, null)))
                .isInstanceOf(NullPointerException.class);
        assertThatThrownBy(() -> list.update(null)).isInstanceOf(NullPointerException.class);
        assertThat(list.get()).isNull();
        list.add(1);
        list.update(Collections.emptyList());
        assertThat(list.get()).isNull();
    }

    // ---------------------------------------------------------------------- values

    @Test
    void valuesOfAllSizesShareOneBuffer() throws Exception {
        ValueState<String> value = BackendFixture.value(backend);
        String large = "x".repeat(3 << 20);
        for (int round = 0; round < 2; round++) {
            backend.setCurrentKey(1);
            value.update(large);
            assertThat(value.value()).isEqualTo(large);
            backend.setCurrentKey(2);
            for (int i = 0; i < 3000; i++) {
                value.update("small " + i);
                assertThat(value.value()).isEqualTo("small " + i);
            }
        }
    }

    @Test
    void defaultValuesAreCopied() throws Exception {
        ValueState<List<Integer>> value =
                BackendFixture.state(
                        backend,
                        new ValueStateDescriptor<>(
                                "d",
                                new ListSerializer<>(IntSerializer.INSTANCE),
                                new ArrayList<>(Arrays.asList(1))));
        value.value().add(2);
        assertThat(value.value()).containsExactly(1);
    }

    // ---------------------------------------------------------------------- keys

    @Test
    void keysAreStreamedWhileStatesChange() throws Exception {
        ValueState<String> value = BackendFixture.value(backend);
        MapState<String, Integer> map = BackendFixture.map(backend);
        for (int key = 0; key < 1000; key++) {
            backend.setCurrentKey(key);
            value.update("value");
            map.put("a", 1);
            map.put("b", 2);
        }
        backend.setCurrentKey(5000);
        map.put("only in the map", 1);
        assertKeys("the-map", 1001);
        TreeSet<Integer> both = new TreeSet<>();
        try (Stream<Integer> keys =
                backend.getKeys(
                        Arrays.asList("the-value", "the-map", "unknown"), VoidNamespace.INSTANCE)) {
            keys.forEach(key -> assertThat(both.add(key)).isTrue());
        }
        assertThat(both).hasSize(1001).contains(5000);
        backend.applyToAllKeys(
                VoidNamespace.INSTANCE,
                VoidNamespaceSerializer.INSTANCE,
                BackendFixture.VALUE,
                (key, state) -> state.clear());
        assertKeys("the-value", 0);
    }

    private void assertKeys(String state, int expected) {
        try (Stream<Integer> keys = backend.getKeys(state, VoidNamespace.INSTANCE)) {
            assertThat(keys.distinct().count()).isEqualTo(expected);
        }
        assertThat(backend.getKeysAndNamespaces(state).count()).isEqualTo(expected);
    }

    @Test
    void keyGroupsOfTwoBytes() throws Exception {
        fixture.useKeyGroups(1000);
        LavaKeyedStateBackend<Integer> wide =
                (LavaKeyedStateBackend<Integer>)
                        fixture.create(KeyGroupRange.of(0, 999), Collections.emptyList());
        assertThat(wide.instance().keyGroupPrefixBytes()).isEqualTo(2);
        MapState<String, Integer> map = BackendFixture.map(wide);
        for (int key = 0; key < 3000; key++) {
            wide.setCurrentKey(key);
            map.put("key", key);
        }
        wide.setCurrentKey(77);
        assertThat(map.get("key")).isEqualTo(77);
        assertThat(wide.getKeys("the-map", VoidNamespace.INSTANCE).count()).isEqualTo(3000);
        assertThat(wide.numKeyValueStateEntries()).isEqualTo(3000);
    }

    // ---------------------------------------------------------------------- lifecycle

    @Test
    void disposeFreesEverything() throws Exception {
        long before = Host.openNativeObjects();
        LavaKeyedStateBackend<Integer> other =
                (LavaKeyedStateBackend<Integer>) fixture.create(BackendFixture.ALL);
        Path files = other.instance().directory().toPath();
        other.setCurrentKey(1);
        ValueState<String> value = BackendFixture.value(other);
        value.update("value");
        assertThat(Host.openNativeObjects()).isGreaterThan(before);
        assertThat(files).exists();
        fixture.close(other);
        other.dispose();
        assertThat(Host.openNativeObjects()).isEqualTo(before);
        assertThat(files).doesNotExist();
        assertThatThrownBy(value::value).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> value.update("late")).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void saysWhatItIs() {
        assertThat(backend.getBackendTypeIdentifier()).isEqualTo("lava");
        assertThat(backend.isSafeToReuseKVState()).isTrue();
        assertThat(new LavaStateBackend().getName()).isEqualTo("lava");
    }

    @Test
    void refusesAccessWithoutAKey() throws Exception {
        LavaKeyedStateBackend<Integer> fresh =
                (LavaKeyedStateBackend<Integer>) fixture.create(BackendFixture.ALL);
        ValueState<String> value = BackendFixture.value(fresh);
        assertThatThrownBy(value::value)
                .isInstanceOf(NullPointerException.class)
                .hasMessageContaining("No key set");
    }
}
