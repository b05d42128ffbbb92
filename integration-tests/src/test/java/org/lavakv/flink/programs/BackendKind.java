// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.programs;

import java.nio.file.Path;
import java.util.Map;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.state.StateBackend;
import org.apache.flink.runtime.state.StateBackendLoader;

/**
 * A backend for a job, with the location of its timers. RocksDB with timers on the heap is omitted:
 * its own checkpoints leave the timers to the operator.
 */
enum BackendKind {
    HASHMAP("hashmap", true),
    ROCKSDB("rocksdb", false),
    LAVA("lava", false),
    LAVA_HEAP_TIMERS("lava", true);

    private static final Map<String, String> SMALL_ROCKSDB =
            Map.of(
                    "state.backend.rocksdb.memory.managed", "false",
                    "state.backend.rocksdb.writebuffer.size", "64kb",
                    "state.backend.rocksdb.compaction.level.target-file-size-base", "64kb",
                    "state.backend.rocksdb.compaction.level.max-size-level-base", "256kb");

    private final String type;
    private final boolean heapTimers;

    BackendKind(String type, boolean heapTimers) {
        this.type = type;
        this.heapTimers = heapTimers;
    }

    boolean isLava() {
        return type.equals("lava");
    }

    /** Whether timers are in Flink's own queue on the heap. */
    boolean hasHeapTimers() {
        return heapTimers;
    }

    /**
     * A backend of this kind.
     *
     * @param directory the directory of its files
     * @param lava options of Lava, unused for the others
     */
    StateBackend create(Path directory, boolean incremental, Map<String, String> lava)
            throws Exception {
        Configuration configuration = new Configuration();
        configuration.setString("state.backend.type", type);
        configuration.setString("execution.checkpointing.incremental", String.valueOf(incremental));
        configuration.setString("state.backend." + type + ".localdir", directory.toString());
        if (this != HASHMAP) {
            configuration.setString(
                    "state.backend." + type + ".timer-service.factory",
                    heapTimers ? "HEAP" : type.toUpperCase(java.util.Locale.ROOT));
        }
        (isLava() ? lava : SMALL_ROCKSDB).forEach(configuration::setString);
        return StateBackendLoader.loadStateBackendFromConfig(
                configuration, BackendKind.class.getClassLoader(), null);
    }
}
