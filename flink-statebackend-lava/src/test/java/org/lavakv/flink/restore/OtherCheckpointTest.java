// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.restore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.lavakv.flink.testing.BackendFixture.ALL;
import static org.lavakv.flink.testing.BackendFixture.HIGH;
import static org.lavakv.flink.testing.BackendFixture.LOW;
import static org.lavakv.flink.testing.BackendFixture.keysIn;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.BackendBuildingException;
import org.apache.flink.runtime.state.CheckpointBoundKeyedStateHandle;
import org.apache.flink.runtime.state.IncrementalKeyedStateHandle.HandleAndLocalPath;
import org.apache.flink.runtime.state.IncrementalLocalKeyedStateHandle;
import org.apache.flink.runtime.state.IncrementalRemoteKeyedStateHandle;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.SnapshotResult;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.lavakv.flink.checkpoint.CheckpointDescription;
import org.lavakv.flink.testing.BackendFixture;
import org.lavakv.flink.testing.StateContent;

/** An intact description of another checkpoint is refused, because its state would be old. */
@Timeout(120)
class OtherCheckpointTest {

    private static final List<Integer> KEYS = keysIn(ALL, 100);

    @TempDir Path root;
    private BackendFixture fixture;
    private AbstractKeyedStateBackend<Integer> backend;
    private SnapshotResult<KeyedStateHandle> older;
    private SnapshotResult<KeyedStateHandle> newer;
    private Map<Integer, String> content;

    @BeforeEach
    void takeTwo() throws Exception {
        fixture = new BackendFixture(root).enableLocalRecovery();
        backend = fixture.create(ALL);
        StateContent.change(backend, KEYS, 0);
        older = fixture.checkpoint(backend, 1);
        StateContent.change(backend, KEYS, 1);
        content = StateContent.read(backend, KEYS);
        newer = fixture.checkpoint(backend, 2);
    }

    @AfterEach
    void close() throws Exception {
        fixture.close();
    }

    private static IncrementalRemoteKeyedStateHandle remote(
            SnapshotResult<KeyedStateHandle> result) {
        return (IncrementalRemoteKeyedStateHandle) BackendFixture.remote(result);
    }

    private static IncrementalLocalKeyedStateHandle local(SnapshotResult<KeyedStateHandle> result) {
        return (IncrementalLocalKeyedStateHandle) result.getTaskLocalSnapshot();
    }

    private static Path description(IncrementalRemoteKeyedStateHandle handle) {
        HandleAndLocalPath file =
                handle.getPrivateState().stream()
                        .filter(one -> one.getLocalPath().equals(CheckpointDescription.FILE_NAME))
                        .findFirst()
                        .orElseThrow();
        return Path.of(file.getHandle().maybeGetPath().orElseThrow().toUri());
    }

    private static Path description(IncrementalLocalKeyedStateHandle handle) {
        return handle.getDirectoryStateHandle()
                .getDirectory()
                .resolve(CheckpointDescription.FILE_NAME);
    }

    private void put(Path file, byte[] content) throws Exception {
        // Created anew, because the file may have other links.
        Files.delete(file);
        Files.write(file, content);
    }

    @Test
    void olderDescriptionInPlaceOfANewerOneIsRefused() throws Exception {
        Path file = description(remote(newer));
        byte[] own = Files.readAllBytes(file);
        put(file, Files.readAllBytes(description(remote(older))));
        assertThatThrownBy(() -> fixture.create(ALL, remote(newer)))
                .isInstanceOf(BackendBuildingException.class)
                .hasMessageContaining(file.getFileName().toString())
                .hasMessageContaining("does not belong to the checkpoint that is restored")
                .hasMessageContaining("The file belongs to checkpoint 1 of job ")
                .hasMessageContaining("expects the file of checkpoint 2 of job ")
                .hasMessageContaining("Put the expected file back");
        put(file, own);
        assertThat(StateContent.read(fixture.create(ALL, remote(newer)), KEYS)).isEqualTo(content);
    }

    @Test
    void handleOfANewerCheckpointWithFilesOfAnOlderOneIsRefused() {
        IncrementalRemoteKeyedStateHandle mixed =
                new IncrementalRemoteKeyedStateHandle(
                        remote(newer).getBackendIdentifier(),
                        ALL,
                        2,
                        remote(newer).getSharedState(),
                        remote(older).getPrivateState(),
                        remote(newer).getMetaDataStateHandle());
        assertThatThrownBy(() -> fixture.create(ALL, mixed))
                .hasMessageContaining("does not belong to the checkpoint that is restored");
    }

    @Test
    void olderDescriptionInALocalCopyIsRefused() throws Exception {
        Path file = description(local(newer));
        put(file, Files.readAllBytes(description(local(older))));
        assertThatThrownBy(() -> fixture.create(ALL, local(newer)))
                .hasMessageContaining(file.toString())
                .hasMessageContaining("does not belong to the checkpoint that is restored");
    }

    /** Two jobs that continue from one checkpoint number theirs alike, and have the same states. */
    @Test
    void descriptionOfAnotherJobsCheckpointOfTheSameNumberIsRefused() throws Exception {
        AbstractKeyedStateBackend<Integer> other = fixture.create(ALL, remote(older));
        StateContent.change(other, KEYS, 2);
        Path file = description(remote(newer));
        byte[] own = Files.readAllBytes(file);
        IncrementalRemoteKeyedStateHandle fork = remote(fixture.checkpoint(other, 2));
        put(description(fork), own);
        assertThatThrownBy(() -> fixture.create(ALL, fork))
                .hasMessageContaining("The file belongs to checkpoint 2 of job ")
                .hasMessageContaining("expects the file of checkpoint 2 of job ");
    }

    @Test
    void filesOfAnotherSubtaskAreRefused() throws Exception {
        IncrementalRemoteKeyedStateHandle low =
                remote(fixture.checkpoint(fixture.create(LOW, remote(newer)), 3));
        IncrementalRemoteKeyedStateHandle mixed =
                new IncrementalRemoteKeyedStateHandle(
                        low.getBackendIdentifier(),
                        HIGH,
                        3,
                        low.getSharedState(),
                        low.getPrivateState(),
                        low.getMetaDataStateHandle());
        assertThatThrownBy(() -> fixture.create(HIGH, mixed))
                .hasMessageContaining(LOW.prettyPrintInterval())
                .hasMessageContaining(HIGH.prettyPrintInterval())
                .hasMessageContaining("Put the checkpoint's own files back");
    }

    /** A changelog names a materialization's handle in its own checkpoints, by their numbers. */
    @Test
    void handleThatWasReboundToAnotherNumberIsRestored() throws Exception {
        for (CheckpointBoundKeyedStateHandle handle : List.of(remote(newer), local(newer))) {
            AbstractKeyedStateBackend<Integer> again = fixture.create(ALL, handle.rebound(77));
            assertThat(StateContent.read(again, KEYS)).isEqualTo(content);
        }
    }
}
