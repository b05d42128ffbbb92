// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.conformance;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.state.CheckpointStorage;
import org.apache.flink.runtime.state.CheckpointableKeyedStateBackend;
import org.apache.flink.runtime.state.ConfigurableStateBackend;
import org.apache.flink.runtime.state.StateBackendTestBase;
import org.apache.flink.runtime.state.storage.FileSystemCheckpointStorage;
import org.apache.flink.runtime.state.storage.JobManagerCheckpointStorage;
import org.apache.flink.testutils.junit.extensions.parameterized.Parameter;
import org.apache.flink.testutils.junit.extensions.parameterized.ParameterizedTestExtension;
import org.apache.flink.testutils.junit.extensions.parameterized.Parameters;
import org.apache.flink.util.IOUtils;
import org.junit.jupiter.api.TestTemplate;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.lavakv.flink.LavaOptions;
import org.lavakv.flink.LavaStateBackend;

/** Flink's conformance suite of state backends. */
@ExtendWith(ParameterizedTestExtension.class)
class LavaStateBackendTest extends StateBackendTestBase<LavaStateBackend> {

    @Parameters(name = "incremental={0}, timers={1}")
    static List<Object[]> parameters() {
        return Arrays.asList(
                new Object[] {true, LavaOptions.TimerService.LAVA},
                new Object[] {false, LavaOptions.TimerService.LAVA});
    }

    @Parameter boolean incremental;

    @Parameter(1)
    LavaOptions.TimerService timers;

    @TempDir Path directory;
    private CheckpointableKeyedStateBackend<?> created;

    @Override
    protected ConfigurableStateBackend getStateBackend() {
        Configuration config = new Configuration();
        config.set(LavaOptions.TIMER_SERVICE_FACTORY, timers);
        configure(config);
        return new LavaStateBackend(incremental)
                .configure(config, Thread.currentThread().getContextClassLoader());
    }

    /** Adds further options. */
    void configure(Configuration config) {}

    @Override
    protected <K> CheckpointableKeyedStateBackend<K> createKeyedBackend(
            TypeSerializer<K> keySerializer) throws Exception {
        CheckpointableKeyedStateBackend<K> backend = super.createKeyedBackend(keySerializer);
        created = backend;
        return backend;
    }

    /** Flink's own test leaves its backend open. */
    @Override
    @TestTemplate
    public void testMapStateWithNullValue() throws Exception {
        try {
            super.testMapStateWithNullValue();
        } finally {
            IOUtils.closeQuietly(created);
            created.dispose();
        }
    }

    @Override
    protected CheckpointStorage getCheckpointStorage() throws Exception {
        return incremental
                ? new FileSystemCheckpointStorage(directory.toUri())
                : new JobManagerCheckpointStorage();
    }

    @Override
    protected boolean isSerializerPresenceRequiredOnRestore() {
        return false;
    }

    @Override
    protected boolean supportsAsynchronousSnapshots() {
        return true;
    }

    @Override
    protected boolean isSafeToReuseKVState() {
        return timers == LavaOptions.TimerService.LAVA;
    }
}
