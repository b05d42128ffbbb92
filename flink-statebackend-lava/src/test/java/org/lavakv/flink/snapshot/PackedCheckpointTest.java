// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.snapshot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.lavakv.flink.testing.BackendFixture.ALL;
import static org.lavakv.flink.testing.BackendFixture.HIGH;
import static org.lavakv.flink.testing.BackendFixture.LOW;
import static org.lavakv.flink.testing.BackendFixture.keysIn;
import static org.lavakv.flink.testing.BackendFixture.remote;
import static org.lavakv.flink.testing.BackendFixture.value;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.RunnableFuture;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.flink.api.common.JobID;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.core.fs.local.LocalFileSystem;
import org.apache.flink.runtime.checkpoint.CheckpointOptions;
import org.apache.flink.runtime.checkpoint.SavepointType;
import org.apache.flink.runtime.checkpoint.filemerging.FileMergingSnapshotManager;
import org.apache.flink.runtime.checkpoint.filemerging.FileMergingSnapshotManager.SubtaskKey;
import org.apache.flink.runtime.checkpoint.filemerging.FileMergingSnapshotManagerBuilder;
import org.apache.flink.runtime.checkpoint.filemerging.FileMergingType;
import org.apache.flink.runtime.clusterframework.types.ResourceID;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.CheckpointStateOutputStream;
import org.apache.flink.runtime.state.CheckpointStorageLocationReference;
import org.apache.flink.runtime.state.CheckpointedStateScope;
import org.apache.flink.runtime.state.IncrementalKeyedStateHandle.HandleAndLocalPath;
import org.apache.flink.runtime.state.IncrementalRemoteKeyedStateHandle;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.PlaceholderStreamStateHandle;
import org.apache.flink.runtime.state.SharedStateRegistryImpl;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.filemerging.SegmentFileStateHandle;
import org.apache.flink.runtime.state.filesystem.FsMergingCheckpointStorageLocation;
import org.apache.flink.runtime.state.memory.MemCheckpointStreamFactory.MemoryCheckpointOutputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.lavakv.flink.LavaConfigurableOptions;
import org.lavakv.flink.LavaKeyedStateBackend;
import org.lavakv.flink.LavaOptions;
import org.lavakv.flink.LavaStateBackend;
import org.lavakv.flink.checkpoint.CheckpointDescription;
import org.lavakv.flink.checkpoint.PackedFiles;
import org.lavakv.flink.testing.BackendFixture;
import org.lavakv.flink.testing.ForwardingStreams;
import org.lavakv.flink.testing.StateContent;

/** Several small files of a checkpoint become one file of its storage, for every use by Flink. */
@Timeout(300)
class PackedCheckpointTest {

    private static final int SEPARATED_BYTES = 500;
    private static final List<Integer> KEYS = keysIn(ALL, 200);

    @TempDir Path root;
    private BackendFixture fixture;
    private AbstractKeyedStateBackend<Integer> backend;

    @BeforeEach
    void open() throws Exception {
        fixture = new BackendFixture(root);
        fixture.use(separated(true));
        backend = fixture.create(ALL);
    }

    @AfterEach
    void close() throws Exception {
        fixture.close();
    }

    private LavaStateBackend separated(boolean incremental) throws IOException {
        return fixture.newLava(incremental)
                .set(
                        LavaConfigurableOptions.VALUE_SEPARATION_THRESHOLD,
                        new MemorySize(SEPARATED_BYTES));
    }

    /** An almost incompressible value. */
    private static String text(long seed, int length) {
        StringBuilder text = new StringBuilder(length);
        new Random(seed).ints(length, ' ', '~').forEach(c -> text.append((char) c));
        return text.toString();
    }

    /** Writes key files of approximately this size. */
    private void writeKeys(long seed, int bytes) throws IOException {
        for (int key = 0; key < bytes / 100; key++) {
            backend.setCurrentKey(key);
            value(backend).update(text(seed + key, 90));
        }
    }

    /** Writes a value file of approximately this size. */
    private void writeValues(long seed, int bytes) throws IOException {
        for (int key = 0; key < bytes / SEPARATED_BYTES; key++) {
            backend.setCurrentKey(100_000 + key);
            value(backend).update(text(seed - key, SEPARATED_BYTES + 1));
        }
    }

    private IncrementalRemoteKeyedStateHandle checkpoint(long id) throws Exception {
        return (IncrementalRemoteKeyedStateHandle) remote(fixture.checkpoint(backend, id));
    }

