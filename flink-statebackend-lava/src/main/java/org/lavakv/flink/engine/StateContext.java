// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.engine;

import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.runtime.state.InternalKeyContext;

/**
 * The objects that all states of a backend use: the instance, the current key, and the common part
 * of the serializers.
 *
 * <p>Threads: the task's thread, except for the getters of immutable objects ({@link #instance},
 * {@link #numberOfKeyGroups}, {@link #keyGroupPrefixBytes}). Ownership: the backend's.
 */
public final class StateContext<K> {

    private final LavaInstance instance;
    private final TypeSerializer<K> keySerializer;
    private final InternalKeyContext<K> keyContext;
    private final CompositeKeyBuilder<K> keys;
    private final EngineClock clock;

    public StateContext(
            LavaInstance instance,
            TypeSerializer<K> keySerializer,
            InternalKeyContext<K> keyContext,
            EngineClock clock) {
        this.instance = instance;
        this.keySerializer = keySerializer;
        this.keyContext = keyContext;
        this.clock = clock;
        this.keys = new CompositeKeyBuilder<>(keySerializer, instance.keyGroupPrefixBytes());
    }

    public LavaInstance instance() {
        return instance;
    }

    public TypeSerializer<K> keySerializer() {
        return keySerializer;
    }

    public int numberOfKeyGroups() {
        return keyContext.getNumberOfKeyGroups();
    }

    public int keyGroupPrefixBytes() {
        return instance.keyGroupPrefixBytes();
    }

    /** Flink's clock for TTL, which also informs the engine. */
    public EngineClock clock() {
        return clock;
    }

    /** The builder of all states' keys; it knows the current key. */
    public CompositeKeyBuilder<K> keys() {
        return keys;
    }
}
