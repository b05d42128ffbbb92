// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.v2.StateIterator;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.runtime.state.KeyGroupedInternalPriorityQueue;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.apache.flink.runtime.state.internal.InternalMapState;
import org.apache.flink.streaming.api.operators.TimerHeapInternalTimer;
import org.apache.flink.streaming.api.operators.TimerSerializer;
import org.apache.flink.util.CloseableIterator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.lavakv.flink.testing.BackendFixture;

/**
 * Every iterator and stream shows exactly the entries as of its creation, whatever its consumer
 * does meanwhile: none visits entries that its consumer wrote, and each ends.
 */
class IteratorViewsTest {

    /** Limit for an iterator that visits entries written by its consumer. */
    private static final int STEPS_MAX = 100_000;

    private static final MapStateDescriptor<String, String> MAP =
            new MapStateDescriptor<>(
                    "strings", StringSerializer.INSTANCE, StringSerializer.INSTANCE);

    @TempDir Path directory;

    private BackendFixture fixture;
    private LavaKeyedStateBackend<Integer> backend;
    private MapState<String, String> map;

    @BeforeEach
    void open() throws Exception {
        fixture = new BackendFixture(directory);
        backend = (LavaKeyedStateBackend<Integer>) fixture.create(BackendFixture.ALL);
        map = BackendFixture.state(backend, MAP);
        backend.setCurrentKey(1);
    }

    @AfterEach
    void close() throws Exception {
        fixture.close();
    }

    // ---------------------------------------------------------------------- timers

    private KeyGroupedInternalPriorityQueue<TimerHeapInternalTimer<Integer, VoidNamespace>>
            timers() {
        return backend.create(
                "timers",
                new TimerSerializer<>(IntSerializer.INSTANCE, VoidNamespaceSerializer.INSTANCE));
    }

    private static TimerHeapInternalTimer<Integer, VoidNamespace> timer(long time, int key) {
        return new TimerHeapInternalTimer<>(time, key, VoidNamespace.INSTANCE);
    }

    /** 20,000 exceed the limit of before images: the iterator continues with a snapshot. */
    @ParameterizedTest
    @ValueSource(ints = {128, 129, 1_000, 20_000})
    void timersThatAreMovedAheadAreVisitedOnce(int count) throws Exception {
        var queue = timers();
        for (int i = 0; i < count; i++) {
            queue.add(timer(i, i % 10));
        }
        int steps = 0;
        try (CloseableIterator<TimerHeapInternalTimer<Integer, VoidNamespace>> iterator =
                queue.iterator()) {
            while (iterator.hasNext() && steps < STEPS_MAX) {
                TimerHeapInternalTimer<Integer, VoidNamespace> next = iterator.next();
                steps++;
                queue.remove(timer(next.getTimestamp(), next.getKey()));
                queue.add(timer(next.getTimestamp() + count, next.getKey()));
            }
        }
        assertThat(steps).isEqualTo(count);
        assertThat(queue.size()).isEqualTo(count);
        assertThat(queue.peek().getTimestamp()).isEqualTo(count);
        assertThat(backend.instance().viewSnapshotCount()).isZero();
    }

    @Test
    void timersOfOtherKeyGroupsAreThoseOfThatMomentToo() throws Exception {
        var queue = timers();
        Set<String> expected = new HashSet<>();
        for (int i = 0; i < 2_000; i++) {
            queue.add(timer(i, i));
            expected.add(i + " " + i);
        }
        Set<String> seen = new HashSet<>();
        try (CloseableIterator<TimerHeapInternalTimer<Integer, VoidNamespace>> iterator =
                queue.iterator()) {
            for (int i = 0; iterator.hasNext(); i++) {
                TimerHeapInternalTimer<Integer, VoidNamespace> next = iterator.next();
                assertThat(seen.add(next.getTimestamp() + " " + next.getKey())).isTrue();
                queue.add(timer(1_000_000 + i, 7 * i));
                queue.remove(timer(i * 3, i * 3));
                queue.poll();
            }
        }
        assertThat(seen).isEqualTo(expected);
    }

    // ---------------------------------------------------------------------- keys

    @Test
    void streamsOfKeysShowThoseOfTheirMoment() throws Exception {
        ValueState<String> value = BackendFixture.value(backend);
        Set<Integer> expected = new HashSet<>();
        for (int key = 0; key < 3_000; key++) {
            backend.setCurrentKey(key);
            value.update("v");
            map.put("k", "v");
            expected.add(key);
        }
        try (Stream<Integer> keys =
                        backend.getKeys(List.of("the-value", "strings"), VoidNamespace.INSTANCE);
                Stream<Tuple2<Integer, VoidNamespace>> pairs =
                        backend.getKeysAndNamespaces("strings")) {
            // Created, but not read yet.
            backend.setCurrentKey(5_000);
            value.update("late");
            map.put("late", "late");
            backend.setCurrentKey(17);
            value.clear();
            map.clear();
            assertThat(keysOf(keys.iterator(), key -> change(key, value))).isEqualTo(expected);
            Iterator<Integer> ofPairs = pairs.map(pair -> pair.f0).iterator();
            assertThat(keysOf(ofPairs, key -> change(key, value))).isEqualTo(expected);
        }
    }

