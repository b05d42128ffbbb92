// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.runtime.state.KeyGroupedInternalPriorityQueue;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.apache.flink.streaming.api.operators.TimerHeapInternalTimer;
import org.apache.flink.streaming.api.operators.TimerSerializer;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.lavakv.flink.testing.BackendFixture;

/**
 * Many iterators of all kinds, open at once and read a few steps at a time, during changes of every
 * kind to states and timers. Each shows the entries of a copy of the model from the iterator's
 * creation. Some are abandoned.
 */
class RandomIteratorsTest {

    private static final int STEPS = 1_500;
    private static final int KEYS = 3;
    private static final int NAMES = 400;
    private static final int OPEN_MAX = 12;
    private static final MapStateDescriptor<String, String> MAP =
            new MapStateDescriptor<>(
                    "strings", StringSerializer.INSTANCE, StringSerializer.INSTANCE);

    @TempDir Path directory;

    private Random random;
    private LavaKeyedStateBackend<Integer> backend;
    private MapState<String, String> map;
    private ValueState<String> value;
    private KeyGroupedInternalPriorityQueue<TimerHeapInternalTimer<Integer, VoidNamespace>> timers;

    private final Map<Integer, TreeMap<String, String>> maps = new HashMap<>();
    private final TreeSet<String> valueKeys = new TreeSet<>();
    private final TreeSet<TimerHeapInternalTimer<Integer, VoidNamespace>> timersModel =
            new TreeSet<>(
                    Comparator.<TimerHeapInternalTimer<Integer, VoidNamespace>>comparingLong(
                                    TimerHeapInternalTimer::getTimestamp)
                            .thenComparing(TimerHeapInternalTimer::getKey));
    private final List<Open<?>> open = new ArrayList<>();

    /** An iterator being read, and its expected entries. */
    private static final class Open<T> {
        final Iterator<T> iterator;
        final List<T> expected;
        final List<T> seen = new ArrayList<>();
        final Consumer<T> change;
        final String what;

        Open(String what, Iterator<T> iterator, List<T> expected, Consumer<T> change) {
            this.what = what;
            this.iterator = iterator;
            this.expected = expected;
            this.change = change;
        }

        /** Returns false at the end of the iterator. */
        boolean step(boolean changes) {
            if (!iterator.hasNext()) {
                assertThat(seen).as(what).containsExactlyInAnyOrderElementsOf(expected);
                return false;
            }
            T next = iterator.next();
            seen.add(next);
            assertThat(seen).as(what).hasSizeLessThanOrEqualTo(expected.size());
            if (changes) {
                change.accept(next);
            }
            return true;
        }
    }

