// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.apache.flink.runtime.state.hashmap;

import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.runtime.state.StateBackendFactory;
import org.lavakv.flink.it.CountedLava;

/**
 * Replaces Flink's class of this name, because it comes first on the test class path. Works like
 * Flink's class unless a suite requests Lava: many of Flink's own end-to-end tests configure {@code
 * hashmap}, or nothing.
 */
public class HashMapStateBackendFactory implements StateBackendFactory<HashMapStateBackend> {

    private static volatile boolean lava;

    /** Sets whether {@code hashmap} in this JVM means Lava or Flink's backend. Threads: any. */
    public static void makeLava(boolean wanted) {
        lava = wanted;
    }

    @Override
    public HashMapStateBackend createFromConfig(ReadableConfig config, ClassLoader classLoader) {
        return lava
                ? new CountedLava(config, classLoader)
                : new HashMapStateBackend().configure(config, classLoader);
    }
}
