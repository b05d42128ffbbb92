// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.restore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.lavakv.flink.testing.BackendFixture.ALL;
import static org.lavakv.flink.testing.BackendFixture.keysIn;
import static org.lavakv.flink.testing.BackendFixture.remote;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.BackendBuildingException;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.lavakv.flink.LavaConfigurableOptions;
import org.lavakv.flink.LavaOptions;
import org.lavakv.flink.testing.BackendFixture;
import org.lavakv.flink.testing.StateContent;

/** A checkpoint with one flipped bit, or a truncated one, is never restored and never changed. */
@Timeout(600)
class DamagedCheckpointTest {

    private static final int KEYS = 300;

    /**
     * Number of damages for longer files. In shorter ones every byte is damaged, and every length
     * tried.
     */
    private static final int DAMAGES = 150;

    private static final int SMALL_BYTES = 1536;

    @TempDir Path root;
    private BackendFixture fixture;
    private KeyedStateHandle handle;
    private List<Path> files;
    private Path description;

    @BeforeEach
    void takeCheckpoint() throws Exception {
        fixture = new BackendFixture(root);
        takeCheckpoint(KEYS);
    }

    private void takeCheckpoint(int keys) throws Exception {
        AbstractKeyedStateBackend<Integer> backend = fixture.create(ALL);
        StateContent.change(backend, keysIn(ALL, keys), 0);
        handle = remote(fixture.checkpoint(backend, 1));
        fixture.close(backend);
        files = BackendFixture.filesIn(fixture.shared());
        assertThat(files).isNotEmpty();
        List<Path> descriptions = BackendFixture.filesIn(fixture.checkpoints());
        assertThat(descriptions).hasSize(2);
        description = descriptions.get(0);
    }

    @AfterEach
    void close() throws Exception {
        fixture.close();
    }

    private void refused(Path file, byte[] damaged, boolean ofStates) throws IOException {
        byte[] good = Files.readAllBytes(file);
        replace(file, damaged);
        try {
            assertThatThrownBy(() -> fixture.create(ALL, handle))
                    .isInstanceOf(BackendBuildingException.class)
                    .hasMessageContaining(file.getFileName().toString())
                    .hasMessageContaining("offset")
                    .hasMessageContaining("Restore from another checkpoint")
                    .satisfies(
                            e -> {
                                if (ofStates) {
                                    assertThat(e.getMessage())
                                            .containsAnyOf("the-value", "the-list", "the-map");
                                }
                            });
            assertThat(Files.readAllBytes(file)).isEqualTo(damaged);
            assertThat(BackendFixture.filesIn(fixture.instances())).isEmpty();
        } finally {
            replace(file, good);
        }
    }

    /**
     * Creates a new file, because some file systems wait for the disk when a file is overwritten.
     */
    private static void replace(Path file, byte[] content) throws IOException {
        Files.delete(file);
        Files.write(file, content);
    }

    private void damage(Path file, int damages, boolean ofStates) throws IOException {
        byte[] good = Files.readAllBytes(file);
        for (int i = 0; i < damages; i++) {
            int at = (int) ((long) i * (good.length - 1) / (damages - 1));
            byte[] flipped = good.clone();
            flipped[at] ^= (byte) (1 << (i % 8));
            refused(file, flipped, ofStates);
            refused(file, Arrays.copyOf(good, at), ofStates);
        }
    }

    private void damageInManyWays(Path file, boolean ofStates) throws IOException {
        byte[] good = Files.readAllBytes(file);
        damage(file, good.length <= SMALL_BYTES ? good.length : DAMAGES, ofStates);
        refused(file, Arrays.copyOf(good, good.length + 1), ofStates);
    }

    @Test
    void everyDataFileIsCheckedAndTheMessageNamesFileOffsetAndState() throws Exception {
        for (Path file : files) {
            damageInManyWays(file, true);
        }
    }

    private void takeSmallCheckpoint(MemorySize packed) throws Exception {
        for (Path earlier : List.of(fixture.shared(), fixture.checkpoints())) {
            for (Path file : BackendFixture.filesIn(earlier)) {
                Files.delete(file);
            }
        }
        fixture.use(
                fixture.newLava(true)
                        .set(LavaConfigurableOptions.VALUE_SEPARATION_THRESHOLD, new MemorySize(1))
                        .set(LavaOptions.CHECKPOINT_PACK_FILE_SIZE, packed));
        takeCheckpoint(4);
    }

    @Test
    void everyByteOfSmallDataFilesIsChecked() throws Exception {
        takeSmallCheckpoint(MemorySize.ZERO);
        assertThat(files)
                .hasSize(2)
                .allMatch(file -> file.toFile().length() <= SMALL_BYTES, "is small");
        for (Path file : files) {
            damageInManyWays(file, true);
        }
    }

    @Test
    void packIsCheckedToTheEndOfItsLastFile() throws Exception {
        takeSmallCheckpoint(MemorySize.ofMebiBytes(1));
        assertThat(files).as("a pack of two").hasSize(1);
        damage(files.get(0), DAMAGES, true);
    }

    @Test
    void bothDescriptionsAreChecked() throws Exception {
        for (Path file : BackendFixture.filesIn(fixture.checkpoints())) {
            damageInManyWays(file, false);
        }
    }

    @Test
    void flipInADataBlockNamesTheOffsetThatTheEngineFound() throws Exception {
        Path file = files.get(0);
        byte[] damaged = Files.readAllBytes(file);
        damaged[100] ^= 1;
        Files.write(file, damaged);
        assertThatThrownBy(() -> fixture.create(ALL, handle))
                .hasMessageContaining("is damaged: at offset 0: the checksum of the block")
                .hasMessageContaining("it hits data of table 'the-map'")
                .hasMessageNotContaining(fixture.instances().toString());
    }

    @Test
    void missingFileIsNamed() throws Exception {
        Files.delete(files.get(0));
        assertThatThrownBy(() -> fixture.create(ALL, handle))
                .isInstanceOf(BackendBuildingException.class)
                .rootCause()
                .hasMessageContaining(files.get(0).getFileName().toString());
        assertThat(BackendFixture.filesIn(fixture.instances())).isEmpty();
        assertThat(description).exists();
    }

    @Test
    void undamagedCheckpointRestores() throws Exception {
        AbstractKeyedStateBackend<Integer> reference = fixture.create(ALL);
        StateContent.change(reference, keysIn(ALL, KEYS), 0);
        assertThat(StateContent.read(fixture.create(ALL, handle), keysIn(ALL, KEYS)))
                .isEqualTo(StateContent.read(reference, keysIn(ALL, KEYS)));
    }
}