    static PackedFiles packed(IncrementalRemoteKeyedStateHandle handle) throws IOException {
        for (HandleAndLocalPath file : handle.getPrivateState()) {
            if (file.getLocalPath().equals(CheckpointDescription.FILE_NAME)) {
                try (InputStream in = file.getHandle().openInputStream()) {
                    return CheckpointDescription.parse(in.readAllBytes(), "f").packed();
                }
            }
        }
        throw new AssertionError("no description");
    }

    private static Set<String> packs(List<HandleAndLocalPath> files, boolean placeholders) {
        return files.stream()
                .filter(file -> file.getLocalPath().endsWith(".pack"))
                .filter(
                        file ->
                                file.getHandle() instanceof PlaceholderStreamStateHandle
                                        == placeholders)
                .map(HandleAndLocalPath::getLocalPath)
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static Set<String> newPacks(IncrementalRemoteKeyedStateHandle handle) {
        return packs(handle.getSharedState(), false);
    }

    private static Set<String> reusedPacks(IncrementalRemoteKeyedStateHandle handle) {
        return packs(handle.getSharedState(), true);
    }

    private long storedBytes() {
        return Stream.of(fixture.checkpoints(), fixture.shared())
                .flatMap(directory -> BackendFixture.filesIn(directory).stream())
                .mapToLong(file -> file.toFile().length())
                .sum();
    }

    private Map<Integer, String> content() throws Exception {
        return StateContent.read(backend, KEYS);
    }

    private void restores(Map<Integer, String> content, KeyedStateHandle... handles)
            throws Exception {
        AbstractKeyedStateBackend<Integer> restored = fixture.create(ALL, handles);
        assertThat(StateContent.read(restored, KEYS)).isEqualTo(content);
        fixture.close(restored);
    }

    @Test
    void smallFilesAreOneFileAndTheSizesAreThoseOfTheStorage() throws Exception {
        StateContent.change(backend, KEYS, 0);
        writeValues(1, 5000);
        IncrementalRemoteKeyedStateHandle first = checkpoint(1);
        assertThat(BackendFixture.filesIn(fixture.shared())).hasSize(1);
        assertThat(first.getSharedState()).hasSize(1);
        assertThat(newPacks(first)).hasSize(1);
        assertThat(packed(first).files().stream().map(name -> name.replaceAll(".*\\.", "")))
                .contains("ksst", "vsst");
        assertThat(first.getStateSize()).isEqualTo(storedBytes());
        assertThat(first.getCheckpointedSize()).isEqualTo(storedBytes());
        restores(content(), first);

        backend.notifyCheckpointComplete(1);
        StateContent.change(backend, KEYS, 1);
        writeValues(2, 1000);
        long before = storedBytes();
        IncrementalRemoteKeyedStateHandle second = checkpoint(2);
        assertThat(reusedPacks(second)).isEqualTo(newPacks(first));
        assertThat(newPacks(second)).hasSize(1);
        assertThat(second.getCheckpointedSize()).isEqualTo(storedBytes() - before);
        assertThat(second.getStateSize())
                .as("of what is named, too, once for all files in it")
                .isEqualTo(storedBytes() - descriptionBytes(first));
        SharedStateRegistryImpl registry = new SharedStateRegistryImpl();
        first.registerSharedStates(registry, 1);
        second.registerSharedStates(registry, 2);
        registry.unregisterUnusedState(2);
        assertThat(second.getStateSize()).isEqualTo(storedBytes() - descriptionBytes(first));
        restores(content(), second);
    }

    private static long descriptionBytes(IncrementalRemoteKeyedStateHandle handle) {
        return handle.getMetaDataStateHandle().getStateSize()
                + handle.getPrivateState().stream()
                        .mapToLong(file -> file.getHandle().getStateSize())
                        .sum();
    }

    @Test
    void largeFilesGoAloneAndSmallOnesInPacksUpToTheirSize() throws Exception {
        fixture.use(
                separated(true)
                        .set(LavaOptions.CHECKPOINT_PACK_FILE_SIZE, new MemorySize(70_000))
                        .set(LavaOptions.CHECKPOINT_PACK_SIZE, new MemorySize(65_536))
                        .set(LavaConfigurableOptions.VALUE_FILE_SIZE, new MemorySize(65_536)));
        backend = fixture.create(ALL);
        StateContent.change(backend, KEYS, 0);
        writeKeys(1, 100_000);
        writeValues(1, 200_000);
        IncrementalRemoteKeyedStateHandle handle = checkpoint(1);
        List<String> alone =
                handle.getSharedState().stream()
                        .map(HandleAndLocalPath::getLocalPath)
                        .filter(name -> !name.endsWith(".pack"))
                        .collect(Collectors.toList());
        assertThat(alone).anyMatch(name -> name.endsWith(".ksst"));
        for (HandleAndLocalPath file : handle.getSharedState()) {
            assertThat(file.getHandle().getStateSize())
                    .satisfiesAnyOf(
                            bytes -> assertThat(bytes).isLessThanOrEqualTo(65_536),
                            bytes -> assertThat(alone).contains(file.getLocalPath()));
        }
        restores(content(), handle);
    }

    @Test
    void withoutPacksEachFileIsByItself() throws Exception {
        fixture.use(separated(true).set(LavaOptions.CHECKPOINT_PACK_FILE_SIZE, MemorySize.ZERO));
        backend = fixture.create(ALL);
        StateContent.change(backend, KEYS, 0);
        writeValues(1, 1000);
        IncrementalRemoteKeyedStateHandle handle = checkpoint(1);
        assertThat(handle.getSharedState()).hasSizeGreaterThan(1);
        assertThat(packed(handle).files()).isEmpty();
        restores(content(), handle);
    }

    /** Takes a checkpoint after a compaction has replaced the key files; value files stay. */
    private IncrementalRemoteKeyedStateHandle checkpointAfterKeyFilesWereReplaced(
            int keyBytes, int valueBytes) throws Exception {
        writeKeys(1, keyBytes);
        writeValues(1, valueBytes);
        IncrementalRemoteKeyedStateHandle first = checkpoint(1);
        assertThat(newPacks(first)).hasSize(1);
        backend.notifyCheckpointComplete(1);
        StateContent.change(backend, KEYS, 1);
        ((LavaKeyedStateBackend<?>) backend).compact();
        return checkpoint(2);
    }

    @Test
    void packOfWhichMoreThanHalfIsAliveIsNamed() throws Exception {
        IncrementalRemoteKeyedStateHandle second =
                checkpointAfterKeyFilesWereReplaced(1000, 20_000);
        assertThat(reusedPacks(second)).hasSize(1);
        Set<String> inPack = packed(second).files();
        assertThat(inPack).isNotEmpty().allMatch(name -> name.endsWith(".vsst"));
        assertThat(second.getCheckpointedSize()).isLessThan(second.getStateSize() / 2);
    }

    @Test
    void whatIsLeftOfAPackBelowHalfIsUploadedAnew() throws Exception {
        IncrementalRemoteKeyedStateHandle second =
                checkpointAfterKeyFilesWereReplaced(20_000, 1000);
        assertThat(reusedPacks(second)).isEmpty();
        assertThat(newPacks(second)).hasSize(1);
        assertThat(packed(second).files()).anyMatch(name -> name.endsWith(".vsst"));
        assertThat(second.getCheckpointedSize()).isEqualTo(second.getStateSize());
        backend.notifyCheckpointComplete(2);
        SharedStateRegistryImpl registry = new SharedStateRegistryImpl();
        second.registerSharedStates(registry, 2);
        assertThat(reusedPacks(checkpoint(3))).isEqualTo(newPacks(second));
    }

    @Test
    void fullCheckpointsOwnTheirPacks() throws Exception {
        fixture.use(separated(false));
        backend = fixture.create(ALL);
        StateContent.change(backend, KEYS, 0);
        writeValues(1, 1000);
        for (long id = 1; id <= 2; id++) {
            IncrementalRemoteKeyedStateHandle handle = checkpoint(id);
            assertThat(handle.getSharedState()).isEmpty();
            assertThat(packs(handle.getPrivateState(), false)).hasSize(1);
            assertThat(handle.getCheckpointedSize()).isEqualTo(handle.getStateSize());
            backend.notifyCheckpointComplete(id);
            restores(content(), handle);
        }
        assertThat(BackendFixture.filesIn(fixture.shared())).isEmpty();
    }

    @Test
    void nativeSavepointHasPacksThatLaterCheckpointsDoNotName() throws Exception {
        StateContent.change(backend, KEYS, 0);
        writeValues(1, 1000);
        IncrementalRemoteKeyedStateHandle savepoint =
                (IncrementalRemoteKeyedStateHandle)
                        remote(
                                fixture.snapshot(
                                        backend,
                                        1,
                                        new CheckpointOptions(
                                                SavepointType.savepoint(SavepointFormatType.NATIVE),
                                                CheckpointStorageLocationReference.getDefault())));
        assertThat(newPacks(savepoint)).hasSize(1);
        assertThat(BackendFixture.filesIn(fixture.shared())).as("it is one directory").isEmpty();
        Map<Integer, String> content = content();
        backend = fixture.create(ALL, savepoint);
        assertThat(content()).isEqualTo(content);
        // A handle relative to the savepoint cannot be named elsewhere (FLINK-39964).
        IncrementalRemoteKeyedStateHandle next = checkpoint(2);
        assertThat(reusedPacks(next)).isEmpty();
        assertThat(newPacks(next)).isNotEmpty();
        restores(content, next);
    }

    @Test
    void localCopyIsOfTheFilesAndGoesOnWithThePacks() throws Exception {
        fixture.enableLocalRecovery();
        backend = fixture.create(ALL);
        StateContent.change(backend, KEYS, 0);
        writeValues(1, 1000);
        SnapshotResult<KeyedStateHandle> both = fixture.checkpoint(backend, 1);
        IncrementalRemoteKeyedStateHandle first = (IncrementalRemoteKeyedStateHandle) remote(both);
        Map<Integer, String> content = content();
        fixture.close(backend);
        List<Path> storage = BackendFixture.filesIn(fixture.shared());
        byte[] bytes = Files.readAllBytes(storage.get(0));
        Files.delete(storage.get(0));
        backend = fixture.create(ALL, both.getTaskLocalSnapshot());
        assertThat(content()).isEqualTo(content);
        Files.write(storage.get(0), bytes);
        SharedStateRegistryImpl registry = new SharedStateRegistryImpl();
        first.registerSharedStates(registry, 1);
        StateContent.change(backend, KEYS, 1);
        IncrementalRemoteKeyedStateHandle second = checkpoint(2);
        assertThat(reusedPacks(second)).isEqualTo(newPacks(first));
        second.registerSharedStates(registry, 2);
        restores(content(), second);
    }

    @Test
    void packsOfSeveralPredecessorsAreRead() throws Exception {
        StateContent.change(backend, KEYS, 0);
        writeValues(1, 1000);
        KeyedStateHandle all = checkpoint(1);
        List<KeyedStateHandle> halves = new ArrayList<>();
        for (KeyGroupRange range : List.of(LOW, HIGH)) {
            AbstractKeyedStateBackend<Integer> half =
                    fixture.create(range, all.getIntersection(range));
            StateContent.change(half, keysIn(range, 200), 1);
            IncrementalRemoteKeyedStateHandle handle =
                    (IncrementalRemoteKeyedStateHandle) remote(fixture.checkpoint(half, 2));
            assertThat(newPacks(handle)).hasSize(1);
            halves.add(handle);
        }
        StateContent.change(backend, KEYS, 1);
        restores(content(), halves.toArray(new KeyedStateHandle[0]));
    }

    /** Flink merges what small streams write into files of its own. */
    @Test
    void packsAreSegmentsOfMergedFiles() throws Exception {
        org.apache.flink.core.fs.Path base =
                new org.apache.flink.core.fs.Path(root.resolve("merged").toUri());
        FileMergingSnapshotManager manager =
                new FileMergingSnapshotManagerBuilder(
                                new JobID(),
                                ResourceID.generate(),
                                FileMergingType.MERGE_ACROSS_CHECKPOINT)
                        .build();
        org.apache.flink.core.fs.Path shared = new org.apache.flink.core.fs.Path(base, "shared");
        org.apache.flink.core.fs.Path owned = new org.apache.flink.core.fs.Path(base, "taskowned");
        manager.initFileSystem(LocalFileSystem.getSharedInstance(), base, shared, owned, 4096);
        SubtaskKey subtask = new SubtaskKey("job", "operator", 0, 1);
        manager.registerSubtaskForSharedStates(subtask);
        SharedStateRegistryImpl registry = new SharedStateRegistryImpl();
        IncrementalRemoteKeyedStateHandle before = null;
        for (long id = 1; id <= 3; id++) {
            StateContent.change(backend, KEYS, (int) id);
            writeValues(id, 2000);
            FsMergingCheckpointStorageLocation storage =
                    new FsMergingCheckpointStorageLocation(
                            subtask,
                            LocalFileSystem.getSharedInstance(),
                            new org.apache.flink.core.fs.Path(base, "chk-" + id),
                            shared,
                            owned,
                            CheckpointStorageLocationReference.getDefault(),
                            0,
                            4096,
                            manager,
                            id);
            RunnableFuture<SnapshotResult<KeyedStateHandle>> future =
                    backend.snapshot(
                            id, 0, storage, CheckpointOptions.forCheckpointWithDefaultLocation());
            future.run();
            IncrementalRemoteKeyedStateHandle handle =
                    (IncrementalRemoteKeyedStateHandle) remote(future.get());
            assertThat(newPacks(handle)).hasSize(1);
            if (before != null) {
                assertThat(reusedPacks(handle)).containsAll(newPacks(before));
            }
            before = handle;
            handle.registerSharedStates(registry, id);
            assertThat(handle.getSharedState())
                    .allMatch(file -> file.getHandle() instanceof SegmentFileStateHandle);
            backend.notifyCheckpointComplete(id);
            manager.notifyCheckpointComplete(subtask, id);
            restores(content(), handle);
        }
    }

    @Test
    void everyFileInAPackIsChecked() throws Exception {
        StateContent.change(backend, KEYS, 0);
        writeValues(1, 1000);
        IncrementalRemoteKeyedStateHandle handle = checkpoint(1);
        Path pack = BackendFixture.filesIn(fixture.shared()).get(0);
        byte[] good = Files.readAllBytes(pack);
        PackedFiles packed = packed(handle);
        assertThat(packed.files()).hasSizeGreaterThan(1);
        for (String name : packed.files()) {
            PackedFiles.Location location = packed.of(name);
            int last = (int) (location.offset() + location.bytes()) - 1;
            byte[] flipped = good.clone();
            flipped[last] ^= 4;
            refuses(handle, pack, flipped, name + " at offset " + location.offset());
            // Nor do the parts after it exist.
            refuses(handle, pack, Arrays.copyOf(good, last), " at offset ");
        }
        Files.write(pack, Arrays.copyOf(good, good.length + 1));
        restores(content(), handle);
    }

    private void refuses(KeyedStateHandle handle, Path pack, byte[] damaged, String where)
            throws IOException {
        Files.write(pack, damaged);
        assertThatThrownBy(() -> fixture.create(ALL, handle))
                .hasMessageContaining(where)
                .hasMessageContaining(" of the pack ")
                .hasMessageContaining(pack.getFileName() + " is damaged: at offset ")
                .hasMessageContaining("the-map");
        assertThat(Files.readAllBytes(pack)).isEqualTo(damaged);
    }

    @Test
    void placeBeyondItsPackIsRefused() throws Exception {
        StateContent.change(backend, KEYS, 0);
        writeValues(1, 1000);
        IncrementalRemoteKeyedStateHandle handle = checkpoint(1);
        List<HandleAndLocalPath> shared = handle.getSharedState();
        HandleAndLocalPath pack = shared.get(0);
        assertThat(shared).hasSize(1);
        PlaceholderStreamStateHandle shorter =
                new PlaceholderStreamStateHandle(
                        pack.getHandle().getStreamStateHandleID(),
                        pack.getHandle().getStateSize() - 1,
                        false);
        for (List<HandleAndLocalPath> files :
                List.of(
                        List.of(HandleAndLocalPath.of(shorter, pack.getLocalPath())),
                        List.<HandleAndLocalPath>of())) {
            IncrementalRemoteKeyedStateHandle other =
                    new IncrementalRemoteKeyedStateHandle(
                            handle.getBackendIdentifier(),
                            ALL,
                            1,
                            files,
                            handle.getPrivateState(),
                            handle.getMetaDataStateHandle());
            assertThatThrownBy(() -> fixture.create(ALL, other))
                    .hasMessageContaining(pack.getLocalPath())
                    .hasMessageContaining(
                            files.isEmpty()
                                    ? "which the checkpoint does not contain"
                                    : "contradicts the checkpoint");
        }
    }

    @Test
    void storageThatFailsAmidAPackLeavesNothingAndTheNextCheckpointSucceeds() throws Exception {
        StateContent.change(backend, KEYS, 0);
        writeValues(1, 30_000);
        RunnableFuture<SnapshotResult<KeyedStateHandle>> future =
                backend.snapshot(
                        1,
                        0,
                        new ForwardingStreams(fixture.streams(1)) {
                            @Override
                            public CheckpointStateOutputStream createCheckpointStateOutputStream(
                                    CheckpointedStateScope scope) throws IOException {
                                return scope == CheckpointedStateScope.SHARED
                                        ? new MemoryCheckpointOutputStream(20_000)
                                        : super.createCheckpointStateOutputStream(scope);
                            }
                        },
                        CheckpointOptions.forCheckpointWithDefaultLocation());
        future.run();
        assertThatThrownBy(future::get)
                .hasMessageContaining("small files")
                .hasMessageContaining("sst");
        backend.notifyCheckpointAborted(1);
        restores(content(), checkpoint(2));
    }
}
