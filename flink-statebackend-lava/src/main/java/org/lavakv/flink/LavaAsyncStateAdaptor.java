// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink;

import java.io.IOException;
import javax.annotation.Nonnull;
import org.apache.flink.api.common.state.State;
import org.apache.flink.api.common.state.v2.StateDescriptor;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.internal.InternalAggregatingState;
import org.apache.flink.runtime.state.internal.InternalListState;
import org.apache.flink.runtime.state.internal.InternalMapState;
import org.apache.flink.runtime.state.internal.InternalReducingState;
import org.apache.flink.runtime.state.internal.InternalValueState;
import org.apache.flink.runtime.state.v2.StateDescriptorUtils;
import org.apache.flink.runtime.state.v2.adaptor.AggregatingStateAdaptor;
import org.apache.flink.runtime.state.v2.adaptor.AsyncKeyedStateBackendAdaptor;
import org.apache.flink.runtime.state.v2.adaptor.ListStateAdaptor;
import org.apache.flink.runtime.state.v2.adaptor.ReducingStateAdaptor;
import org.apache.flink.runtime.state.v2.adaptor.ValueStateAdaptor;
import org.apache.flink.runtime.state.v2.internal.InternalKeyedState;

/**
 * Flink's adaptor from asynchronous state to a keyed backend, with three additions: it passes a
 * state's TTL on; its map iterators show the map as of the call that asked for them ({@link
 * LavaMapStateAdaptor}); and it closes and disposes the wrapped backend, whose native memory and
 * local files would otherwise leak.
 *
 * <p>Threads: as Flink calls it. Ownership: owns the backend.
 */
final class LavaAsyncStateAdaptor<K> extends AsyncKeyedStateBackendAdaptor<K> {

    private final AbstractKeyedStateBackend<K> backend;

    LavaAsyncStateAdaptor(AbstractKeyedStateBackend<K> backend) {
        super(backend);
        this.backend = backend;
    }

    @Nonnull
    @Override
    @SuppressWarnings({"unchecked", "rawtypes"})
    public <N, S extends InternalKeyedState, SV> S createStateInternal(
            @Nonnull N defaultNamespace,
            @Nonnull TypeSerializer<N> namespaceSerializer,
            @Nonnull StateDescriptor<SV> descriptor)
            throws Exception {
        org.apache.flink.api.common.state.StateDescriptor synchronous =
                StateDescriptorUtils.transformFromV2ToV1(descriptor);
        if (descriptor.getTtlConfig().isEnabled()) {
            synchronous.enableTimeToLive(descriptor.getTtlConfig());
        }
        State state =
                backend.getPartitionedState(defaultNamespace, namespaceSerializer, synchronous);
        switch (synchronous.getType()) {
            case VALUE:
                return (S) new ValueStateAdaptor((InternalValueState) state);
            case LIST:
                return (S) new ListStateAdaptor((InternalListState) state);
            case MAP:
                return (S) new LavaMapStateAdaptor((InternalMapState) state);
            case REDUCING:
                return (S) new ReducingStateAdaptor((InternalReducingState) state);
            case AGGREGATING:
                return (S) new AggregatingStateAdaptor((InternalAggregatingState) state);
            default:
                throw new UnsupportedOperationException(
                        "State of type " + synchronous.getType() + " is not supported by Lava.");
        }
    }

    @Override
    public void dispose() {
        super.dispose();
        backend.dispose();
    }

    @Override
    public void close() throws IOException {
        super.close();
        backend.close();
    }
}
