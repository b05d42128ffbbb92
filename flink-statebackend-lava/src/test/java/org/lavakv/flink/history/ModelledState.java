// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.history;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Collectors;
import javax.annotation.Nullable;
import org.apache.flink.api.common.functions.AggregateFunction;
import org.apache.flink.api.common.state.AggregatingState;
import org.apache.flink.api.common.state.AggregatingStateDescriptor;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ReducingState;
import org.apache.flink.api.common.state.ReducingStateDescriptor;
import org.apache.flink.api.common.state.State;
import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.api.common.state.StateTtlConfig;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;

/**
 * A keyed state and its expected content. The content of one key is an immutable object, or null
 * for none, so that copying a model copies only references.
 *
 * <p>Threads: without state.
 */
abstract class ModelledState<S extends State> {

    /** Far longer than a history takes by the engine's clock, which advances with real time. */
    static final long TTL_MS = 1_000_000;

    /**
     * Step by which time advances in a history, so that the time of an expiry is never close to a
     * time of a read.
     */
    static final long TIME_STEP_MS = 300_000;

    final StateDescriptor<S, ?> descriptor;
    private final boolean expires;

    private ModelledState(StateDescriptor<S, ?> descriptor, boolean expires) {
        this.descriptor = descriptor;
        this.expires = expires;
        if (expires) {
            descriptor.enableTimeToLive(
                    StateTtlConfig.newBuilder(Duration.ofMillis(TTL_MS)).build());
        }
    }

    /** Every kind of state, each with and without TTL where Flink supports it. */
    static List<ModelledState<?>> all() {
        List<ModelledState<?>> all = new ArrayList<>();
        for (boolean expires : new boolean[] {false, true}) {
            String prefix = expires ? "ttl-" : "";
            all.add(new OfValue(prefix + "value", expires));
            all.add(new OfList(prefix + "list", expires));
            all.add(new OfMap(prefix + "map", expires));
            all.add(new OfSum(prefix + "reducing", expires));
            all.add(new OfText(prefix + "aggregating", expires));
        }
        all.add(new OfWindows("windows"));
        return Collections.unmodifiableList(all);
    }

    /**
     * Makes a random change for the backend's current key.
     *
     * @param held the expected content before the change
     * @return the expected content after it
     */
    abstract Object change(S state, @Nullable Object held, Random random, long now)
            throws Exception;

    /** Reads the content of the backend's current key. */
    abstract String read(S state) throws Exception;

    /** The text that {@link #read} must return. */
    abstract String expected(@Nullable Object held, long now);

    @SuppressWarnings("unchecked")
    S bind(AbstractKeyedStateBackend<Integer> backend) throws Exception {
        return (S)
                backend.getPartitionedState(
                        VoidNamespace.INSTANCE, VoidNamespaceSerializer.INSTANCE, descriptor);
    }

    final Object changeBound(
            AbstractKeyedStateBackend<Integer> backend,
            @Nullable Object held,
            Random random,
            long now)
            throws Exception {
        return change(bind(backend), held, random, now);
    }

    final String readBound(AbstractKeyedStateBackend<Integer> backend) throws Exception {
        return read(bind(backend));
    }

    /** Whether a value written at this time has not expired. */
    final boolean lives(Timed<?> timed, long now) {
        return !expires || timed.time + TTL_MS > now;
    }

    /** Mostly small texts; some that go to separate value files, some that fill a memtable. */
    static String text(Random random) {
        int size = random.nextInt(30);
        switch (random.nextInt(12)) {
            case 0:
                size = 3000 + random.nextInt(3000);
                break;
            case 1:
            case 2:
                size = 100 + random.nextInt(600);
                break;
            default:
                break;
        }
        StringBuilder text = new StringBuilder(size + 6).append(random.nextInt(100_000));
        while (text.length() < size) {
            text.append((char) ('!' + random.nextInt(90)));
        }
        return text.toString();
    }

    /** A value with the time at which it was written. */
    static final class Timed<T> {
        final T value;
        final long time;

        Timed(@Nullable T value, long time) {
            this.value = value;
            this.time = time;
        }
    }

    private static final class OfValue extends ModelledState<ValueState<String>> {
        OfValue(String name, boolean expires) {
            super(new ValueStateDescriptor<>(name, StringSerializer.INSTANCE), expires);
        }

