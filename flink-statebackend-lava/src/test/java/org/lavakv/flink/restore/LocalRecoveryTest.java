// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.restore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.lavakv.flink.testing.BackendFixture.ALL;
import static org.lavakv.flink.testing.BackendFixture.keysIn;
import static org.lavakv.flink.testing.BackendFixture.remote;

import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.IncrementalLocalKeyedStateHandle;
import org.apache.flink.runtime.state.IncrementalRemoteKeyedStateHandle;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.StateObject.StateObjectSizeStatsCollector;
import org.apache.flink.streaming.api.operators.BackendRestorerProcedure;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.lavakv.flink.testing.BackendFixture;
import org.lavakv.flink.testing.StateContent;

@Timeout(120)
class LocalRecoveryTest {

    static final List<Integer> KEYS = keysIn(ALL, 300);

    @TempDir Path root;
    BackendFixture fixture;
    Map<Integer, String> content;
    SnapshotResult<KeyedStateHandle> checkpoint;

    @BeforeEach
    void takeCheckpoint() throws Exception {
        fixture = new BackendFixture(root).enableLocalRecovery();
        AbstractKeyedStateBackend<Integer> backend = fixture.create(ALL);
        StateContent.change(backend, KEYS, 0);
        content = StateContent.read(backend, KEYS);
        checkpoint = fixture.checkpoint(backend, 1);
        backend.notifyCheckpointComplete(1);
        fixture.close(backend);
    }

    @AfterEach
    void close() throws Exception {
        fixture.close();
    }

    private List<Path> localDataFiles() {
        Path directory =
                ((IncrementalLocalKeyedStateHandle) checkpoint.getTaskLocalSnapshot())
                        .getDirectoryStateHandle()
                        .getDirectory();
        return BackendFixture.filesIn(directory).stream()
                .filter(file -> !file.getFileName().toString().startsWith("LAVA-"))
                .collect(Collectors.toList());
    }

    AbstractKeyedStateBackend<Integer> localFirst() throws Exception {
        return new BackendRestorerProcedure<AbstractKeyedStateBackend<Integer>, KeyedStateHandle>(
                        handles -> fixture.create(ALL, handles), new CloseableRegistry(), "test")
                .createAndRestore(
                        List.of(
                                List.of(checkpoint.getTaskLocalSnapshot()),
                                List.of(remote(checkpoint))),
                        StateObjectSizeStatsCollector.create());
    }

    @Test
    void localCopyRestoresWithoutTheRemoteOne() throws Exception {
        for (Path file : BackendFixture.filesIn(fixture.shared())) {
            Files.delete(file);
        }
        AbstractKeyedStateBackend<Integer> restored =
                fixture.create(ALL, checkpoint.getTaskLocalSnapshot());
        assertThat(StateContent.read(restored, KEYS)).isEqualTo(content);
    }

    @Test
    void restoredBackendDoesNotChangeTheLocalCopy() throws Exception {
        AbstractKeyedStateBackend<Integer> restored =
                fixture.create(ALL, checkpoint.getTaskLocalSnapshot());
        StateContent.change(restored, KEYS, 1);
        fixture.close(restored);
        restored = fixture.create(ALL, checkpoint.getTaskLocalSnapshot());
        assertThat(StateContent.read(restored, KEYS)).isEqualTo(content);
    }

    @Test
    void checkpointAfterALocalRestoreNamesTheRemoteFiles() throws Exception {
        AbstractKeyedStateBackend<Integer> restored =
                fixture.create(ALL, checkpoint.getTaskLocalSnapshot());
        IncrementalRemoteKeyedStateHandle next =
                (IncrementalRemoteKeyedStateHandle) remote(fixture.checkpoint(restored, 2));
        assertThat(next.getCheckpointedSize()).isLessThan(next.getStateSize());
    }

