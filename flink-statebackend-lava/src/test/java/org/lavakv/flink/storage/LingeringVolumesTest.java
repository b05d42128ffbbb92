// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.storage;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.lavakv.Volume;
import org.lavakv.VolumeOptions;

/** The lifetime of a volume after its last backend was closed. */
class LingeringVolumesTest {

    @TempDir private Path directory;
    private final LingeringVolumes lingering = new LingeringVolumes(Duration.ofMillis(5));

    @Test
    void volumeGoesWhenItsLocalCopiesDo() throws Exception {
        Volume volume = withCopies("one", "two");
        volume.close();
        lingering.closed(volume);
        Files.delete(marker("one"));
        Thread.sleep(50);
        assertThat(volumeFile(volume)).exists();
        assertThat(lingering.isWatching()).isTrue();
        Files.delete(marker("two"));
        until(() -> !lingering.isWatching());
        assertThat(volumeFile(volume)).doesNotExist();
    }

    @Test
    void volumeOfOthersIsLeftToThem() throws Exception {
        Volume volume = withCopies("one");
        Volume other = Volume.open(volumes(), new VolumeOptions());
        volume.close();
        lingering.closed(volume);
        Files.delete(marker("one"));
        until(() -> !lingering.isWatching());
        assertThat(volumeFile(volume)).exists();
        other.close();
        lingering.closed(other);
        assertThat(volumeFile(volume)).doesNotExist();
        assertThat(lingering.isWatching()).isFalse();
    }

    @Test
    void watchesAgainAfterItHasEnded() throws Exception {
        for (String copy : List.of("one", "two", "three")) {
            Volume volume = withCopies(copy);
            volume.close();
            lingering.closed(volume);
            assertThat(lingering.isWatching()).isTrue();
            Files.delete(marker(copy));
            until(() -> !lingering.isWatching());
            assertThat(volumeFile(volume)).doesNotExist();
        }
    }

    @Test
    void endsWhenTheDirectoryIsGone() throws Exception {
        Volume volume = withCopies("one");
        volume.close();
        lingering.closed(volume);
        Files.delete(volumeFile(volume));
        Files.delete(Path.of(volumes()));
        until(() -> !lingering.isWatching());
    }

    private Volume withCopies(String... copies) throws Exception {
        Volume volume = Volume.open(volumes(), new VolumeOptions());
        try (OutputStream out = volume.createFile("instance", "file")) {
            out.write(1);
        }
        for (String copy : copies) {
            volume.pin(marker(copy).toString(), "instance", List.of("file"));
        }
        volume.removeDirectory("instance");
        return volume;
    }

    private String volumes() {
        return directory.resolve("volumes").toString();
    }

    private Path marker(String copy) {
        return directory.resolve(copy);
    }

    private static Path volumeFile(Volume volume) {
        return Path.of(volume.path());
    }

    private static void until(BooleanSupplier done) throws InterruptedException {
        for (int i = 0; i < 6000 && !done.getAsBoolean(); ++i) {
            Thread.sleep(5);
        }
        assertThat(done.getAsBoolean()).isTrue();
    }
}
