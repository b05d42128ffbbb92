// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.restore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.lavakv.flink.testing.BackendFixture.ALL;

import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.IncrementalLocalKeyedStateHandle;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.util.FileUtils;
import org.junit.jupiter.api.Test;
import org.lavakv.PinnedFiles;
import org.lavakv.Volume;
import org.lavakv.VolumeFigures;
import org.lavakv.VolumeOptions;
import org.lavakv.flink.LavaOptions;
import org.lavakv.flink.LavaOptions.FileSystemType;
import org.lavakv.flink.LavaStateBackend;
import org.lavakv.flink.testing.BackendFixture;
import org.lavakv.flink.testing.OnLavaFs;
import org.lavakv.flink.testing.StateContent;

/**
 * Local recovery with the files in a volume: tests of the differences, and all other tests again.
 */
@OnLavaFs
class LavaFsLocalRecoveryTest extends LocalRecoveryTest {

    private static final String MARKER = "volume-pin";

    private Path localDirectory() {
        return ((IncrementalLocalKeyedStateHandle) checkpoint.getTaskLocalSnapshot())
                .getDirectoryStateHandle()
                .getDirectory();
    }

    /** Checks the number of pins, and whether files are in the volume. */
    private void volumeHas(long pins, boolean files) throws Exception {
        try (Volume volume =
                Volume.open(
                        fixture.instances().resolve("lavafs-volumes").toString(),
                        new VolumeOptions().setDirectIo(false))) {
            assertThat(volume.figures().pins()).isEqualTo(pins);
            assertThat(volume.figures().files() > 0).isEqualTo(files);
        }
    }

    @Test
    void localCopyIsAMarkerAndTheDescriptions() throws Exception {
        assertThat(localDirectory())
                .isDirectoryContaining(file -> file.endsWith("LAVA-CHECKPOINT"))
                .isDirectoryContaining(file -> file.endsWith(MARKER));
        assertThat(BackendFixture.filesIn(localDirectory())).as("and the seal").hasSize(3);
        assertThat(BackendFixture.filesIn(fixture.instances())).as("the volume").hasSize(1);
    }

    /**
     * A copy takes no space in the volume, and a restored instance takes as much as an empty one.
     */
    @Override
    @Test
    void copyAndRestoredInstanceShareTheFiles() throws Exception {
        AbstractKeyedStateBackend<Integer> backend = fixture.create(ALL);
        writeMegabytes(backend);
        try (Volume volume =
                Volume.open(
                        fixture.instances().resolve("lavafs-volumes").toString(),
                        new VolumeOptions().setDirectIo(false))) {
            KeyedStateHandle written = fixture.checkpoint(backend, 2).getJobManagerOwnedSnapshot();
            VolumeFigures one = volume.figures();
            checkpoint = fixture.checkpoint(backend, 3);
            VolumeFigures copied = volume.figures();
            assertThat(copied.pins()).isEqualTo(one.pins() + 1);
            assertThat(copied.usedBytes()).isEqualTo(one.usedBytes());
            assertThat(copied.files()).isEqualTo(one.files());

            fixture.create(ALL);
            VolumeFigures empty = volume.figures();
            fixture.create(ALL, checkpoint.getTaskLocalSnapshot());
            VolumeFigures restored = volume.figures();
            long own = empty.usedBytes() - copied.usedBytes();
            assertThat(own).isLessThan(written.getStateSize());
            assertThat(restored.usedBytes() - empty.usedBytes()).isEqualTo(own);
            assertThat(restored.files() - empty.files()).isEqualTo(empty.files() - copied.files());
        }
    }

    private static void writeMegabytes(AbstractKeyedStateBackend<Integer> backend)
            throws Exception {
        Random random = new Random(1);
        for (int key : KEYS) {
            byte[] letters = new byte[20_000];
            random.nextBytes(letters);
            backend.setCurrentKey(key);
            BackendFixture.value(backend).update(new String(letters, StandardCharsets.ISO_8859_1));
        }
    }

    @Test
    void deletedDirectoryDropsThePinWithTheNextCheckpoint() throws Exception {
        AbstractKeyedStateBackend<Integer> restored =
                fixture.create(ALL, checkpoint.getTaskLocalSnapshot());
        FileUtils.deleteDirectory(localDirectory().toFile());
        SnapshotResult<KeyedStateHandle> second = fixture.checkpoint(restored, 2);
        restored.notifyCheckpointComplete(2);
        volumeHas(1, true);
        second.getTaskLocalSnapshot().discardState();
        fixture.close(restored);
        assertThat(BackendFixture.filesIn(fixture.instances())).isEmpty();
    }

    @Test
    void abortedCheckpointLeavesNoPin() throws Exception {
        AbstractKeyedStateBackend<Integer> restored =
                fixture.create(ALL, checkpoint.getTaskLocalSnapshot());
        fixture.checkpoint(restored, 2).getTaskLocalSnapshot().discardState();
        restored.notifyCheckpointAborted(2);
        restored.notifyCheckpointComplete(3);
        volumeHas(1, true);
    }

    @Test
    void volumeWithoutItsFilesFallsBackToTheRemoteCopy() throws Exception {
        for (Path file : BackendFixture.filesIn(fixture.instances())) {
            Files.delete(file);
        }
        assertThatThrownBy(() -> fixture.create(ALL, checkpoint.getTaskLocalSnapshot()))
                .hasMessageContaining(localDirectory().resolve(MARKER).toString());
        assertThat(StateContent.read(localFirst(), KEYS)).isEqualTo(content);
    }

