// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.FileVisitor;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.RunnableFuture;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.State;
import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.core.fs.Path;
import org.apache.flink.core.fs.local.LocalFileSystem;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.metrics.groups.UnregisteredMetricsGroup;
import org.apache.flink.runtime.checkpoint.CheckpointOptions;
import org.apache.flink.runtime.checkpoint.SavepointType;
import org.apache.flink.runtime.jobgraph.JobVertexID;
import org.apache.flink.runtime.operators.testutils.MockEnvironment;
import org.apache.flink.runtime.operators.testutils.MockEnvironmentBuilder;
import org.apache.flink.runtime.query.KvStateRegistry;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.CheckpointStreamFactory;
import org.apache.flink.runtime.state.CheckpointStreamWithResultProvider;
import org.apache.flink.runtime.state.CheckpointedStateScope;
import org.apache.flink.runtime.state.FullSnapshotAsyncWriter;
import org.apache.flink.runtime.state.FullSnapshotResources;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.apache.flink.runtime.state.KeyedStateBackendParametersImpl;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.LocalRecoveryConfig;
import org.apache.flink.runtime.state.LocalSnapshotDirectoryProviderImpl;
import org.apache.flink.runtime.state.SavepointResources;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.StateBackend;
import org.apache.flink.runtime.state.TestTaskStateManager;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.apache.flink.runtime.state.filesystem.FsCheckpointStreamFactory;
import org.apache.flink.runtime.state.memory.MemCheckpointStreamFactory;
import org.apache.flink.runtime.state.ttl.TtlTimeProvider;
import org.lavakv.flink.LavaOptions;
import org.lavakv.flink.LavaOptions.FileSystemType;
import org.lavakv.flink.LavaStateBackend;

/**
 * Keyed backends of one job with {@value #KEY_GROUPS} key groups, a directory for their files and
 * one for their checkpoints. Keys are ints; there are a value, a list and a map state.
 *
 * <p>Threads: one. Ownership: closes the backends that it created.
 */
public final class BackendFixture implements AutoCloseable {

    public static final int KEY_GROUPS = 8;
    public static final KeyGroupRange ALL = KeyGroupRange.of(0, KEY_GROUPS - 1);
    public static final KeyGroupRange LOW = KeyGroupRange.of(0, KEY_GROUPS / 2 - 1);
    public static final KeyGroupRange HIGH = KeyGroupRange.of(KEY_GROUPS / 2, KEY_GROUPS - 1);

    public static final ValueStateDescriptor<String> VALUE =
            new ValueStateDescriptor<>("the-value", StringSerializer.INSTANCE);
    public static final ListStateDescriptor<Integer> LIST =
            new ListStateDescriptor<>("the-list", IntSerializer.INSTANCE);
    public static final MapStateDescriptor<String, Integer> MAP =
            new MapStateDescriptor<>("the-map", StringSerializer.INSTANCE, IntSerializer.INSTANCE);

    private static final int MANAGED_BYTES = 64 << 20;
    private static final int SAVEPOINT_BYTES_MAX = 512 << 20;
    private static final String VOLUMES = "lavafs-volumes";

    private static FileSystemType fileSystem = FileSystemType.POSIX;

    private final java.nio.file.Path root;
    private final CloseableRegistry cancel = new CloseableRegistry();
    private final List<AbstractKeyedStateBackend<Integer>> backends = new ArrayList<>();
    private final List<MockEnvironment> environments = new ArrayList<>();
    private LocalRecoveryConfig localRecovery = LocalRecoveryConfig.BACKUP_AND_RECOVERY_DISABLED;
    private StateBackend stateBackend;
    private int keyGroups = KEY_GROUPS;
    private long managedBytes = MANAGED_BYTES;
    private TtlTimeProvider time = TtlTimeProvider.DEFAULT;
    private MetricGroup metrics = new UnregisteredMetricsGroup();

    public BackendFixture(java.nio.file.Path root) throws IOException {
        this.root = root;
        this.stateBackend = newLava(true);
        for (String name : List.of("checkpoints", "shared", "local")) {
            dir(name);
        }
    }

    /** Sets the file system for backends of {@link #newLava}; see {@link OnLavaFs}. */
    static void useFileSystem(FileSystemType of) {
        fileSystem = of;
    }

    private java.nio.file.Path dir(String name) throws IOException {
        return Files.createDirectories(root.resolve(name));
    }

    /** Backends created from now on use this state backend. */
    public BackendFixture use(StateBackend backend) {
        this.stateBackend = backend;
        return this;
    }

