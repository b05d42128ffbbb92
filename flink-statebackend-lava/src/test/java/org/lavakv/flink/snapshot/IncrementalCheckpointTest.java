// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.snapshot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.lavakv.flink.testing.BackendFixture.ALL;
import static org.lavakv.flink.testing.BackendFixture.remote;
import static org.lavakv.flink.testing.BackendFixture.value;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RunnableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.runtime.checkpoint.CheckpointOptions;
import org.apache.flink.runtime.checkpoint.CheckpointType;
import org.apache.flink.runtime.checkpoint.SavepointType;
import org.apache.flink.runtime.checkpoint.SnapshotType;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.CheckpointStateOutputStream;
import org.apache.flink.runtime.state.CheckpointStorageLocationReference;
import org.apache.flink.runtime.state.CheckpointStreamFactory;
import org.apache.flink.runtime.state.CheckpointedStateScope;
import org.apache.flink.runtime.state.IncrementalKeyedStateHandle.HandleAndLocalPath;
import org.apache.flink.runtime.state.IncrementalRemoteKeyedStateHandle;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.PlaceholderStreamStateHandle;
import org.apache.flink.runtime.state.SharedStateRegistryImpl;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.memory.MemCheckpointStreamFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.lavakv.flink.testing.BackendFixture;
import org.lavakv.flink.testing.ForwardingStreams;
import org.lavakv.flink.testing.HangingUploads;

@Timeout(120)
class IncrementalCheckpointTest {

    private static final int KEYS = 2000;

    @TempDir Path root;
    private BackendFixture fixture;
    private AbstractKeyedStateBackend<Integer> backend;

    @BeforeEach
    void open() throws Exception {
        fixture = new BackendFixture(root);
        backend = fixture.create(ALL);
    }

    @AfterEach
    void close() throws Exception {
        fixture.close();
    }

    private void fill(String tag) throws IOException {
        for (int key = 0; key < KEYS; key++) {
            backend.setCurrentKey(key);
            value(backend).update(tag + key);
        }
    }

    private void write(int key, String text) throws IOException {
        backend.setCurrentKey(key);
        value(backend).update(text);
    }

    private IncrementalRemoteKeyedStateHandle checkpoint(long id) throws Exception {
        return (IncrementalRemoteKeyedStateHandle) remote(fixture.checkpoint(backend, id));
    }

    private static Set<String> remoteIds(
            IncrementalRemoteKeyedStateHandle handle, boolean placeholders) {
        return handle.getSharedState().stream()
                .map(HandleAndLocalPath::getHandle)
                .filter(file -> file instanceof PlaceholderStreamStateHandle == placeholders)
                .map(file -> file.getStreamStateHandleID().getKeyString())
                .collect(Collectors.toSet());
    }

    @Test
    void confirmedFilesAreNamedAndOnlyNewOnesUploaded() throws Exception {
        fill("a");
        IncrementalRemoteKeyedStateHandle first = checkpoint(1);
        assertThat(remoteIds(first, true)).isEmpty();
        assertThat(first.getCheckpointedSize()).isEqualTo(first.getStateSize());
        backend.notifyCheckpointComplete(1);
        write(3, "new");
        IncrementalRemoteKeyedStateHandle second = checkpoint(2);
        assertThat(remoteIds(second, true)).isEqualTo(remoteIds(first, false));
        assertThat(remoteIds(second, false)).isNotEmpty();
        assertThat(second.getCheckpointedSize()).isLessThan(first.getCheckpointedSize());
        assertThat(second.getStateSize()).isGreaterThan(first.getStateSize() / 2);
    }

    @Test
    void checkpointWithoutChangesUploadsDescriptionsOnly() throws Exception {
        fill("a");
        checkpoint(1);
        backend.notifyCheckpointComplete(1);
        IncrementalRemoteKeyedStateHandle second = checkpoint(2);
        assertThat(remoteIds(second, false)).isEmpty();
    }