    @Test
    void flippedByteInTheLocalCopyFallsBackToTheRemoteOne() throws Exception {
        Path file = localDataFiles().get(0);
        byte[] damaged = Files.readAllBytes(file);
        damaged[damaged.length / 2] ^= 4;
        Files.delete(file);
        Files.write(file, damaged);
        assertThatThrownBy(() -> fixture.create(ALL, checkpoint.getTaskLocalSnapshot()))
                .hasMessageContaining(file.toString())
                .hasMessageContaining("offset");
        assertThat(BackendFixture.filesIn(fixture.instances())).isEmpty();
        assertThat(StateContent.read(localFirst(), KEYS)).isEqualTo(content);
    }

    /** Decay of a disk, which no seal shows; a full read takes as long as a copy. */
    @Test
    void rotInTheLocalCopyFallsBackToTheRemoteOneAtTheSecondRestore() throws Exception {
        rot(localDataFiles().get(0));
        fixture.close(fixture.create(ALL, checkpoint.getTaskLocalSnapshot()));
        assertThatThrownBy(() -> fixture.create(ALL, checkpoint.getTaskLocalSnapshot()))
                .hasMessageContaining("is damaged: at offset");
        assertThat(StateContent.read(localFirst(), KEYS)).isEqualTo(content);
    }

    private static void rot(Path file) throws Exception {
        FileTime time = Files.getLastModifiedTime(file);
        try (FileChannel channel =
                FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            ByteBuffer one = ByteBuffer.allocate(1);
            channel.read(one, channel.size() / 2);
            one.put(0, (byte) (one.get(0) ^ 4)).flip();
            channel.write(one, channel.size() / 2);
        }
        Files.setLastModifiedTime(file, time);
    }

    /**
     * Otherwise each copy would take the disk space, and each restore the time, of the whole state.
     */
    @Test
    void copyAndRestoredInstanceShareTheFiles() throws Exception {
        AbstractKeyedStateBackend<Integer> backend =
                fixture.create(ALL, checkpoint.getTaskLocalSnapshot());
        StateContent.change(backend, KEYS, 1);
        checkpoint = fixture.checkpoint(backend, 2);
        Set<Object> copied = identities(localDataFiles());
        assertThat(copied).hasSizeGreaterThan(1);
        assertThat(identities(BackendFixture.filesIn(fixture.instances()))).containsAll(copied);
        fixture.close(backend);
        assertThat(BackendFixture.filesIn(fixture.instances())).isEmpty();
        fixture.create(ALL, checkpoint.getTaskLocalSnapshot());
        assertThat(identities(BackendFixture.filesIn(fixture.instances()))).containsAll(copied);
    }

    /** The identity of the files, independent of their paths. */
    private static Set<Object> identities(List<Path> files) throws Exception {
        Set<Object> keys = new HashSet<>();
        for (Path file : files) {
            keys.add(
                    Objects.requireNonNull(
                            Files.readAttributes(file, BasicFileAttributes.class).fileKey()));
        }
        return keys;
    }

    @Test
    void missingLocalFileFallsBackToTheRemoteOne() throws Exception {
        Files.delete(localDataFiles().get(0));
        assertThat(StateContent.read(localFirst(), KEYS)).isEqualTo(content);
    }

    @Test
    void discardDeletesTheLocalCopy() throws Exception {
        checkpoint.getTaskLocalSnapshot().discardState();
        assertThat(BackendFixture.filesIn(fixture.local())).isEmpty();
        assertThat(StateContent.read(fixture.create(ALL, remote(checkpoint)), KEYS))
                .isEqualTo(content);
    }

    @Test
    void localDirectoryThatCannotBeWrittenDoesNotFailTheCheckpoint() throws Exception {
        AbstractKeyedStateBackend<Integer> backend = fixture.create(ALL);
        StateContent.change(backend, KEYS, 0);
        checkpoint.getTaskLocalSnapshot().discardState();
        Path aid = Files.list(fixture.local()).findFirst().orElse(fixture.local());
        org.apache.flink.util.FileUtils.deleteDirectory(aid.toFile());
        Files.deleteIfExists(fixture.local());
        Files.writeString(fixture.local(), "a file where a directory should be");
        SnapshotResult<KeyedStateHandle> second = fixture.checkpoint(backend, 5);
        assertThat(second.getTaskLocalSnapshot()).isNull();
        assertThat(StateContent.read(fixture.create(ALL, remote(second)), KEYS)).isEqualTo(content);
    }
}