    /** A backend whose files are in this fixture's directories. */
    public LavaStateBackend newLava(boolean incremental) throws IOException {
        return new LavaStateBackend(incremental)
                .set(LavaOptions.FILE_SYSTEM, fileSystem)
                // Disabled: the file comes and goes, and tests look at all files.
                .set(LavaOptions.HOST_REPORT_INTERVAL, Duration.ZERO)
                .set(LavaOptions.LOCAL_DIRECTORIES, dir("instances").toString())
                .set(LavaOptions.LIBRARY_DIRECTORY, dir("library").toString());
    }

    /** Backends created from now on belong to a job with this maximum parallelism. */
    public BackendFixture useKeyGroups(int count) {
        this.keyGroups = count;
        return this;
    }

    /** Backends created from now on have this much memory. */
    public BackendFixture useManagedMemory(long bytes) {
        this.managedBytes = bytes;
        return this;
    }

    /** Backends created from now on use this clock for TTL. */
    public BackendFixture useTime(TtlTimeProvider provider) {
        this.time = provider;
        return this;
    }

    /** Backends created from now on report to this group. */
    public BackendFixture useMetrics(MetricGroup group) {
        this.metrics = group;
        return this;
    }

    /** Backends created from now on keep local copies of their checkpoints. */
    public BackendFixture enableLocalRecovery() {
        localRecovery =
                new LocalRecoveryConfig(
                        true,
                        true,
                        new LocalSnapshotDirectoryProviderImpl(
                                new File[] {root.resolve("local").toFile()},
                                new JobID(),
                                new JobVertexID(),
                                0));
        return this;
    }

    /** Closing it cancels restores. */
    public CloseableRegistry cancel() {
        return cancel;
    }

    public java.nio.file.Path instances() {
        return root.resolve("instances");
    }