    @Test
    void unconfirmedFilesAreUploadedAgainAndTheirFirstNamesNeverUsed() throws Exception {
        fill("a");
        IncrementalRemoteKeyedStateHandle first = checkpoint(1);
        IncrementalRemoteKeyedStateHandle second = checkpoint(2);
        assertThat(remoteIds(second, true)).isEmpty();
        assertThat(remoteIds(second, false)).doesNotContainAnyElementsOf(remoteIds(first, false));
        // The confirmation of 1 arrives when the JobManager may already have completed 2.
        backend.notifyCheckpointComplete(1);
        IncrementalRemoteKeyedStateHandle third = checkpoint(3);
        assertThat(remoteIds(third, true)).doesNotContainAnyElementsOf(remoteIds(first, false));
        backend.notifyCheckpointComplete(3);
        assertThat(remoteIds(checkpoint(4), true)).isEqualTo(remoteIds(third, false));
    }

    @Test
    void registeredCheckpointRestoresEvenAfterTheFirstOneIsGone() throws Exception {
        SharedStateRegistryImpl registry = new SharedStateRegistryImpl();
        fill("a");
        IncrementalRemoteKeyedStateHandle first = checkpoint(1);
        first.registerSharedStates(registry, 1);
        backend.notifyCheckpointComplete(1);
        write(3, "new");
        IncrementalRemoteKeyedStateHandle second = checkpoint(2);
        second.registerSharedStates(registry, 2);
        first.discardState();
        registry.unregisterUnusedState(2);
        AbstractKeyedStateBackend<Integer> restored = fixture.create(ALL, second);
        restored.setCurrentKey(3);
        assertThat(value(restored).value()).isEqualTo("new");
        restored.setCurrentKey(KEYS - 1);
        assertThat(value(restored).value()).isEqualTo("a" + (KEYS - 1));
        // The restored backend continues from this checkpoint.
        IncrementalRemoteKeyedStateHandle third =
                (IncrementalRemoteKeyedStateHandle) remote(fixture.checkpoint(restored, 3));
        assertThat(remoteIds(third, true)).isEqualTo(remoteIds(second, false));
        assertThat(third.getBackendIdentifier()).isEqualTo(second.getBackendIdentifier());
    }

    @Test
    void discardOfAnUnregisteredCheckpointLeavesTheNamedFilesAlone() throws Exception {
        fill("a");
        IncrementalRemoteKeyedStateHandle first = checkpoint(1);
        backend.notifyCheckpointComplete(1);
        write(3, "new");
        IncrementalRemoteKeyedStateHandle second = checkpoint(2);
        second.discardState();
        backend.notifyCheckpointAborted(2);
        AbstractKeyedStateBackend<Integer> restored = fixture.create(ALL, first);
        restored.setCurrentKey(3);
        assertThat(value(restored).value()).isEqualTo("a3");
    }

    @Test
    void firstCheckpointAfterNoClaimUploadsAllAndIsTheNewBase() throws Exception {
        fill("a");
        checkpoint(1);
        backend.notifyCheckpointComplete(1);
        CheckpointOptions full =
                new CheckpointOptions(
                        CheckpointType.FULL_CHECKPOINT,
                        CheckpointStorageLocationReference.getDefault());
        IncrementalRemoteKeyedStateHandle second =
                (IncrementalRemoteKeyedStateHandle) remote(fixture.snapshot(backend, 2, full));
        assertThat(remoteIds(second, true)).isEmpty();
        backend.notifyCheckpointComplete(2);
        assertThat(remoteIds(checkpoint(3), true)).isEqualTo(remoteIds(second, false));
    }

    @Test
    void nativeSavepointIsWholeByItselfAndNotABase() throws Exception {
        fill("a");
        IncrementalRemoteKeyedStateHandle first = checkpoint(1);
        backend.notifyCheckpointComplete(1);
        SnapshotType savepoint = SavepointType.savepoint(SavepointFormatType.NATIVE);
        IncrementalRemoteKeyedStateHandle second =
                (IncrementalRemoteKeyedStateHandle)
                        remote(
                                fixture.snapshot(
                                        backend,
                                        2,
                                        new CheckpointOptions(
                                                savepoint,
                                                CheckpointStorageLocationReference.getDefault())));
        assertThat(remoteIds(second, true)).isEmpty();
        assertThat(remoteIds(second, false)).allMatch(id -> id.contains("chk-2"));
        backend.notifyCheckpointComplete(2);
        assertThat(remoteIds(checkpoint(3), true)).isEqualTo(remoteIds(first, false));
    }

