package org.apache.flink.runtime.state.ttl;

import org.apache.flink.api.common.state.State;
import org.apache.flink.runtime.state.internal.InternalKvState;

/** Reaches what is below Flink's wrapper for TTL: only this package may. */
public final class TtlOriginal {

    private TtlOriginal() {}

    /** The state that a backend itself made, whether TTL is wrapped around it or not. */
    @SuppressWarnings("unchecked")
    public static InternalKvState<Object, Object, Object> of(State state) {
        Object original =
                state instanceof AbstractTtlDecorator
                        ? ((AbstractTtlDecorator<?>) state).original
                        : state;
        return (InternalKvState<Object, Object, Object>) original;
    }
}