    /** The directories of instances that are open, or that left files behind. */
    public List<java.nio.file.Path> instanceDirectories() {
        try (Stream<java.nio.file.Path> directories = Files.list(instances())) {
            return directories
                    .filter(Files::isDirectory) // excludes the file on the host
                    .filter(directory -> !directory.endsWith(VOLUMES))
                    .collect(Collectors.toList());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public java.nio.file.Path checkpoints() {
        return root.resolve("checkpoints");
    }

    public java.nio.file.Path shared() {
        return root.resolve("shared");
    }

    public java.nio.file.Path local() {
        return root.resolve("local");
    }

    public AbstractKeyedStateBackend<Integer> create(
            KeyGroupRange range, KeyedStateHandle... handles) throws Exception {
        return create(range, Arrays.asList(handles));
    }

    public AbstractKeyedStateBackend<Integer> create(
            KeyGroupRange range, Collection<KeyedStateHandle> handles) throws Exception {
        return create(range, handles, IntSerializer.INSTANCE);
    }

    public <K> AbstractKeyedStateBackend<K> create(
            KeyGroupRange range, Collection<KeyedStateHandle> handles, TypeSerializer<K> keys)
            throws Exception {
        MockEnvironment environment =
                new MockEnvironmentBuilder()
                        .setManagedMemorySize(managedBytes)
                        .setTaskStateManager(
                                TestTaskStateManager.builder()
                                        .setLocalRecoveryConfig(localRecovery)
                                        .build())
                        .build();
        environments.add(environment);
        JobID job = new JobID();
        AbstractKeyedStateBackend<K> backend =
                (AbstractKeyedStateBackend<K>)
                        stateBackend.createKeyedStateBackend(
                                new KeyedStateBackendParametersImpl<>(
                                        environment,
                                        job,
                                        "operator",
                                        keys,
                                        keyGroups,
                                        range,
                                        new KvStateRegistry()
                                                .createTaskRegistry(job, new JobVertexID()),
                                        time,
                                        metrics,
                                        (name, value) -> {},
                                        handles,
                                        cancel,
                                        1.0));
        @SuppressWarnings("unchecked")
        AbstractKeyedStateBackend<Integer> known = (AbstractKeyedStateBackend<Integer>) backend;
        backends.add(known);
        return backend;
    }

    /** The streams of a checkpoint; every file becomes a real one. */
    public CheckpointStreamFactory streams(long checkpointId) throws IOException {
        java.nio.file.Path exclusive = dir("checkpoints/chk-" + checkpointId);
        return new FsCheckpointStreamFactory(
                LocalFileSystem.getSharedInstance(),
                new Path(exclusive.toUri()),
                new Path(shared().toUri()),
                0,
                4096);
    }

    /** An incremental checkpoint, neither confirmed nor registered. */
    public SnapshotResult<KeyedStateHandle> checkpoint(
            AbstractKeyedStateBackend<?> backend, long checkpointId) throws Exception {
        return snapshot(
                backend, checkpointId, CheckpointOptions.forCheckpointWithDefaultLocation());
    }

    public SnapshotResult<KeyedStateHandle> snapshot(
            AbstractKeyedStateBackend<?> backend, long checkpointId, CheckpointOptions options)
            throws Exception {
        RunnableFuture<SnapshotResult<KeyedStateHandle>> future =
                backend.snapshot(checkpointId, 0, streams(checkpointId), options);
        future.run();
        return future.get();
    }

    /** A canonical savepoint, in memory. */
    public static <K> KeyedStateHandle savepoint(AbstractKeyedStateBackend<K> backend)
            throws Exception {
        return savepoint(backend.savepoint());
    }

    /** The asynchronous part of a canonical savepoint. */
    public static <K> KeyedStateHandle savepoint(SavepointResources<K> resources) throws Exception {
        FullSnapshotResources<K> full = resources.getSnapshotResources();
        try {
            return new FullSnapshotAsyncWriter<>(
                            SavepointType.savepoint(SavepointFormatType.CANONICAL),
                            () ->
                                    CheckpointStreamWithResultProvider.createSimpleStream(
                                            CheckpointedStateScope.EXCLUSIVE,
                                            new MemCheckpointStreamFactory(SAVEPOINT_BYTES_MAX)),
                            full)
                    .get(new CloseableRegistry())
                    .getJobManagerOwnedSnapshot();
        } finally {
            full.release();
        }
    }

    public void close(AbstractKeyedStateBackend<Integer> backend) throws IOException {
        backends.remove(backend);
        backend.close();
        backend.dispose();
    }

    /** The keys that belong to a range of key groups. */
    public static List<Integer> keysIn(KeyGroupRange range, int count) {
        return Stream.iterate(0, key -> key + 1)
                .limit(count)
                .filter(
                        key ->
                                range.contains(
                                        KeyGroupRangeAssignment.assignToKeyGroup(key, KEY_GROUPS)))
                .collect(Collectors.toList());
    }

    public static ValueState<String> value(AbstractKeyedStateBackend<?> backend) {
        return state(backend, VALUE);
    }

    public static ListState<Integer> list(AbstractKeyedStateBackend<?> backend) {
        return state(backend, LIST);
    }

    public static MapState<String, Integer> map(AbstractKeyedStateBackend<?> backend) {
        return state(backend, MAP);
    }

    public static <S extends State> S state(
            AbstractKeyedStateBackend<?> backend, StateDescriptor<S, ?> descriptor) {
        try {
            return backend.getPartitionedState(
                    VoidNamespace.INSTANCE, VoidNamespaceSerializer.INSTANCE, descriptor);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    /**
     * All regular files below a directory, sorted. Files that are deleted meanwhile are ignored.
     */
    public static List<java.nio.file.Path> filesIn(java.nio.file.Path directory) {
        List<java.nio.file.Path> files = new ArrayList<>();
        FileVisitor<java.nio.file.Path> visitor =
                new SimpleFileVisitor<>() {
                    @Override
                    public FileVisitResult visitFile(
                            java.nio.file.Path file, BasicFileAttributes attributes) {
                        if (attributes.isRegularFile()) {
                            files.add(file);
                        }
                        return FileVisitResult.CONTINUE;
                    }

                    @Override
                    public FileVisitResult visitFileFailed(java.nio.file.Path file, IOException e)
                            throws IOException {
                        if (e instanceof NoSuchFileException && !file.equals(directory)) {
                            return FileVisitResult.CONTINUE;
                        }
                        throw e;
                    }
                };
        try {
            Files.walkFileTree(directory, visitor);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        Collections.sort(files);
        return files;
    }

    /** The handle that the JobManager keeps. */
    public static KeyedStateHandle remote(SnapshotResult<KeyedStateHandle> result) {
        return Optional.ofNullable(result.getJobManagerOwnedSnapshot()).orElseThrow();
    }

    public static List<KeyedStateHandle> none() {
        return Collections.emptyList();
    }

    @Override
    public void close() throws Exception {
        for (AbstractKeyedStateBackend<Integer> backend : List.copyOf(backends)) {
            close(backend);
        }
        for (MockEnvironment environment : environments) {
            environment.close();
        }
        java.nio.file.Path volumes = instances().resolve(VOLUMES);
        if (Files.exists(volumes) && !localRecovery.isLocalBackupEnabled()) {
            assertThat(filesIn(volumes)).as("volumes that nobody uses any more").isEmpty();
        }
    }
}