        @Override
        Object change(ValueState<String> state, Object held, Random random, long now)
                throws Exception {
            if (random.nextInt(5) == 0) {
                state.clear();
                return null;
            }
            String text = text(random);
            state.update(text);
            return new Timed<>(text, now);
        }

        @Override
        String read(ValueState<String> state) throws Exception {
            return String.valueOf(state.value());
        }

        @Override
        String expected(Object held, long now) {
            Timed<?> timed = (Timed<?>) held;
            return held == null || !lives(timed, now) ? "null" : timed.value.toString();
        }
    }

    private static final class OfList extends ModelledState<ListState<String>> {
        OfList(String name, boolean expires) {
            super(new ListStateDescriptor<>(name, StringSerializer.INSTANCE), expires);
        }

        @Override
        @SuppressWarnings("unchecked")
        Object change(ListState<String> state, Object held, Random random, long now)
                throws Exception {
            List<Timed<String>> after = new ArrayList<>();
            int what = random.nextInt(8);
            if (what == 0) {
                state.clear();
                return null;
            }
            if (what > 1 && held != null) {
                after.addAll((List<Timed<String>>) held);
            }
            if (what <= 2) {
                List<String> several = List.of(text(random), ",", text(random));
                if (what == 1) {
                    state.update(several);
                } else {
                    state.addAll(several);
                }
                several.forEach(one -> after.add(new Timed<>(one, now)));
            } else {
                String one = text(random);
                state.add(one);
                after.add(new Timed<>(one, now));
            }
            return after;
        }

        @Override
        String read(ListState<String> state) throws Exception {
            List<String> elements = new ArrayList<>();
            Iterable<String> stored = state.get();
            if (stored != null) {
                stored.forEach(elements::add);
            }
            return elements.toString();
        }

        @Override
        @SuppressWarnings("unchecked")
        String expected(Object held, long now) {
            return held == null
                    ? "[]"
                    : ((List<Timed<String>>) held)
                            .stream()
                                    .filter(timed -> lives(timed, now))
                                    .map(timed -> timed.value)
                                    .collect(Collectors.toList())
                                    .toString();
        }
    }

    private static final class OfMap extends ModelledState<MapState<Integer, String>> {
        OfMap(String name, boolean expires) {
            super(
                    new MapStateDescriptor<>(
                            name, IntSerializer.INSTANCE, StringSerializer.INSTANCE),
                    expires);
        }

        @Override
        @SuppressWarnings("unchecked")
        Object change(MapState<Integer, String> state, Object held, Random random, long now)
                throws Exception {
            TreeMap<Integer, Timed<String>> after = new TreeMap<>();
            if (held != null) {
                after.putAll((Map<Integer, Timed<String>>) held);
            }
            int key = random.nextInt(12) - 6;
            switch (random.nextInt(8)) {
                case 0:
                    state.clear();
                    return null;
                case 1:
                    state.remove(key);
                    after.remove(key);
                    return after;
                case 2:
                    Map<Integer, String> several = new HashMap<>();
                    several.put(key, text(random));
                    several.put(key + 1, null);
                    state.putAll(several);
                    several.forEach((k, value) -> after.put(k, new Timed<>(value, now)));
                    return after;
                default:
                    String value = text(random);
                    state.put(key, value);
                    after.put(key, new Timed<>(value, now));
                    return after;
            }
        }

        @Override
        String read(MapState<Integer, String> state) throws Exception {
            TreeMap<Integer, String> entries = new TreeMap<>();
            for (Map.Entry<Integer, String> entry : state.entries()) {
                entries.put(entry.getKey(), entry.getValue());
            }
            return entries.toString();
        }

        @Override
        @SuppressWarnings("unchecked")
        String expected(Object held, long now) {
            TreeMap<Integer, String> entries = new TreeMap<>();
            if (held != null) {
                ((Map<Integer, Timed<String>>) held)
                        .forEach(
                                (key, timed) -> {
                                    if (lives(timed, now)) {
                                        entries.put(key, timed.value);
                                    }
                                });
            }
            return entries.toString();
        }
    }

    private static final class OfSum extends ModelledState<ReducingState<Long>> {
        OfSum(String name, boolean expires) {
            super(new ReducingStateDescriptor<>(name, Long::sum, LongSerializer.INSTANCE), expires);
        }

