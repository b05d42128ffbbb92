// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.bench;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.stream.Stream;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.metrics.groups.UnregisteredMetricsGroup;
import org.apache.flink.runtime.memory.MemoryManager;
import org.apache.flink.runtime.operators.testutils.MockEnvironment;
import org.apache.flink.runtime.operators.testutils.MockEnvironmentBuilder;
import org.apache.flink.runtime.query.KvStateRegistry;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyedStateBackendParametersImpl;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.LocalRecoveryConfig;
import org.apache.flink.runtime.state.LocalSnapshotDirectoryProvider;
import org.apache.flink.runtime.state.StateBackend;
import org.apache.flink.runtime.state.StateBackendLoader;
import org.apache.flink.runtime.state.TestTaskStateManager;
import org.apache.flink.runtime.state.ttl.TtlTimeProvider;
import org.apache.flink.runtime.taskmanager.TaskManagerRuntimeInfo;
import org.apache.flink.runtime.util.TestingTaskManagerRuntimeInfo;

/**
 * Creates keyed backends like a task does: with {@link StateBackendLoader} and {@link
 * StateBackend#createKeyedStateBackend}, each in a {@link Slot} with managed memory.
 */
final class Backends {
    /** The maximum parallelism, unless another one is set. */
    static final int KEY_GROUPS = 128;

    private static final String PREFIX = "lava-bench";

    private Backends() {}

    /**
     * Managed memory shared by the backends opened in it, like those of one slot. One thread. The
     * caller closes it after the backends, which it does not own.
     */
    static final class Slot implements AutoCloseable {
        private final MemoryManager memory;

        Slot(long memoryBytes) {
            memory = MemoryManager.create(memoryBytes, MemoryManager.DEFAULT_PAGE_SIZE);
        }

        @Override
        public void close() {
            boolean empty = memory.verifyEmpty();
            memory.shutdown();
            if (!empty) {
                throw new IllegalStateException("A backend did not give its managed memory back");
            }
        }
    }

    /**
     * One open backend with its resources. One thread. Closing frees the backend, its directory
     * and, if it was opened without a slot, its slot.
     */
    static final class Open<K> implements AutoCloseable {
        final AbstractKeyedStateBackend<K> backend;

        /** Time of Flink's call that creates and restores the backend. */
        final long createNanos;

        private final MockEnvironment environment;
        private final Path directory;
        private final Slot own;

        private Open(
                AbstractKeyedStateBackend<K> backend,
                long createNanos,
                MockEnvironment environment,
                Path directory,
                Slot own) {
            this.backend = backend;
            this.createNanos = createNanos;
            this.environment = environment;
            this.directory = directory;
            this.own = own;
        }

        @Override
        public void close() throws Exception {
            backend.dispose();
            // Closing the environment would release memory that other backends still use.
            environment.getIOManager().close();
            if (own != null) {
                own.close();
            }
            deleteRecursively(directory);
        }
    }

    /**
     * A backend in its own slot.
     *
     * @param configuration names the backend in {@code state.backend.type}
     * @param memoryBytes managed memory of the slot, all of it for the backend
     */
    static <K> Open<K> open(
            Configuration configuration, TypeSerializer<K> keySerializer, long memoryBytes)
            throws Exception {
        Slot slot = new Slot(memoryBytes);
        Path directory = Files.createTempDirectory(PREFIX);
        return new Opening<>(configuration, keySerializer, slot, directory).open(directory, slot);
    }

    /**
     * A backend in the caller's slot.
     *
     * @param configuration names the backend in {@code state.backend.type}
     * @param parent the parent of the backend's directory
     */
    static <K> Open<K> open(
            Configuration configuration, TypeSerializer<K> keySerializer, Slot slot, Path parent)
            throws Exception {
        return new Opening<>(configuration, keySerializer, slot, parent).open();
    }

    /** Options for opening a backend in the caller's slot. One thread. */
    static final class Opening<K> {
        private final Configuration chosen;
        private final TypeSerializer<K> keySerializer;
        private final Slot slot;
        private final Path parent;
        private int maxParallelism = KEY_GROUPS;
        private KeyGroupRange keyGroups = KeyGroupRange.of(0, KEY_GROUPS - 1);
        private Collection<KeyedStateHandle> restored = Collections.emptyList();
        private LocalRecoveryConfig localRecovery =
                LocalRecoveryConfig.BACKUP_AND_RECOVERY_DISABLED;

        /**
         * @param chosen names the backend in {@code state.backend.type}
         * @param parent the parent of the backend's directory
         */
        Opening(Configuration chosen, TypeSerializer<K> keySerializer, Slot slot, Path parent) {
            this.chosen = chosen;
            this.keySerializer = keySerializer;
            this.slot = slot;
            this.parent = parent;
        }

        /** Replaces {@link #KEY_GROUPS}; the backend has all key groups. */
        Opening<K> maxParallelism(int number) {
            maxParallelism = number;
            return keyGroups(KeyGroupRange.of(0, number - 1));
        }

        /** Limits the backend to these key groups. */
        Opening<K> keyGroups(KeyGroupRange range) {
            keyGroups = range;
            return this;
        }

        /** Restores state from these handles. */
        Opening<K> restoring(Collection<KeyedStateHandle> handles) {
            restored = handles;
            return this;
        }

        /** Also keeps local copies of checkpoints there. */
        Opening<K> localCopies(LocalSnapshotDirectoryProvider directories) {
            localRecovery = LocalRecoveryConfig.backupAndRecoveryEnabled(directories);
            return this;
        }

        Open<K> open() throws Exception {
            return open(Files.createTempDirectory(parent, PREFIX), null);
        }

        private Open<K> open(Path directory, Slot own) throws Exception {
            Configuration configuration = new Configuration();
            configuration.set(CheckpointingOptions.INCREMENTAL_CHECKPOINTS, true);
            configuration.addAll(chosen);
            TaskManagerRuntimeInfo runtimeInfo =
                    new TestingTaskManagerRuntimeInfo(
                            configuration, new File(directory.toString()));
            MockEnvironment environment =
                    new MockEnvironmentBuilder()
                            .setTaskName("bench")
                            .setMemoryManager(slot.memory)
                            .setMaxParallelism(maxParallelism)
                            .setTaskManagerRuntimeInfo(runtimeInfo)
                            .setTaskStateManager(new TestTaskStateManager(localRecovery))
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
                            maxParallelism,
                            keyGroups,
                            new KvStateRegistry()
                                    .createTaskRegistry(new JobID(), environment.getJobVertexId()),
                            TtlTimeProvider.DEFAULT,
                            new UnregisteredMetricsGroup(),
                            (name, value) -> {},
                            restored,
                            new CloseableRegistry(),
                            1.0);
            long begin = System.nanoTime();
            @SuppressWarnings("unchecked")
            AbstractKeyedStateBackend<K> backend =
                    (AbstractKeyedStateBackend<K>)
                            stateBackend.<K>createKeyedStateBackend(parameters);
            long nanos = System.nanoTime() - begin;
            return new Open<>(backend, nanos, environment, directory, own);
        }
    }

    /** Removes a directory with its content. */
    static void deleteRecursively(Path directory) throws IOException {
        try (Stream<Path> paths = Files.walk(directory)) {
            for (Path path : (Iterable<Path>) paths.sorted(Comparator.reverseOrder())::iterator) {
                Files.delete(path);
            }
        }
    }
}