    @Test
    void withoutIncrementalEveryCheckpointOwnsItsFiles() throws Exception {
        fixture.use(fixture.newLava(false));
        backend = fixture.create(ALL);
        fill("a");
        for (long id = 1; id <= 2; id++) {
            IncrementalRemoteKeyedStateHandle handle = checkpoint(id);
            assertThat(handle.getSharedState()).isEmpty();
            assertThat(handle.getPrivateState()).hasSizeGreaterThan(1);
            assertThat(handle.getCheckpointedSize()).isEqualTo(handle.getStateSize());
            backend.notifyCheckpointComplete(id);
        }
    }

    @Test
    void writesAfterTheSynchronousPartAreNotInTheCheckpoint() throws Exception {
        fill("a");
        RunnableFuture<SnapshotResult<KeyedStateHandle>> future =
                backend.snapshot(
                        1,
                        0,
                        fixture.streams(1),
                        CheckpointOptions.forCheckpointWithDefaultLocation());
        write(3, "too late");
        future.run();
        AbstractKeyedStateBackend<Integer> restored = fixture.create(ALL, remote(future.get()));
        restored.setCurrentKey(3);
        assertThat(value(restored).value()).isEqualTo("a3");
    }

    @Test
    void backendWithoutStatesHasAnEmptyCheckpoint() throws Exception {
        assertThat(fixture.checkpoint(fixture.create(ALL), 1).getJobManagerOwnedSnapshot())
                .isNull();
    }

    @Test
    void failedUploadLeavesNothingInTheCheckpointAndTheNextOneSucceeds() throws Exception {
        fill("a");
        CheckpointStreamFactory broken =
                new ForwardingStreams(fixture.streams(1)) {
                    @Override
                    public CheckpointStateOutputStream createCheckpointStateOutputStream(
                            CheckpointedStateScope scope) throws IOException {
                        if (scope == CheckpointedStateScope.SHARED) {
                            throw new IOException("the storage is down");
                        }
                        return super.createCheckpointStateOutputStream(scope);
                    }
                };
        RunnableFuture<SnapshotResult<KeyedStateHandle>> future =
                backend.snapshot(
                        1, 0, broken, CheckpointOptions.forCheckpointWithDefaultLocation());
        future.run();
        assertThatThrownBy(future::get).hasMessageContaining("the storage is down");
        backend.notifyCheckpointAborted(1);
        assertThat(uploadedEventually()).isEmpty();
        assertThat(remoteIds(checkpoint(2), false)).isNotEmpty();
    }

    @Test
    void cancelDuringAnUploadThatHangsReturnsAtOnceAndLeavesNothing() throws Exception {
        fill("a");
        HangingUploads stuck = new HangingUploads(fixture.streams(1));
        RunnableFuture<SnapshotResult<KeyedStateHandle>> future =
                backend.snapshot(1, 0, stuck, CheckpointOptions.forCheckpointWithDefaultLocation());
        Thread async = new Thread(future);
        async.start();
        stuck.awaitHanging();
        future.cancel(true);
        // Both end although the upload hangs until it is released.
        FutureTask<Void> closing =
                new FutureTask<>(
                        () -> {
                            async.join();
                            fixture.close(backend);
                            return null;
                        });
        new Thread(closing).start();
        closing.get(30, TimeUnit.SECONDS);
        stuck.release();
        assertThat(uploadedEventually()).isEmpty();
        assertThat(BackendFixture.filesIn(fixture.instances())).isEmpty();
    }

    /** Late uploads need a moment to undo their work. */
    private List<Path> uploadedEventually() throws InterruptedException {
        List<Path> files = List.of(root);
        for (int i = 0; i < 500 && !files.isEmpty(); i++) {
            Thread.sleep(10);
            files =
                    Stream.of(fixture.checkpoints(), fixture.shared())
                            .flatMap(dir -> BackendFixture.filesIn(dir).stream())
                            .collect(Collectors.toList());
        }
        return files;
    }

    @Test
    void closedBackendFailsItsCheckpointWithAnException() throws Exception {
        fill("a");
        RunnableFuture<SnapshotResult<KeyedStateHandle>> future =
                backend.snapshot(
                        1,
                        0,
                        new MemCheckpointStreamFactory(64 << 20),
                        CheckpointOptions.forCheckpointWithDefaultLocation());
        fixture.close(backend);
        future.run();
        assertThatThrownBy(future::get).isInstanceOf(Exception.class);
    }
}