        @Override
        Object change(ReducingState<Long> state, Object held, Random random, long now)
                throws Exception {
            if (random.nextInt(6) == 0) {
                state.clear();
                return null;
            }
            Timed<?> before = (Timed<?>) held;
            long added = random.nextInt(1000);
            state.add(added);
            boolean goesOn = before != null && lives(before, now);
            return new Timed<>(added + (goesOn ? (Long) before.value : 0), now);
        }

        @Override
        String read(ReducingState<Long> state) throws Exception {
            return String.valueOf(state.get());
        }

        @Override
        String expected(Object held, long now) {
            Timed<?> timed = (Timed<?>) held;
            return held == null || !lives(timed, now) ? "null" : timed.value.toString();
        }
    }

    private static final class OfText extends ModelledState<AggregatingState<String, String>> {
        OfText(String name, boolean expires) {
            super(
                    new AggregatingStateDescriptor<>(name, new Joiner(), StringSerializer.INSTANCE),
                    expires);
        }

        @Override
        Object change(AggregatingState<String, String> state, Object held, Random random, long now)
                throws Exception {
            Timed<?> before = (Timed<?>) held;
            if (random.nextInt(6) == 0) {
                state.clear();
                return null;
            }
            String added = text(random);
            state.add(added);
            boolean goesOn = before != null && lives(before, now);
            return new Timed<>((goesOn ? before.value : "") + added, now);
        }

        @Override
        String read(AggregatingState<String, String> state) throws Exception {
            return String.valueOf(state.get());
        }

        @Override
        String expected(Object held, long now) {
            Timed<?> timed = (Timed<?>) held;
            return held == null || !lives(timed, now) ? "null" : "=" + timed.value;
        }
    }

    /** An aggregation whose accumulator is the concatenated input. */
    private static final class Joiner implements AggregateFunction<String, String, String> {

        private static final long serialVersionUID = 1L;

        @Override
        public String createAccumulator() {
            return "";
        }

        @Override
        public String add(String value, String accumulator) {
            return accumulator + value;
        }

        @Override
        public String getResult(String accumulator) {
            return "=" + accumulator;
        }

        @Override
        public String merge(String a, String b) {
            return a + b;
        }
    }

    /** A value for each of a few namespaces. */
    private static final class OfWindows extends ModelledState<ValueState<String>> {

        private static final int WINDOWS = 3;

        OfWindows(String name) {
            super(new ValueStateDescriptor<>(name, StringSerializer.INSTANCE), false);
        }

        /** A placeholder for all namespaces; {@link Windows} binds the right one. */
        @Override
        ValueState<String> bind(AbstractKeyedStateBackend<Integer> backend) throws Exception {
            return new Windows(backend, descriptor);
        }

        @Override
        @SuppressWarnings("unchecked")
        Object change(ValueState<String> state, Object held, Random random, long now)
                throws Exception {
            TreeMap<Integer, String> after = new TreeMap<>();
            if (held != null) {
                after.putAll((Map<Integer, String>) held);
            }
            int window = random.nextInt(WINDOWS);
            ValueState<String> one = ((Windows) state).of(window);
            if (random.nextInt(4) == 0) {
                one.clear();
                after.remove(window);
            } else {
                String text = text(random);
                one.update(text);
                after.put(window, text);
            }
            return after;
        }

        @Override
        String read(ValueState<String> state) throws Exception {
            TreeMap<Integer, String> all = new TreeMap<>();
            for (int window = 0; window < WINDOWS; window++) {
                String value = ((Windows) state).of(window).value();
                if (value != null) {
                    all.put(window, value);
                }
            }
            return all.toString();
        }

        @Override
        String expected(Object held, long now) {
            return held == null ? "{}" : held.toString();
        }
    }

    /** Returns the state of one namespace at a time. */
    private static final class Windows implements ValueState<String> {
        private final AbstractKeyedStateBackend<Integer> backend;
        private final StateDescriptor<ValueState<String>, ?> descriptor;

        Windows(
                AbstractKeyedStateBackend<Integer> backend,
                StateDescriptor<ValueState<String>, ?> descriptor)
                throws Exception {
            this.backend = backend;
            this.descriptor = descriptor;
            of(0);
        }

        ValueState<String> of(int window) throws Exception {
            return backend.getPartitionedState(window, IntSerializer.INSTANCE, descriptor);
        }

        @Override
        public String value() {
            throw new UnsupportedOperationException();
        }

        @Override
        public void update(String value) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void clear() {
            throw new UnsupportedOperationException();
        }
    }
}
