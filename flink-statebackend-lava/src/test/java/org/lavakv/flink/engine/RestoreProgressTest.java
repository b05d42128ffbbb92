// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class RestoreProgressTest {

    private final List<String> lines = new ArrayList<>();
    private long nanos = 5;
    private final RestoreProgress progress = new RestoreProgress(() -> nanos, lines::add);

    private void later(long seconds) {
        nanos += TimeUnit.SECONDS.toNanos(seconds);
    }

    @Test
    void saysNowAndThenHowFarItIsAndAtTheEndWhatItDid() {
        progress.begin("Restoring key groups 0 to 7", 3, 40 << 20);
        assertThat(progress.filesLeft()).isEqualTo(3);
        assertThat(progress.bytesLeft()).isEqualTo(40 << 20);
        assertThat(progress.secondsLeft()).isEqualTo(-1);
        later(9);
        progress.copied(9 << 20);
        assertThat(lines).isEmpty();
        progress.fileDone();
        later(1);
        progress.copied(1 << 20);
        assertThat(lines)
                .containsExactly(
                        "Restoring key groups 0 to 7: 1 of 3 files, 10.0 MiB of 40.0 MiB,"
                                + " 1.0 MiB/s, about 30 s left.");
        assertThat(progress.secondsLeft()).isEqualTo(30);
        progress.copied(1 << 20);
        assertThat(lines).hasSize(1);
        later(10);
        progress.copied(29 << 20);
        assertThat(lines).hasSize(2);
        progress.fileDone();
        progress.fileDone();
        progress.end();
        assertThat(lines)
                .last()
                .isEqualTo(
                        "Restoring key groups 0 to 7: done, 3 files with 40.0 MiB in 20.0 s,"
                                + " 2.0 MiB/s.");
        assertThat(progress.filesLeft()).isZero();
        assertThat(progress.secondsLeft()).isZero();
        later(100);
        assertThat(progress.bytesPerSecond()).isEqualTo(2 << 20);
        progress.end();
        progress.copied(1);
        assertThat(lines).as("it has ended").hasSize(3);
    }

    @Test
    void whatIsFetchedAgainCountsOnce() {
        progress.begin("Restoring", 1, 100);
        later(1);
        progress.copied(60);
        progress.copied(-60);
        progress.copied(50);
        assertThat(progress.bytesLeft()).isEqualTo(50);
        assertThat(progress.bytesDone()).isEqualTo(50);
        later(20);
        progress.copied(-50);
        assertThat(lines)
                .containsExactly(
                        "Restoring: 0 of 1 files, 0 bytes of 100 bytes, 0 bytes/s, unknown time left.");
    }

    @Test
    void nothingIsLeftAtTheEndThoughLessHasComeThanWasThought() {
        progress.begin("Restoring", 2, 100);
        progress.copied(70);
        progress.fileDone();
        progress.end();
        assertThat(progress.bytesLeft()).isZero();
        assertThat(progress.filesLeft()).isZero();
        assertThat(progress.bytesDone()).isEqualTo(70);
    }

    @Test
    void beginsAnew() {
        progress.begin("Restoring", 2, 100);
        progress.copied(100);
        progress.fileDone();
        progress.begin("Fetching", 1, 10);
        assertThat(progress.filesDone()).isZero();
        assertThat(progress.bytesLeft()).isEqualTo(10);
    }
}
