// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.state;

import java.io.IOException;
import org.apache.flink.api.common.functions.ReduceFunction;
import org.apache.flink.runtime.state.internal.InternalReducingState;
import org.lavakv.flink.engine.StateContext;

/**
 * {@link org.apache.flink.api.common.state.ReducingState} on the engine: one record for each key.
 */
final class LavaReducingState<K, N, V> extends AbstractLavaMergingState<K, N, V, V, V>
        implements InternalReducingState<K, N, V> {

    private ReduceFunction<V> reduceFunction;

    LavaReducingState(StateContext<K> context) {
        super(context);
    }

    void setReduceFunction(ReduceFunction<V> reduceFunction) {
        this.reduceFunction = reduceFunction;
    }

    @Override
    public V get() throws IOException {
        return getInternal();
    }

    @Override
    public void add(V value) throws Exception {
        V current = getInternal();
        updateInternal(current == null ? value : reduceFunction.reduce(current, value));
    }

    @Override
    V merge(V left, V right) throws Exception {
        return reduceFunction.reduce(left, right);
    }
}
