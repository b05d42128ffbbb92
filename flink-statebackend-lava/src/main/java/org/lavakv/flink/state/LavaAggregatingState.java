// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.state;

import java.io.IOException;
import org.apache.flink.api.common.functions.AggregateFunction;
import org.apache.flink.runtime.state.internal.InternalAggregatingState;
import org.lavakv.flink.engine.StateContext;

/**
 * {@link org.apache.flink.api.common.state.AggregatingState} on the engine: one record for each
 * key.
 */
final class LavaAggregatingState<K, N, IN, ACC, OUT>
        extends AbstractLavaMergingState<K, N, IN, ACC, OUT>
        implements InternalAggregatingState<K, N, IN, ACC, OUT> {

    private AggregateFunction<IN, ACC, OUT> aggregateFunction;

    LavaAggregatingState(StateContext<K> context) {
        super(context);
    }

    void setAggregateFunction(AggregateFunction<IN, ACC, OUT> aggregateFunction) {
        this.aggregateFunction = aggregateFunction;
    }

    @Override
    public OUT get() throws IOException {
        ACC accumulator = getInternal();
        return accumulator == null ? null : aggregateFunction.getResult(accumulator);
    }

    @Override
    public void add(IN value) throws IOException {
        ACC accumulator = getInternal();
        if (accumulator == null) {
            accumulator = aggregateFunction.createAccumulator();
        }
        updateInternal(aggregateFunction.add(value, accumulator));
    }

    @Override
    ACC merge(ACC left, ACC right) {
        return aggregateFunction.merge(left, right);
    }
}
