// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.apache.flink.test.state;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.metrics.groups.UnregisteredMetricsGroup;
import org.apache.flink.runtime.operators.testutils.MockEnvironment;
import org.apache.flink.runtime.operators.testutils.MockEnvironmentBuilder;
import org.apache.flink.runtime.query.KvStateRegistry;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.CheckpointableKeyedStateBackend;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyedStateBackendParametersImpl;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.ttl.TtlTimeProvider;
import org.lavakv.flink.LavaOptions;
import org.lavakv.flink.LavaStateBackend;

/** Lava for Flink's test of switching backends by savepoints. Threads: one. */
final class LavaSpec implements BackendSwitchSpecs.BackendSwitchSpec {

    private static final long MANAGED_BYTES = 32L << 20;

    private final LavaOptions.TimerService timers;
    private MockEnvironment environment;
    private AbstractKeyedStateBackend<String> backend;

    LavaSpec(LavaOptions.TimerService timers) {
        this.timers = timers;
    }

    @Override
    public CheckpointableKeyedStateBackend<String> createBackend(
            KeyGroupRange keyGroupRange,
            int numKeyGroups,
            Collection<KeyedStateHandle> stateHandles)
            throws Exception {
        close();
        environment = new MockEnvironmentBuilder().setManagedMemorySize(MANAGED_BYTES).build();
        JobID job = new JobID();
        AbstractKeyedStateBackend<String> made =
                new LavaStateBackend()
                        .set(LavaOptions.TIMER_SERVICE_FACTORY, timers)
                        .set(LavaOptions.LOCAL_DIRECTORIES, newDirectory().toString())
                        .createKeyedStateBackend(
                                new KeyedStateBackendParametersImpl<>(
                                        environment,
                                        job,
                                        "operator",
                                        StringSerializer.INSTANCE,
                                        numKeyGroups,
                                        keyGroupRange,
                                        new KvStateRegistry()
                                                .createTaskRegistry(
                                                        job, environment.getJobVertexId()),
                                        TtlTimeProvider.DEFAULT,
                                        new UnregisteredMetricsGroup(),
                                        stateHandles,
                                        new CloseableRegistry()));
        backend = made;
        return made;
    }

    private static Path newDirectory() throws IOException {
        Path directory = Files.createTempDirectory("lava-switch");
        directory.toFile().deleteOnExit();
        return directory;
    }

    /** Disposes the backends: Flink's test only closes them, which frees nothing. */
    @Override
    public void close() throws Exception {
        if (backend != null) {
            backend.dispose();
            backend = null;
        }
        if (environment != null) {
            environment.close();
            environment = null;
        }
    }

    @Override
    public String toString() {
        return "LAVA with timers in " + timers;
    }
}