    private static TimerHeapInternalTimer<Integer, VoidNamespace> timer(long time, int key) {
        return new TimerHeapInternalTimer<>(time, key, VoidNamespace.INSTANCE);
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5})
    void eachShowsItsFirstMoment(long seed) throws Exception {
        random = new Random(seed);
        try (BackendFixture fixture = new BackendFixture(directory)) {
            fixture.use(fixture.newLava(true).set(LavaOptions.TIMER_SERVICE_CACHE_SIZE, 5));
            backend = (LavaKeyedStateBackend<Integer>) fixture.create(BackendFixture.ALL);
            map = BackendFixture.state(backend, MAP);
            value = BackendFixture.value(backend);
            timers =
                    backend.create(
                            "timers",
                            new TimerSerializer<>(
                                    IntSerializer.INSTANCE, VoidNamespaceSerializer.INSTANCE));
            for (int key = 0; key < KEYS; key++) {
                maps.put(key, new TreeMap<>());
            }
            for (int step = 0; step < STEPS; step++) {
                int what = random.nextInt(100);
                if (what < 50) {
                    change();
                } else if (what < 55 && open.size() < OPEN_MAX) {
                    open.add(newIterator());
                } else if (!open.isEmpty()) {
                    read(what == 99);
                }
                if (step % 600 == 599) {
                    fixture.checkpoint(backend, step);
                }
            }
            for (Open<?> last : open) {
                while (last.step(false)) {
                    assertThat(last.seen).isNotEmpty();
                }
            }
        }
    }

    private void read(boolean giveUp) {
        Open<?> one = open.get(random.nextInt(open.size()));
        boolean more = true;
        for (int i = random.nextInt(60); more && i > 0; i--) {
            more = one.step(random.nextInt(4) == 0);
        }
        if (giveUp || !more) {
            open.remove(one);
        }
    }

    private String name() {
        return String.format("%04d", random.nextInt(NAMES));
    }

    /** Sometimes so long that before images exceed their limit. */
    private String newValue() {
        return "v".repeat(random.nextInt(200) == 0 ? 300_000 : random.nextInt(2_000)) + "end";
    }

    private void change() throws Exception {
        int key = random.nextInt(KEYS);
        backend.setCurrentKey(key);
        TreeMap<String, String> model = maps.get(key);
        switch (random.nextInt(12)) {
            case 0:
            case 1:
                String name = name();
                map.remove(name);
                model.remove(name);
                break;
            case 2:
                if (random.nextInt(20) == 0) {
                    map.clear();
                    model.clear();
                }
                break;
            case 3:
                TreeMap<String, String> many = new TreeMap<>();
                for (int i = random.nextInt(100); i > 0; i--) {
                    many.put(name(), newValue());
                }
                map.putAll(many);
                model.putAll(many);
                break;
            case 4:
            case 5:
                int valueKey = random.nextInt(600);
                backend.setCurrentKey(valueKey);
                if (random.nextInt(3) == 0) {
                    value.clear();
                    valueKeys.remove("" + valueKey);
                } else {
                    value.update("v");
                    valueKeys.add("" + valueKey);
                }
                break;
            case 6:
            case 7:
            case 8:
                changeTimers();
                break;
            default:
                String put = name();
                String text = newValue();
                map.put(put, text);
                model.put(put, text);
        }
    }

    private void changeTimers() {
        for (int i = random.nextInt(10); i > 0; i--) {
            var added = timer(random.nextInt(500), random.nextInt(20));
            timers.add(added);
            timersModel.add(added);
        }
        var removed = timer(random.nextInt(500), random.nextInt(20));
        timers.remove(removed);
        timersModel.remove(removed);
        if (random.nextInt(3) == 0) {
            var polled = timers.poll();
            assertThat(polled == null || timersModel.remove(polled)).isTrue();
        }
    }

    private Open<?> newIterator() throws Exception {
        int key = random.nextInt(KEYS);
        backend.setCurrentKey(key);
        TreeMap<String, String> model = maps.get(key);
        switch (random.nextInt(6)) {
            case 0:
                return entries(key);
            case 1:
                Iterator<String> keys = map.keys().iterator();
                return new Open<>(
                        "keys",
                        keys,
                        new ArrayList<>(model.keySet()),
                        entry -> {
                            keys.remove();
                            model.remove(entry);
                        });
            case 2:
                return new Open<>(
                        "values",
                        map.values().iterator(),
                        new ArrayList<>(model.values()),
                        entry -> {});
            case 3:
                return new Open<>(
                        "getKeys",
                        backend.<VoidNamespace>getKeys("the-value", VoidNamespace.INSTANCE)
                                .map(String::valueOf)
                                .iterator(),
                        new ArrayList<>(valueKeys),
                        this::moveKey);
            case 4:
                return new Open<>(
                        "getKeysAndNamespaces",
                        backend.getKeysAndNamespaces("strings")
                                .map(pair -> String.valueOf(pair.f0))
                                .iterator(),
                        maps.entrySet().stream()
                                .filter(entry -> !entry.getValue().isEmpty())
                                .map(entry -> String.valueOf(entry.getKey()))
                                .collect(Collectors.toList()),
                        any -> {});
            default:
                return new Open<>(
                        "timers",
                        timers.iterator(),
                        new ArrayList<>(timersModel),
                        timer -> {
                            var moved = timer(timer.getTimestamp() + 100, timer.getKey());
                            timers.remove(timer);
                            timersModel.remove(timer);
                            timers.add(moved);
                            timersModel.add(moved);
                        });
        }
    }

    private Open<Map.Entry<String, String>> entries(int key) throws Exception {
        TreeMap<String, String> model = maps.get(key);
        Iterator<Map.Entry<String, String>> entries = map.iterator();
        return new Open<>(
                "entries",
                entries,
                model.entrySet().stream()
                        .map(entry -> Map.entry(entry.getKey(), entry.getValue()))
                        .collect(Collectors.toList()),
                entry -> {
                    if (random.nextBoolean()) {
                        entries.remove();
                        model.remove(entry.getKey());
                    } else {
                        // Writes the same value, because the entry itself shows its new value.
                        String same = entry.getValue();
                        entry.setValue(same);
                        model.put(entry.getKey(), same);
                    }
                });
    }

    private void moveKey(String key) {
        try {
            int moved = (Integer.parseInt(key) * 7 + 3) % 600;
            backend.setCurrentKey(Integer.parseInt(key));
            value.clear();
            valueKeys.remove(key);
            backend.setCurrentKey(moved);
            value.update("moved");
            valueKeys.add("" + moved);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }
}