    private static Set<Integer> keysOf(Iterator<Integer> keys, Consumer<Integer> consumer) {
        Set<Integer> seen = new HashSet<>();
        while (keys.hasNext()) {
            int key = keys.next();
            assertThat(seen.add(key)).as("visited twice: %s", key).isTrue();
            consumer.accept(key);
        }
        return seen;
    }

    /** Adds a key, removes one and its map, and updates one. */
    private void change(int key, ValueState<String> value) {
        try {
            backend.setCurrentKey(key + 10_000);
            value.update("new");
            map.put("new", "new");
            backend.setCurrentKey((key * 31 + 7) % 3_000);
            value.clear();
            map.clear();
            backend.setCurrentKey((key * 17 + 5) % 3_000);
            value.update("updated");
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void applyToAllKeysMeetsNoKeyThatItMade() throws Exception {
        ValueState<String> value = BackendFixture.value(backend);
        for (int key = 0; key < 1_000; key++) {
            backend.setCurrentKey(key);
            value.update("v");
        }
        List<Integer> seen = new ArrayList<>();
        backend.applyToAllKeys(
                VoidNamespace.INSTANCE,
                VoidNamespaceSerializer.INSTANCE,
                BackendFixture.VALUE,
                (key, state) -> {
                    assertThat(seen).hasSizeLessThan(STEPS_MAX);
                    seen.add(key);
                    state.clear();
                    backend.setCurrentKey(key + 1_000);
                    state.update("moved");
                });
        assertThat(seen).hasSize(1_000).doesNotHaveDuplicates().allMatch(key -> key < 1_000);
        assertThat(backend.getKeys("the-value", VoidNamespace.INSTANCE).count()).isEqualTo(1_000);
    }

    // ---------------------------------------------------------------------- maps

    private static String name(int number) {
        return String.format("%06d", number);
    }

    private TreeMap<String, String> fill(int count, int valueLength) throws Exception {
        TreeMap<String, String> content = new TreeMap<>();
        for (int i = 0; i < count; i++) {
            content.put(name(i), i + "x".repeat(valueLength));
        }
        map.putAll(content);
        return content;
    }

    private static TreeMap<String, String> rest(Iterator<Map.Entry<String, String>> entries) {
        TreeMap<String, String> rest = new TreeMap<>();
        while (entries.hasNext()) {
            Map.Entry<String, String> entry = entries.next();
            assertThat(rest.put(entry.getKey(), entry.getValue())).isNull();
        }
        return rest;
    }

    @Test
    void anEntryThatIsMovedAheadIsVisitedOnce() throws Exception {
        fill(1_000, 0);
        int steps = 0;
        for (String key : map.keys()) {
            assertThat(++steps).isLessThanOrEqualTo(1_000);
            map.remove(key);
            map.put(name(Integer.parseInt(key) + 1_000), "moved");
        }
        assertThat(steps).isEqualTo(1_000);
        assertThat(rest(map.iterator())).hasSize(1_000);
    }

    /** With values of 300 bytes the map exceeds the limit of before images. */
    @ParameterizedTest
    @ValueSource(ints = {0, 300})
    void aMapThatIsClearedOrOverwrittenIsSeenAsItWas(int valueLength) throws Exception {
        TreeMap<String, String> content = fill(5_000, valueLength);
        Iterator<Map.Entry<String, String>> beforeUpdates = map.iterator();
        TreeMap<String, String> updated = fill(6_000, 1);
        Iterator<Map.Entry<String, String>> beforeClear = map.iterator();
        Iterator<String> keysBeforeClear = map.keys().iterator();
        map.clear();
        Iterator<Map.Entry<String, String>> afterClear = map.iterator();
        map.put("new", "new");
        fixture.checkpoint(backend, 1);
        assertThat(rest(beforeUpdates)).isEqualTo(content);
        assertThat(rest(beforeClear)).isEqualTo(updated);
        List<String> keys = new ArrayList<>();
        keysBeforeClear.forEachRemaining(keys::add);
        assertThat(keys).containsExactlyElementsOf(updated.keySet());
        assertThat(afterClear.hasNext()).isFalse();
        assertThat(rest(map.iterator())).containsOnlyKeys("new");
        assertThat(backend.instance().viewSnapshotCount()).isZero();
    }

    @Test
    void aLargeValueThatIsOverwrittenIsSeenAsItWas() throws Exception {
        TreeMap<String, String> content = fill(100, 0);
        content.put("large", "x".repeat(3 << 20));
        map.putAll(content);
        Iterator<Map.Entry<String, String>> entries = map.iterator();
        map.put("large", "small");
        map.put(name(50), "other");
        assertThat(rest(entries)).isEqualTo(content);
        assertThat(backend.instance().viewSnapshotCount()).isZero();
    }

    @Test
    void removeAndSetValueWorkOnTheEntryThatWasVisited() throws Exception {
        TreeMap<String, String> expected = fill(500, 0);
        Iterator<Map.Entry<String, String>> entries = map.iterator();
        for (int i = 499; i > 400; i--) {
            map.remove(name(i)); // so that pages hold more than the table has
            expected.remove(name(i));
            map.put(name(i) + "a", "new");
            expected.put(name(i) + "a", "new");
        }
        while (entries.hasNext()) {
            Map.Entry<String, String> entry = entries.next();
            int number = Integer.parseInt(entry.getKey());
            entries.hasNext(); // may load the next page
            if (number % 3 == 0) {
                entries.remove();
                expected.remove(entry.getKey());
                assertThatThrownBy(() -> entry.setValue("x"))
                        .isInstanceOf(IllegalStateException.class);
            } else if (number % 3 == 1) {
                assertThat(entry.setValue("set")).isEqualTo(String.valueOf(number));
                expected.put(entry.getKey(), "set");
            }
        }
        assertThat(rest(map.iterator())).isEqualTo(expected);
    }

    @Test
    void iteratorsOfOneKeyDoNotMindTheOthers() throws Exception {
        TreeMap<String, String> one = fill(300, 0);
        Iterator<Map.Entry<String, String>> ofOne = map.iterator();
        Iterable<Map.Entry<String, String>> entriesOfOne = map.entries();
        backend.setCurrentKey(2);
        TreeMap<String, String> two = fill(200, 2);
        Iterator<Map.Entry<String, String>> ofTwo = map.iterator();
        map.clear();
        backend.setCurrentKey(1);
        map.remove(name(299));
        backend.setCurrentKey(3);
        assertThat(rest(ofOne)).isEqualTo(one);
        assertThat(rest(ofTwo)).isEqualTo(two);
        one.remove(name(299));
        assertThat(rest(entriesOfOne.iterator())).isEqualTo(one);
    }

    @Test
    void asynchronousIteratorsShowTheMomentAtWhichTheyWereAskedFor() throws Exception {
        TreeMap<String, String> content = fill(300, 0);
        @SuppressWarnings("unchecked")
        LavaMapStateAdaptor<Integer, VoidNamespace, String, String> adaptor =
                new LavaMapStateAdaptor<>(
                        (InternalMapState<Integer, VoidNamespace, String, String>) map);
        List<StateIterator<String>> asked = new ArrayList<>();
        adaptor.asyncKeys().thenAccept(asked::add);
        adaptor.asyncPut(name(1_000), "late");
        adaptor.asyncRemove(name(299));
        List<String> seen = new ArrayList<>();
        asked.get(0)
                .onNext(
                        key -> {
                            seen.add(key);
                            assertThat(seen).hasSizeLessThan(STEPS_MAX);
                            adaptor.asyncPut(name(2_000 + seen.size()), "later");
                        });
        assertThat(seen).containsExactlyElementsOf(content.keySet());
    }

    // ---------------------------------------------------------------------- cost

    /**
     * The engine is only asked for a key's previous value if an iterator still has to fetch the
     * key.
     */
    @Test
    void writesBehindAnIteratorAndBesideItReadNothing() throws Exception {
        fill(3_000, 0);
        long reads = backend.instance().db().getStatistics().reads();
        Iterator<Map.Entry<String, String>> entries = map.iterator();
        while (entries.hasNext()) {
            Map.Entry<String, String> entry = entries.next();
            entry.setValue("set");
            map.put(entry.getKey(), "put");
            entries.remove();
        }
        map.put(name(1), "behind the last page");
        fill(20, 0);
        Iterator<String> open = map.keys().iterator();
        backend.setCurrentKey(2);
        fill(100, 0);
        map.clear();
        assertThat(backend.instance().db().getStatistics().reads()).isEqualTo(reads);
        backend.setCurrentKey(1);
        map.put(name(19), "ahead");
        assertThat(backend.instance().db().getStatistics().reads()).isGreaterThan(reads);
        assertThat(open.hasNext()).isTrue();
    }

    /** A map used as a queue: the task reads the first entry and appends at the end. */
    @Test
    @Timeout(120)
    void iteratorsThatAreGivenUpPinNoSnapshotForEver() throws Exception {
        fill(100, 0);
        String value = "x".repeat(10_000);
        for (int i = 0; i < 400; i++) {
            assertThat(map.entries().iterator().next().getKey()).isEqualTo(name(i));
            map.remove(name(i));
            map.put(name(100 + i), value);
            map.put(name(50 + i), value);
        }
        assertThat(backend.instance().viewSnapshotCount()).isLessThan(4);
        while (backend.instance().viewSnapshotCount() > 0) {
            assertThat(Thread.currentThread().isInterrupted()).as("timed out").isFalse();
            System.gc();
            backend.instance().forgetUnreachableViews();
        }
    }

    @Test
    void aBackendIsDisposedBesideOpenIterators() throws Exception {
        fill(5_000, 300);
        Iterator<Map.Entry<String, String>> entries = map.iterator();
        map.clear();
        assertThat(backend.instance().viewSnapshotCount()).isOne();
        fixture.close(backend);
        assertThatThrownBy(() -> rest(entries)).isInstanceOf(RuntimeException.class);
    }
}
