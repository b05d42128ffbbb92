package org.lavakv.flink.conformance;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.apache.flink.runtime.state.CheckpointStorage;
import org.apache.flink.runtime.state.StateBackendMigrationTestBase;
import org.apache.flink.runtime.state.storage.FileSystemCheckpointStorage;
import org.apache.flink.testutils.junit.extensions.parameterized.Parameter;
import org.apache.flink.testutils.junit.extensions.parameterized.ParameterizedTestExtension;
import org.apache.flink.testutils.junit.extensions.parameterized.Parameters;
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

    @Override
    protected LavaStateBackend getStateBackend() {
        return new LavaStateBackend(incremental);
    }

    @Override
    protected CheckpointStorage getCheckpointStorage() throws Exception {
        return new FileSystemCheckpointStorage(checkpoints.toUri());
    }
}
