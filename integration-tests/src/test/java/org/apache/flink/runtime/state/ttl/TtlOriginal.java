// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.apache.flink.runtime.state.ttl;

import org.apache.flink.api.common.state.State;
import org.apache.flink.runtime.state.internal.InternalKvState;

/** Unwraps Flink's wrapper for TTL, which is only possible from this package. */
public final class TtlOriginal {

    private TtlOriginal() {}

    /** The state that a backend itself created, with or without a TTL wrapper around it. */
    @SuppressWarnings("unchecked")
    public static InternalKvState<Object, Object, Object> of(State state) {
        Object original =
                state instanceof AbstractTtlDecorator
                        ? ((AbstractTtlDecorator<?>) state).original
                        : state;
        return (InternalKvState<Object, Object, Object>) original;
    }
}
