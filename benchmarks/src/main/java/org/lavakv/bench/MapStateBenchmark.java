// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.bench;

import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.infra.Blackhole;

/** Map state with {@link #ENTRIES} entries for each key. */
public class MapStateBenchmark extends StateBenchmark {
    static final int ENTRIES = 10;

    private MapState<Long, Object> state;
    private Map<Long, Object> tenEntries;

    @Setup
    public void setUp() throws Exception {
        state =
                openState(
                        new MapStateDescriptor<>(
                                "map", LongSerializer.INSTANCE, valueSerializer()));
        tenEntries = new HashMap<>();
        for (long i = 0; i < ENTRIES; i++) {
            tenEntries.put(i, nextValue());
        }
        for (long key = 0; key < keys; key++) {
            setKey(key);
            for (long i = 0; i < ENTRIES; i++) {
                state.put(i, nextValue());
            }
        }
        filled();
    }

    private long userKey() {
        return (nextRandom() >>> 1) % ENTRIES;
    }

    @Benchmark
    public Object get() throws Exception {
        setKnownKey();
        return state.get(userKey());
    }

    @Benchmark
    public void put() throws Exception {
        setKnownKey();
        state.put(userKey(), nextValue());
    }

    @Benchmark
    public void add() throws Exception {
        setNewKey();
        state.put(userKey(), nextValue());
    }

    /** Half of the requested user keys exist. */
    @Benchmark
    public boolean contains() throws Exception {
        setKnownKey();
        return state.contains((nextRandom() >>> 1) % (2 * ENTRIES));
    }

    @Benchmark
    public boolean isEmpty() throws Exception {
        setKnownKey();
        return state.isEmpty();
    }

    @Benchmark
    public void keys(Blackhole blackhole) throws Exception {
        setKnownKey();
        for (Long key : state.keys()) {
            blackhole.consume(key);
        }
    }

    @Benchmark
    public void values(Blackhole blackhole) throws Exception {
        setKnownKey();
        for (Object value : state.values()) {
            blackhole.consume(value);
        }
    }

    @Benchmark
    public void entries(Blackhole blackhole) throws Exception {
        setKnownKey();
        for (Map.Entry<Long, Object> entry : state.entries()) {
            blackhole.consume(entry.getKey());
            blackhole.consume(entry.getValue());
        }
    }

    @Benchmark
    public void iterator(Blackhole blackhole) throws Exception {
        setKnownKey();
        Iterator<Map.Entry<Long, Object>> entries = state.iterator();
        while (entries.hasNext()) {
            Map.Entry<Long, Object> entry = entries.next();
            blackhole.consume(entry.getKey());
            blackhole.consume(entry.getValue());
        }
    }

    /** Removes an entry, and puts it again so that the state does not change. */
    @Benchmark
    public void removeAndPut() throws Exception {
        setKnownKey();
        long userKey = userKey();
        state.remove(userKey);
        state.put(userKey, nextValue());
    }

    @Benchmark
    public void remove() throws Exception {
        setKnownKey();
        state.remove(userKey());
    }

    @Benchmark
    public void putAll() throws Exception {
        setKnownKey();
        state.putAll(tenEntries);
    }
}
