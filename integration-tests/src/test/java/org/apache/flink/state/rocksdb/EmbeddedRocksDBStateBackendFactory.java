package org.apache.flink.state.rocksdb;

import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.runtime.state.StateBackend;
import org.apache.flink.runtime.state.StateBackendFactory;
import org.lavakv.flink.it.CountedLava;

/**
 * Stands before Flink's class of this name on the test class path, so that Flink's own end-to-end
 * tests, which know only built-in backends by name, run on Lava when they say {@code rocksdb}.
 * Tests that construct RocksDB's backend themselves still get RocksDB.
 */
public class EmbeddedRocksDBStateBackendFactory implements StateBackendFactory<StateBackend> {

    @Override
    public StateBackend createFromConfig(ReadableConfig config, ClassLoader classLoader) {
        return new CountedLava(config, classLoader);
    }
}