    @Test
    void damagedFileInTheVolumeFallsBackToTheRemoteCopy() throws Exception {
        String name = flipAByteOfAPinnedFile();
        Files.delete(localDirectory().resolve("LAVA-SEAL"));
        assertThatThrownBy(() -> fixture.create(ALL, checkpoint.getTaskLocalSnapshot()))
                .hasMessageContaining(name)
                .hasMessageContaining("is damaged: at offset");
        assertThat(fixture.instanceDirectories()).isEmpty();
        assertThat(StateContent.read(localFirst(), KEYS)).isEqualTo(content);
    }

    @Override
    @Test
    void rotInTheLocalCopyFallsBackToTheRemoteOneAtTheSecondRestore() throws Exception {
        flipAByteOfAPinnedFile();
        fixture.close(fixture.create(ALL, checkpoint.getTaskLocalSnapshot()));
        assertThatThrownBy(() -> fixture.create(ALL, checkpoint.getTaskLocalSnapshot()))
                .hasMessageContaining("is damaged: at offset");
        assertThat(StateContent.read(localFirst(), KEYS)).isEqualTo(content);
    }

    /** Damages a byte of a pinned file in the volume's file, while the volume is not mounted. */
    private String flipAByteOfAPinnedFile() throws Exception {
        String name;
        byte[] bytes;
        Path path;
        try (PinnedFiles pinned =
                Volume.openPinned(
                        localDirectory().resolve(MARKER).toString(),
                        new VolumeOptions().setDirectIo(false))) {
            name = pinned.volume().listFiles(pinned.directory()).get(0);
            path = Path.of(pinned.volume().path());
            try (InputStream in = pinned.volume().openFile(pinned.directory(), name)) {
                bytes = in.readAllBytes();
            }
        }
        byte[] whole = Files.readAllBytes(path);
        int at = 0;
        while (!Arrays.equals(whole, at, at + bytes.length, bytes, 0, bytes.length)) {
            at += 4096;
        }
        whole[at + bytes.length / 2] ^= 4;
        Files.write(path, whole);
        return name;
    }

    @Test
    void copyOnPosixRestoresIntoAVolume() throws Exception {
        AbstractKeyedStateBackend<Integer> restored =
                fixture.use(posix()).create(ALL, checkpoint.getTaskLocalSnapshot());
        assertThat(StateContent.read(restored, KEYS)).isEqualTo(content);
        checkpoint = fixture.checkpoint(restored, 2);
        fixture.close(restored);
        assertThat(localDirectory()).isDirectoryNotContaining(file -> file.endsWith(MARKER));
        for (Path file : BackendFixture.filesIn(fixture.shared())) {
            Files.delete(file);
        }
        restored =
                fixture.use(fixture.newLava(true)).create(ALL, checkpoint.getTaskLocalSnapshot());
        assertThat(StateContent.read(restored, KEYS)).isEqualTo(content);
    }

    private LavaStateBackend posix() throws Exception {
        return fixture.newLava(true).set(LavaOptions.FILE_SYSTEM, FileSystemType.POSIX);
    }

    @Test
    void pinOfAnotherDirectorysVolumeIsCopied() throws Exception {
        AbstractKeyedStateBackend<Integer> restored =
                fixture.use(
                                fixture.newLava(true)
                                        .set(
                                                LavaOptions.LOCAL_DIRECTORIES,
                                                root.resolve("other").toString()))
                        .create(ALL, checkpoint.getTaskLocalSnapshot());
        FileUtils.deleteDirectory(fixture.instances().toFile());
        FileUtils.deleteDirectory(localDirectory().toFile());
        assertThat(StateContent.read(restored, KEYS)).isEqualTo(content);
    }

    @Test
    void withoutLocalDirectoriesVolumesAreWhereFlinkKeepsLocalState() throws Exception {
        AbstractKeyedStateBackend<Integer> backend =
                fixture.use(
                                new LavaStateBackend(true)
                                        .set(LavaOptions.FILE_SYSTEM, FileSystemType.LAVAFS))
                        .create(ALL);
        // The fixture's root of local state, in which "local" belongs to an allocation.
        List<Path> volumes = BackendFixture.filesIn(root.resolve("lavafs-volumes"));
        assertThat(volumes).hasSize(1);
        fixture.close(backend);
        assertThat(BackendFixture.filesIn(root.resolve("lavafs-volumes"))).isEmpty();
    }

    /** The copy consists of the marker, so the message names no offset of a state's file. */
    @Override
    @Test
    void flippedByteInTheLocalCopyFallsBackToTheRemoteOne() throws Exception {
        Path marker = localDirectory().resolve(MARKER);
        byte[] damaged = Files.readAllBytes(marker);
        damaged[damaged.length / 2] ^= 4;
        Files.write(marker, damaged);
        assertThatThrownBy(() -> fixture.create(ALL, checkpoint.getTaskLocalSnapshot()))
                .hasMessageContaining(marker.toString());
        assertThat(fixture.instanceDirectories()).isEmpty();
        assertThat(StateContent.read(localFirst(), KEYS)).isEqualTo(content);
    }
}
