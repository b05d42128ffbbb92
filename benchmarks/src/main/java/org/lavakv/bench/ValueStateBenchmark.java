// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.bench;

import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Setup;

/** Value state: get, update, add (a new key). */
public class ValueStateBenchmark extends StateBenchmark {
    private ValueState<Object> state;

    @Setup
    public void setUp() throws Exception {
        state = openState(new ValueStateDescriptor<>("value", valueSerializer()));
        for (long key = 0; key < keys; key++) {
            setKey(key);
            state.update(nextValue());
        }
        filled();
    }

    @Benchmark
    public Object get() throws Exception {
        setKnownKey();
        return state.value();
    }

    @Benchmark
    public void update() throws Exception {
        setKnownKey();
        state.update(nextValue());
    }

    @Benchmark
    public void add() throws Exception {
        setNewKey();
        state.update(nextValue());
    }
}
