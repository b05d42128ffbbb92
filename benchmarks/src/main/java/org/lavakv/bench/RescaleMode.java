// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.bench;

import java.util.Map;

/** A backend with one of its modes of restoring. */
enum RescaleMode {
    LAVA("lava", "", Map.of()),
    /** Files of a checkpoint's directory are fetched while the state is already used. */
    LAVA_ON_DEMAND("lava", "on demand", Map.of("state.backend.lava.restore.on-demand", "true")),
    ROCKSDB("rocksdb", "", Map.of()),
    /** Rescaling to fewer subtasks clips the predecessors' databases and ingests their files. */
    ROCKSDB_INGEST(
            "rocksdb",
            "ingest",
            Map.of("state.backend.rocksdb.use-ingest-db-restore-mode", "true"));

    /** The value of {@code state.backend.type}. */
    final String backend;

    /** Follows the backend's name; empty for the default. */
    final String label;

    final Map<String, String> settings;

    /** Both modes of Lava adopt local files before anything else. */
    boolean differsWithLocalFiles() {
        return this != LAVA_ON_DEMAND;
    }

    RescaleMode(String backend, String label, Map<String, String> settings) {
        this.backend = backend;
        this.label = label;
        this.settings = settings;
    }
}
