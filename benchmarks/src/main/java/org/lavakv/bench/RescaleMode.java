package org.lavakv.bench;

import java.util.Map;

/** A way to restore that one of the backends can be told. */
enum RescaleMode {
    LAVA("lava", "", Map.of()),
    /** Files of a checkpoint's directory come while the state is used already. */
    LAVA_ON_DEMAND("lava", "on demand", Map.of("state.backend.lava.restore.on-demand", "true")),
    ROCKSDB("rocksdb", "", Map.of()),
    /** Scaling in clips the predecessors' databases and ingests their files. */
    ROCKSDB_INGEST(
            "rocksdb",
            "ingest",
            Map.of("state.backend.rocksdb.use-ingest-db-restore-mode", "true"));

    /** The value of {@code state.backend.type}. */
    final String backend;

    /** Behind the backend's name; empty for the default. */
    final String label;

    final Map<String, String> settings;

    /** Files that are local are adopted before anything else in either mode of Lava. */
    boolean differsWithLocalFiles() {
        return this != LAVA_ON_DEMAND;
    }

    RescaleMode(String backend, String label, Map<String, String> settings) {
        this.backend = backend;
        this.label = label;
        this.settings = settings;
    }
}
