package org.lavakv.flink.restore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.File;
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
import org.junit.jupiter.api.Test;
import org.lavakv.ImportSource;
import org.lavakv.flink.engine.LavaInstance;
import org.lavakv.flink.engine.LavaInstanceFactory;
import org.lavakv.flink.storage.InstanceFiles;
import org.lavakv.flink.storage.KeptFiles;

/** Checkpoints that are not Lava's are refused before anything native is touched. */
class ForeignCheckpointTest {

    private final CloseableRegistry registry = new CloseableRegistry();
    private final Factory factory = new Factory();

    private static final class Factory implements LavaInstanceFactory {
        private boolean discarded;

        @Override
        public File directory() {
            throw new AssertionError("no directory is needed to refuse");
        }

        @Override
        public InstanceFiles files() {
            throw new AssertionError("no files are needed to refuse");
        }

        @Override
        public KeptFiles kept(Path directory) {
            throw new AssertionError("nothing was kept here");
        }

        @Override
        public KeyGroupRange keyGroupRange() {
            return KeyGroupRange.of(0, 7);
        }

        @Override
        public int keyGroupPrefixBytes() {
            return 1;
        }

        @Override
        public LavaInstance open(List<ImportSource> imports) {
            throw new AssertionError("nothing is opened to refuse");
        }

        @Override
        public void discard() {
            discarded = true;
        }
    }

    private static HandleAndLocalPath file(String name) {
        return HandleAndLocalPath.of(
                new ByteStreamStateHandle("remote-" + name, new byte[9]), name);
    }

    private void restore(List<HandleAndLocalPath> shared, List<HandleAndLocalPath> others)
            throws BackendBuildingException {
        LavaRestore.restore(
                new RestoreRequest.Builder<Integer>()
                        .setInstanceFactory(factory)
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
        assertThat(factory.discarded).isTrue();
    }

    @Test
    void fileOfTheRightNameWithOtherContentIsRefused() {
        assertThatThrownBy(() -> restore(List.of(), List.of(file("LAVA-CHECKPOINT"))))
                .isInstanceOf(BackendBuildingException.class)
                .hasMessageContaining("remote-LAVA-CHECKPOINT")
                .hasMessageContaining("offset 0");
        assertThat(factory.discarded).isTrue();
    }

    @Test
    void cancelledRestoreSaysSo() throws Exception {
        registry.close();
        assertThatThrownBy(() -> restore(List.of(), List.of(file("LAVA-CHECKPOINT"))))
                .isInstanceOf(BackendBuildingException.class)
                .hasCauseInstanceOf(CancelTaskException.class);
        assertThat(factory.discarded).isTrue();
    }
}
