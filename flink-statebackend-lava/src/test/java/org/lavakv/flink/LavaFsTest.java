// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.lavakv.flink.testing.BackendFixture.ALL;
import static org.lavakv.flink.testing.BackendFixture.keysIn;
import static org.lavakv.flink.testing.BackendFixture.remote;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Collectors;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.lavakv.flink.metrics.LavaMetrics;
import org.lavakv.flink.testing.BackendFixture;
import org.lavakv.flink.testing.OnLavaFs;
import org.lavakv.flink.testing.RecordingMetricGroup;
import org.lavakv.flink.testing.StateContent;

/** The location of volumes, their removal, and full volumes. */
@Timeout(120)
@OnLavaFs
class LavaFsTest {

    private static final List<Integer> KEYS = keysIn(ALL, 300);
    private static final int CAPACITY_BYTES = 64 << 20;
    private static final int VALUE_CHARACTERS = 64 << 10;

    @TempDir Path root;

    private final Random random = new Random(7);
    private BackendFixture fixture;

    @BeforeEach
    void open() throws Exception {
        fixture = new BackendFixture(root);
    }

    @AfterEach
    void close() throws Exception {
        fixture.close();
    }

    private List<Path> volumes() {
        return BackendFixture.filesIn(root).stream()
                .filter(file -> file.getParent().endsWith("lavafs-volumes"))
                .collect(Collectors.toList());
    }

    private void useSmallVolume() throws Exception {
        fixture.use(
                fixture.newLava(true)
                        .set(LavaOptions.FILE_SYSTEM_CAPACITY, new MemorySize(CAPACITY_BYTES))
                        .set(LavaConfigurableOptions.DIRECT_IO, false)
                        .set(LavaConfigurableOptions.MEMTABLE_SIZE, MemorySize.parse("2mb")));
    }

    /** An almost incompressible value. */
    private String value() {
        StringBuilder text = new StringBuilder(VALUE_CHARACTERS);
        for (int i = 0; i < VALUE_CHARACTERS; i++) {
            text.append((char) ('!' + random.nextInt(90)));
        }
        return text.toString();
    }

    @Test
    void volumeGoesWithTheLastBackend() throws Exception {
        AbstractKeyedStateBackend<Integer> first = fixture.create(ALL);
        AbstractKeyedStateBackend<Integer> second = fixture.create(ALL);
        StateContent.change(first, KEYS, 0);
        StateContent.change(second, KEYS, 1);
        Map<Integer, String> content = StateContent.read(second, KEYS);
        assertThat(fixture.checkpoint(second, 1).getJobManagerOwnedSnapshot()).isNotNull();
        assertThat(volumes()).hasSize(1);
        fixture.close(first);
        assertThat(volumes()).hasSize(1);
        assertThat(StateContent.read(second, KEYS)).isEqualTo(content);
        fixture.close(second);
        assertThat(volumes()).isEmpty();
        assertThat(fixture.instanceDirectories()).isEmpty();
    }

    @Test
    void twoLocalDirectoriesMakeTwoVolumes() throws Exception {
        fixture.use(
                fixture.newLava(true)
                        .set(
                                LavaOptions.LOCAL_DIRECTORIES,
                                fixture.instances().resolve("a")
                                        + ","
                                        + fixture.instances().resolve("b")));
        for (int i = 0; i < 4; i++) {
            StateContent.change(fixture.create(ALL), KEYS, i);
        }
        assertThat(volumes())
                .extracting(file -> file.getParent().getParent().getFileName().toString())
                .containsExactly("a", "b");
    }

    @Test
    void onlyTheUserMayLookAtTheFiles() throws Exception {
        fixture.create(ALL);
        List<Path> directories = fixture.instanceDirectories();
        directories.add(volumes().get(0).getParent());
        assertThat(directories).hasSize(2);
        for (Path directory : directories) {
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(directory)))
                    .isEqualTo("rwx------");
        }
    }

    @Test
    void directoryThatCannotBeMadeIsNamed() throws Exception {
        Path taken = fixture.instances().resolve("lavafs-volumes");
        Files.writeString(taken, "a file");
        assertThatThrownBy(() -> fixture.create(ALL))
                .hasStackTraceContaining("Opening a LavaFS volume in " + taken + " failed");
        assertThat(fixture.instanceDirectories()).isEmpty();
        Files.delete(taken);
    }

    @Test
    void fullVolumeFailsWritesWithItsFiguresAndTakesOthersLater() throws Exception {
        useSmallVolume();
        LavaKeyedStateBackend<Integer> backend =
                (LavaKeyedStateBackend<Integer>) fixture.create(ALL);
        ValueState<String> state = BackendFixture.value(backend);
        int[] written = {0};
        assertThatThrownBy(
                        () -> {
                            while (written[0] < 2 * CAPACITY_BYTES / VALUE_CHARACTERS) {
                                backend.setCurrentKey(written[0]);
                                state.update(value());
                                written[0]++;
                            }
                        })
                .hasStackTraceContaining(volumes().get(0).toString())
                .hasStackTraceContaining(
                        "raise state.backend.lava.filesystem-capacity, which is "
                                + CAPACITY_BYTES
                                + " bytes, to at least ");
        assertThat(written[0]).isGreaterThan(CAPACITY_BYTES / 8 / VALUE_CHARACTERS);
        // Writes stop while there is space for the accepted data: it can be saved.
        assertThat(remote(fixture.checkpoint(backend, 1)).getStateSize()).isPositive();
        for (int key = 0; key < written[0]; key++) {
            backend.setCurrentKey(key);
            assertThat(state.value()).hasSize(VALUE_CHARACTERS);
        }
        fixture.close(backend);

        AbstractKeyedStateBackend<Integer> other = fixture.create(ALL);
        StateContent.change(other, KEYS, 0);
        assertThat(remote(fixture.checkpoint(other, 2)).getStateSize()).isPositive();
    }

    @Test
    void metricsOfTheVolume() throws Exception {
        useSmallVolume();
        LavaKeyedStateBackend<Integer> backend =
                (LavaKeyedStateBackend<Integer>) fixture.create(ALL);
        StateContent.change(backend, KEYS, 0);
        backend.instance().db().flush();
        RecordingMetricGroup group = new RecordingMetricGroup();
        new LavaMetrics(backend.instance(), group, true);
        Map<String, Gauge<?>> gauges = group.gauges();
        for (String name :
                List.of(
                        "capacity-bytes",
                        "device-bytes",
                        "used-bytes",
                        "free-bytes",
                        "largest-free-run-bytes",
                        "files",
                        "journal-bytes-written",
                        "metadata-memory-bytes")) {
            assertThat((Long) gauges.get(".lava.volume." + name).getValue()).as(name).isPositive();
        }
        assertThat(gauges.get(".lava.volume.capacity-bytes").getValue())
                .isEqualTo((long) CAPACITY_BYTES);
        assertThat(gauges.get(".lava.volume.pins").getValue()).isEqualTo(0L);
        assertThat(gauges.get(".lava.volume.direct-io").getValue()).isEqualTo(0L);
        assertThat(gauges).containsKey(".lava.host.file-buffer-bytes");
    }
}
