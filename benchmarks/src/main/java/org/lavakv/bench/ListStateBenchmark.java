// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.bench;

import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.infra.Blackhole;

/**
 * List state: add (to a new key), append (to an existing one), get, get and iterate, update,
 * addAll. Every key starts with {@link #ELEMENTS} elements.
 */
public class ListStateBenchmark extends StateBenchmark {
    static final int ELEMENTS = 10;

    private ListState<Object> state;
    private List<Object> tenValues;

    @Setup
    public void setUp() throws Exception {
        state = openState(new ListStateDescriptor<>("list", valueSerializer()));
        tenValues = new ArrayList<>();
        for (int i = 0; i < ELEMENTS; i++) {
            tenValues.add(nextValue());
        }
        for (long key = 0; key < keys; key++) {
            setKey(key);
            for (int i = 0; i < ELEMENTS; i++) {
                state.add(tenValues.get(i));
            }
        }
        filled();
    }

    @Benchmark
    public void add() throws Exception {
        setNewKey();
        state.add(nextValue());
    }

    @Benchmark
    public void append() throws Exception {
        setKnownKey();
        state.add(nextValue());
    }

    @Benchmark
    public Object get() throws Exception {
        setKnownKey();
        return state.get();
    }

    @Benchmark
    public void getAndIterate(Blackhole blackhole) throws Exception {
        setKnownKey();
        for (Object value : state.get()) {
            blackhole.consume(value);
        }
    }

    @Benchmark
    public void update() throws Exception {
        setKnownKey();
        state.update(tenValues);
    }

    @Benchmark
    public void addAll() throws Exception {
        setKnownKey();
        state.addAll(tenValues);
    }
}
