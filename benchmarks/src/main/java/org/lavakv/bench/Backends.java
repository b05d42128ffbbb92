package org.lavakv.bench;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.Comparator;
import java.util.stream.Stream;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.StateBackendOptions;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.metrics.groups.UnregisteredMetricsGroup;
import org.apache.flink.runtime.operators.testutils.MockEnvironment;
import org.apache.flink.runtime.operators.testutils.MockEnvironmentBuilder;
import org.apache.flink.runtime.query.KvStateRegistry;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyedStateBackendParametersImpl;
import org.apache.flink.runtime.state.StateBackend;
import org.apache.flink.runtime.state.StateBackendLoader;
import org.apache.flink.runtime.state.ttl.TtlTimeProvider;
import org.apache.flink.runtime.taskmanager.TaskManagerRuntimeInfo;
import org.apache.flink.runtime.util.TestingTaskManagerRuntimeInfo;

/**
 * Creates keyed backends the way a task does: through {@link StateBackendLoader} and {@link
 * StateBackend#createKeyedStateBackend}, each with the same managed memory.
 */
final class Backends {
    private static final int KEY_GROUPS = 128;

    private Backends() {}

    /**
     * One open backend with what it lives in. One thread. Closing frees the backend, its memory and
     * its directory.
     */
    static final class Open<K> implements AutoCloseable {
        final AbstractKeyedStateBackend<K> backend;
        private final MockEnvironment environment;
        private final Path directory;

        private Open(
                AbstractKeyedStateBackend<K> backend, MockEnvironment environment, Path directory) {
            this.backend = backend;
            this.environment = environment;
            this.directory = directory;
        }

        @Override
        public void close() throws Exception {
            backend.dispose();
            environment.close();
            deleteRecursively(directory);
        }
    }

    /**
     * @param type the value of {@code state.backend.type}
     * @param memoryBytes managed memory of the slot, all of it the backend's
     */
    static <K> Open<K> open(String type, TypeSerializer<K> keySerializer, long memoryBytes)
            throws Exception {
        Path directory = Files.createTempDirectory("lava-bench");
        Configuration configuration = new Configuration();
        configuration.set(StateBackendOptions.STATE_BACKEND, type);
        configuration.set(CheckpointingOptions.INCREMENTAL_CHECKPOINTS, true);
        TaskManagerRuntimeInfo runtimeInfo =
                new TestingTaskManagerRuntimeInfo(configuration, new File(directory.toString()));
        MockEnvironment environment =
                new MockEnvironmentBuilder()
                        .setTaskName("bench")
                        .setManagedMemorySize(memoryBytes)
                        .setMaxParallelism(KEY_GROUPS)
                        .setTaskManagerRuntimeInfo(runtimeInfo)
                        .build();
        ClassLoader classLoader = Thread.currentThread().getContextClassLoader();
        StateBackend stateBackend =
                StateBackendLoader.loadStateBackendFromConfig(configuration, classLoader, null);
        KeyedStateBackendParametersImpl<K> parameters =
                new KeyedStateBackendParametersImpl<>(
                        environment,
                        new JobID(),
                        "bench",
                        keySerializer,
                        KEY_GROUPS,
                        KeyGroupRange.of(0, KEY_GROUPS - 1),
                        new KvStateRegistry()
                                .createTaskRegistry(new JobID(), environment.getJobVertexId()),
                        TtlTimeProvider.DEFAULT,
                        new UnregisteredMetricsGroup(),
                        (name, value) -> {},
                        Collections.emptyList(),
                        new CloseableRegistry(),
                        1.0);
        @SuppressWarnings("unchecked")
        AbstractKeyedStateBackend<K> backend =
                (AbstractKeyedStateBackend<K>) stateBackend.<K>createKeyedStateBackend(parameters);
        return new Open<>(backend, environment, directory);
    }

    private static void deleteRecursively(Path directory) throws IOException {
        try (Stream<Path> paths = Files.walk(directory)) {
            for (Path path : (Iterable<Path>) paths.sorted(Comparator.reverseOrder())::iterator) {
                Files.delete(path);
            }
        }
    }
}
