// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.state;

import java.io.IOException;
import org.apache.flink.runtime.state.internal.InternalValueState;
import org.lavakv.flink.engine.StateContext;

/** {@link org.apache.flink.api.common.state.ValueState} on the engine: one record for each key. */
final class LavaValueState<K, N, V> extends AbstractLavaState<K, N, V>
        implements InternalValueState<K, N, V> {

    LavaValueState(StateContext<K> context) {
        super(context);
    }

    @Override
    public V value() throws IOException {
        int length = read();
        return length < 0 ? defaultValue() : valueSerializer.deserialize(reader.input(0, length));
    }

    @Override
    public void update(V value) throws IOException {
        if (value == null) {
            clear();
            return;
        }
        observe(value);
        out.clear();
        valueSerializer.serialize(value, out);
        write();
    }
}
