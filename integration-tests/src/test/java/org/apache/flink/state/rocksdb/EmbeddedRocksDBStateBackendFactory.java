// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.apache.flink.state.rocksdb;

import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.runtime.state.StateBackend;
import org.apache.flink.runtime.state.StateBackendFactory;
import org.lavakv.flink.it.CountedLava;

/**
 * Replaces Flink's class of this name, because it comes first on the test class path. Flink's own
 * end-to-end tests can only name built-in backends, and thus run on Lava when they configure {@code
 * rocksdb}. Tests that construct RocksDB's backend themselves still get RocksDB.
 */
public class EmbeddedRocksDBStateBackendFactory implements StateBackendFactory<StateBackend> {

    @Override
    public StateBackend createFromConfig(ReadableConfig config, ClassLoader classLoader) {
        return new CountedLava(config, classLoader);
    }
}
