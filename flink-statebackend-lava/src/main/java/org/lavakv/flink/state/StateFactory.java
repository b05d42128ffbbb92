// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.state;

import java.util.HashMap;
import java.util.Map;
import org.apache.flink.api.common.state.AggregatingStateDescriptor;
import org.apache.flink.api.common.state.ReducingStateDescriptor;
import org.apache.flink.api.common.state.State;
import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.util.FlinkRuntimeException;
import org.lavakv.flink.engine.StateContext;
import org.lavakv.flink.engine.StateTable;

/**
 * Creates the state objects of one backend, one for each name, and updates them when the state is
 * registered again.
 *
 * <p>Threads: the task's thread.
 */
public final class StateFactory<K> {

    private final StateContext<K> context;
    private final Map<String, AbstractLavaState<K, ?, ?>> states = new HashMap<>();

    public StateFactory(StateContext<K> context) {
        this.context = context;
    }

    /**
     * The state with the descriptor's name, on the given table, with the descriptor's functions.
     */
    @SuppressWarnings("unchecked")
    public <N, SV, S extends State, IS extends S> IS createOrUpdate(
            StateDescriptor<S, SV> descriptor, StateTable table) {
        AbstractLavaState<K, N, SV> state =
                (AbstractLavaState<K, N, SV>) states.get(descriptor.getName());
        if (state == null) {
            state = create(descriptor);
        }
        if (state instanceof LavaReducingState) {
            ((LavaReducingState<K, N, SV>) state)
                    .setReduceFunction(
                            ((ReducingStateDescriptor<SV>) descriptor).getReduceFunction());
        } else if (state instanceof LavaAggregatingState) {
            ((LavaAggregatingState<K, N, Object, SV, Object>) state)
                    .setAggregateFunction(
                            ((AggregatingStateDescriptor<Object, SV, Object>) descriptor)
                                    .getAggregateFunction());
        }
        state.update(table, descriptor.getDefaultValue());
        states.put(descriptor.getName(), state);
        return (IS) state;
    }

    @SuppressWarnings("unchecked")
    private <N, SV> AbstractLavaState<K, N, SV> create(StateDescriptor<?, SV> descriptor) {
        AbstractLavaState<K, N, ?> state;
        switch (descriptor.getType()) {
            case VALUE:
                state = new LavaValueState<K, N, SV>(context);
                break;
            case LIST:
                state = new LavaListState<K, N, Object>(context);
                break;
            case MAP:
                state = new LavaMapState<K, N, Object, Object>(context);
                break;
            case REDUCING:
                state = new LavaReducingState<K, N, SV>(context);
                break;
            case AGGREGATING:
                state = new LavaAggregatingState<K, N, Object, SV, Object>(context);
                break;
            default:
                throw new FlinkRuntimeException(
                        String.format("State %s is not supported by Lava.", descriptor.getClass()));
        }
        return (AbstractLavaState<K, N, SV>) state;
    }

    /** Forgets all states. */
    public void clear() {
        states.clear();
    }
}
