// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.conformance;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.CheckpointStorage;
import org.apache.flink.runtime.state.StateBackendMigrationTestBase;
import org.apache.flink.runtime.state.storage.FileSystemCheckpointStorage;
import org.apache.flink.testutils.junit.extensions.parameterized.Parameter;
import org.apache.flink.testutils.junit.extensions.parameterized.ParameterizedTestExtension;
import org.apache.flink.testutils.junit.extensions.parameterized.Parameters;
import org.apache.flink.util.IOUtils;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.lavakv.flink.LavaStateBackend;

/** Flink's conformance suite of migrations to new serializers. */
@ExtendWith(ParameterizedTestExtension.class)
class LavaMigrationTest extends StateBackendMigrationTestBase<LavaStateBackend> {

    @Parameters(name = "incremental={0}")
    static List<Boolean> parameters() {
        return Arrays.asList(true, false);
    }

    @Parameter boolean incremental;

    @TempDir Path checkpoints;
    private final List<AbstractKeyedStateBackend<?>> created = new ArrayList<>();

    @Override
    protected LavaStateBackend getStateBackend() {
        return new LavaStateBackend(incremental) {
            private static final long serialVersionUID = 1L;

            @Override
            public <K> AbstractKeyedStateBackend<K> createKeyedStateBackend(
                    KeyedStateBackendParameters<K> parameters) throws IOException {
                AbstractKeyedStateBackend<K> backend = super.createKeyedStateBackend(parameters);
                created.add(backend);
                return backend;
            }
        };
    }

    /** Flink's tests that expect an error leave backends open. */
    @AfterEach
    void dispose() {
        for (AbstractKeyedStateBackend<?> backend : created) {
            IOUtils.closeQuietly(backend);
            backend.dispose();
        }
        created.clear();
    }

    @Override
    protected CheckpointStorage getCheckpointStorage() throws Exception {
        return new FileSystemCheckpointStorage(checkpoints.toUri());
    }
}
