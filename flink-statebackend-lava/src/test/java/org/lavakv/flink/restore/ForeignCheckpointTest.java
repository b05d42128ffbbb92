// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.restore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.UUID;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.runtime.execution.CancelTaskException;
import org.apache.flink.runtime.state.BackendBuildingException;
import org.apache.flink.runtime.state.IncrementalKeyedStateHandle.HandleAndLocalPath;
import org.apache.flink.runtime.state.IncrementalRemoteKeyedStateHandle;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.StateSerializerProvider;
import org.apache.flink.runtime.state.memory.ByteStreamStateHandle;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.lavakv.flink.engine.InstanceOpener;
import org.lavakv.local.OwnedPath;

/** Checkpoints of other backends are refused before native code is used. */
class ForeignCheckpointTest {

    @TempDir Path directory;

    private final CloseableRegistry registry = new CloseableRegistry();
    private int memoryReleases;
    private InstanceOpener opener;

    /** Without options and a lease the opener could not open anything. */
    @BeforeEach
    void newOpener() throws IOException {
        InstanceOpener.Parts parts = new InstanceOpener.Parts();
        parts.home = OwnedPath.claim(directory, "instance", "");
        parts.keyGroupRange = KeyGroupRange.of(0, 7);
        parts.keyGroupPrefixBytes = 1;
        parts.leaseRelease = () -> memoryReleases++;
        opener = new InstanceOpener(parts);
    }

    /** Checks that the opener's directory is empty, and that the memory was returned once. */
    private void assertAbandoned() {
        assertThat(directory).isEmptyDirectory();
        assertThat(memoryReleases).isEqualTo(1);
        opener.abandon();
        assertThat(memoryReleases).isEqualTo(1);
    }

    private static HandleAndLocalPath file(String name) {
        return HandleAndLocalPath.of(
                new ByteStreamStateHandle("remote-" + name, new byte[9]), name);
    }

    private void restore(List<HandleAndLocalPath> shared, List<HandleAndLocalPath> others)
            throws BackendBuildingException {
        LavaRestore.restore(
                new RestoreRequest.Builder<Integer>()
                        .setOpener(opener)
                        .setNumberOfKeyGroups(8)
                        .setCancelStreamRegistry(registry)
                        .setUserCodeClassLoader(getClass().getClassLoader())
                        .setKeySerializerProvider(
                                StateSerializerProvider.fromNewRegisteredSerializer(
                                        IntSerializer.INSTANCE))
                        .setStateHandles(
                                List.of(
                                        new IncrementalRemoteKeyedStateHandle(
                                                UUID.randomUUID(),
                                                KeyGroupRange.of(0, 7),
                                                12,
                                                shared,
                                                others,
                                                new ByteStreamStateHandle("m", new byte[5]))))
                        .build());
    }

    @Test
    void checkpointOfRocksDbIsRefusedInPlainWords() {
        assertThatThrownBy(
                        () ->
                                restore(
                                        List.of(file("000012.sst"), file("000015.sst")),
                                        List.of(file("CURRENT"), file("MANIFEST-000004"))))
                .isInstanceOf(BackendBuildingException.class)
                .hasMessageContaining("Checkpoint 12 was not written by Lava")
                .hasMessageContaining("MANIFEST-000004")
                .hasMessageContaining("canonical savepoint");
        assertAbandoned();
    }

    @Test
    void fileOfTheRightNameWithOtherContentIsRefused() {
        assertThatThrownBy(() -> restore(List.of(), List.of(file("LAVA-CHECKPOINT"))))
                .isInstanceOf(BackendBuildingException.class)
                .hasMessageContaining("remote-LAVA-CHECKPOINT")
                .hasMessageContaining("offset 0");
        assertAbandoned();
    }

    @Test
    void cancelledRestoreSaysSo() throws Exception {
        registry.close();
        assertThatThrownBy(() -> restore(List.of(), List.of(file("LAVA-CHECKPOINT"))))
                .isInstanceOf(BackendBuildingException.class)
                .hasCauseInstanceOf(CancelTaskException.class);
        assertAbandoned();
    }
}
