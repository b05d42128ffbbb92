// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.history;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.annotation.Nullable;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.metrics.groups.UnregisteredMetricsGroup;
import org.apache.flink.runtime.jobgraph.JobVertexID;
import org.apache.flink.runtime.operators.testutils.MockEnvironment;
import org.apache.flink.runtime.operators.testutils.MockEnvironmentBuilder;
import org.apache.flink.runtime.query.KvStateRegistry;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyedStateBackendParametersImpl;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.LocalRecoveryConfig;
import org.apache.flink.runtime.state.LocalSnapshotDirectoryProviderImpl;
import org.apache.flink.runtime.state.StateObject.StateObjectSizeStatsCollector;
import org.apache.flink.runtime.state.TestTaskStateManager;
import org.apache.flink.streaming.api.operators.BackendRestorerProcedure;
import org.lavakv.flink.LavaKeyedStateBackend;
import org.lavakv.flink.LavaStateBackend;
import org.lavakv.flink.testing.BackendFixture;

/**
 * The machine of the subtasks of one job: their directories, their environments, and the local
 * copies of their checkpoints.
 *
 * <p>Threads: one. Ownership: everything below its directory.
 */
final class TaskManager implements AutoCloseable {

    private static final int MANAGED_BYTES = 32 << 20;

    private final Path root;
    private final int keyGroups;
    private final boolean localRecovery;
    private final LongSupplier time;
    private final Map<Integer, MockEnvironment> environments = new HashMap<>();
    private final LocalCopies localCopies = new LocalCopies();
    private final JobVertexID vertex = new JobVertexID();
    private JobID job = new JobID();

    TaskManager(Path root, int keyGroups, boolean localRecovery, LongSupplier time)
            throws IOException {
        this.root = root;
        this.keyGroups = keyGroups;
        this.localRecovery = localRecovery;
        this.time = time;
        Files.createDirectories(instances());
    }

    Path instances() {
        return root.resolve("instances");
    }

    JobVertexID vertex() {
        return vertex;
    }

    LocalCopies localCopies() {
        return localCopies;
    }

    /** Another job begins, without local copies. */
    void newJob() throws Exception {
        localCopies.clear();
        job = new JobID();
        for (MockEnvironment environment : environments.values()) {
            environment.close();
        }
        environments.clear();
    }

    private MockEnvironment environment(int subtask) {
        return environments.computeIfAbsent(
                subtask,
                index ->
                        new MockEnvironmentBuilder()
                                .setManagedMemorySize(MANAGED_BYTES)
                                .setTaskStateManager(
                                        TestTaskStateManager.builder()
                                                .setLocalRecoveryConfig(localRecovery(index))
                                                .build())
                                .build());
    }

    private LocalRecoveryConfig localRecovery(int subtask) {
        if (!localRecovery) {
            return LocalRecoveryConfig.BACKUP_AND_RECOVERY_DISABLED;
        }
        File[] directories = {root.resolve("local").toFile()};
        return new LocalRecoveryConfig(
                true,
                true,
                new LocalSnapshotDirectoryProviderImpl(directories, job, vertex, subtask));
    }

    /**
     * Creates a backend for a subtask.
     *
     * @param local the local copy of the restored checkpoint, tried first, or null
     * @param remote the restored checkpoint, or empty
     * @param cancel closing it cancels the restore
     */
    LavaKeyedStateBackend<Integer> create(
            LavaStateBackend lava,
            int subtask,
            KeyGroupRange range,
            @Nullable KeyedStateHandle local,
            Collection<KeyedStateHandle> remote,
            CloseableRegistry cancel)
            throws Exception {
        if (local == null) {
            return (LavaKeyedStateBackend<Integer>) create(lava, subtask, range, remote, cancel);
        }
        return (LavaKeyedStateBackend<Integer>)
                new BackendRestorerProcedure<AbstractKeyedStateBackend<Integer>, KeyedStateHandle>(
                                handles -> create(lava, subtask, range, handles, cancel),
                                cancel,
                                "subtask " + subtask)
                        .createAndRestore(
                                List.of(List.of(local), remote),
                                StateObjectSizeStatsCollector.create());
    }

    private AbstractKeyedStateBackend<Integer> create(
            LavaStateBackend lava,
            int subtask,
            KeyGroupRange range,
            Collection<KeyedStateHandle> handles,
            CloseableRegistry cancel)
            throws Exception {
        return lava.createKeyedStateBackend(
                new KeyedStateBackendParametersImpl<>(
                        environment(subtask),
                        job,
                        "operator",
                        IntSerializer.INSTANCE,
                        keyGroups,
                        range,
                        new KvStateRegistry().createTaskRegistry(job, vertex),
                        time::getAsLong,
                        new UnregisteredMetricsGroup(),
                        (name, value) -> {},
                        handles,
                        cancel,
                        1.0));
    }

    /** The directories of instances that are open, or that left files behind. */
    List<Path> instanceDirectories() throws IOException {
        try (Stream<Path> children = Files.list(instances())) {
            return children.filter(Files::isDirectory)
                    .filter(directory -> !directory.endsWith("lavafs-volumes"))
                    .sorted()
                    .collect(Collectors.toList());
        }
    }

    @Override
    public void close() throws Exception {
        localCopies.clear();
        for (MockEnvironment environment : environments.values()) {
            environment.close();
        }
        assertThat(instanceDirectories()).as("directories of instances").isEmpty();
        Path volumes = instances().resolve("lavafs-volumes");
        if (!localRecovery) {
            assertThat(leftEventually(volumes)).as("volumes that nobody uses").isEmpty();
        }
        assertThat(leftEventually(root.resolve("local"))).as("unused local copies").isEmpty();
    }

    /** Cancelled uploads need a moment to undo their work. Volumes stay for other instances. */
    private static List<Path> leftEventually(Path directory) throws InterruptedException {
        List<Path> left = List.of(directory);
        for (int i = 0; i < 1000 && !left.isEmpty(); i++) {
            if (i > 0) {
                Thread.sleep(5);
            }
            left =
                    Files.exists(directory)
                            ? BackendFixture.filesIn(directory).stream()
                                    .filter(file -> !isVolumeOfLocalCopies(file))
                                    .collect(Collectors.toList())
                            : List.of();
        }
        return left;
    }

    private static boolean isVolumeOfLocalCopies(Path file) {
        return file.toString().contains("/local/") && file.toString().contains("lavafs");
    }
}
