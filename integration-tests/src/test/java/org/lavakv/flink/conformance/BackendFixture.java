// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.conformance;

import java.nio.file.Path;
import java.util.Collections;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.metrics.groups.UnregisteredMetricsGroup;
import org.apache.flink.runtime.operators.testutils.MockEnvironment;
import org.apache.flink.runtime.query.KvStateRegistry;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyedStateBackendParametersImpl;
import org.apache.flink.runtime.state.ttl.TtlTimeProvider;
import org.lavakv.flink.LavaOptions;
import org.lavakv.flink.LavaStateBackend;

/** A keyed backend on Lava outside a job. Threads: one. Ownership: the test closes it. */
final class BackendFixture<K> implements AutoCloseable {

    private final MockEnvironment environment;
    private final AbstractKeyedStateBackend<K> backend;

    private BackendFixture(
            Path directory, TypeSerializer<K> keySerializer, KeyGroupRange keyGroupRange)
            throws Exception {
        environment = MockEnvironment.builder().setManagedMemorySize(32L << 20).build();
        backend =
                new LavaStateBackend()
                        .set(LavaOptions.LOCAL_DIRECTORIES, directory.toString())
                        .createKeyedStateBackend(
                                new KeyedStateBackendParametersImpl<>(
                                        environment,
                                        new JobID(),
                                        "operator",
                                        keySerializer,
                                        keyGroupRange.getNumberOfKeyGroups(),
                                        keyGroupRange,
                                        new KvStateRegistry()
                                                .createTaskRegistry(
                                                        new JobID(), environment.getJobVertexId()),
                                        TtlTimeProvider.DEFAULT,
                                        new UnregisteredMetricsGroup(),
                                        Collections.emptyList(),
                                        new CloseableRegistry()));
    }

    static BackendFixture<Integer> ofIntKeys(Path directory, KeyGroupRange keyGroupRange)
            throws Exception {
        return new BackendFixture<>(directory, IntSerializer.INSTANCE, keyGroupRange);
    }

    AbstractKeyedStateBackend<K> backend() {
        return backend;
    }

    @Override
    public void close() throws Exception {
        backend.dispose();
        environment.close();
    }
}
