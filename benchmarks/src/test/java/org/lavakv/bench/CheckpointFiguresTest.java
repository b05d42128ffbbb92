// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class CheckpointFiguresTest {
    private static final long MS = 1_000_000;
    private static final int RATE = 1000;

    /** One operation per millisecond for four seconds, with nothing done during the stalls. */
    private static Progress workingBut(long... stalls) {
        Progress progress = new Progress(0, MS, MS);
        while (progress.dueNanos() < 4000 * MS) {
            long now = progress.dueNanos();
            for (int i = 0; i < stalls.length; i += 2) {
                if (now >= stalls[i] * MS && now < stalls[i + 1] * MS) {
                    now = stalls[i + 1] * MS;
                }
            }
            progress.done(now);
        }
        return progress;
    }

    private static CheckpointInstance.Sync sync(long cpuMicros, long wallMicros) {
        return new CheckpointInstance.Sync(cpuMicros * 1000, wallMicros * 1000);
    }

    private static Map<CheckpointMetric, Double> figures(Progress progress) {
        CheckpointFigures figures = new CheckpointFigures(0, RATE);
        figures.add(1000 * MS, 1300 * MS, List.of(sync(10, 100), sync(20, 300)));
        figures.add(2000 * MS, 2100 * MS, List.of(sync(10, 100), sync(30, 500)));
        figures.add(3000 * MS, 3100 * MS, List.of(sync(20, 200), sync(90, 900)));
        return figures.of(List.of(progress), 77, 4000 * MS);
    }

    @Test
    void aStopIsADipAsLong() {
        Map<CheckpointMetric, Double> all = figures(workingBut(1050, 1250, 2500, 2600, 3000, 3400));
        assertThat(all.get(CheckpointMetric.DIP)).isCloseTo(200, within(11.0));
        assertThat(all.get(CheckpointMetric.LOST_100MS)).isEqualTo(1);
        assertThat(all.get(CheckpointMetric.LATE_MAX)).isEqualTo(400_000);
        // A stop of s milliseconds makes s operations late, by s / 2 on average.
        double late = (200 * 100.5 + 100 * 50.5 + 400 * 200.5) * 1000 / 3000;
        assertThat(all.get(CheckpointMetric.LATE_MEAN)).isCloseTo(late, within(late / 50));
        assertThat(all.get(CheckpointMetric.DIP_WITHOUT)).isEqualTo(1);
        assertThat(all.get(CheckpointMetric.OPERATIONS)).isCloseTo(RATE, within(1.0));
    }

    @Test
    void aStopWithoutACheckpointIsDistinguished() {
        Map<CheckpointMetric, Double> all = figures(workingBut(500, 800));
        assertThat(all.get(CheckpointMetric.DIP_WITHOUT)).isCloseTo(300, within(11.0));
        assertThat(all.get(CheckpointMetric.DIP)).isEqualTo(1); // never less than one operation
        assertThat(all.get(CheckpointMetric.LATE_MAX)).isZero();
    }

    @Test
    void figuresOfNothingAreRefused() {
        CheckpointFigures figures = new CheckpointFigures(0, RATE);
        figures.add(1000 * MS, 1300 * MS, List.of(sync(10, 100)));
        Progress progress = new Progress(0, MS, MS);
        assertThatThrownBy(() -> figures.of(List.of(progress), 77, 4000 * MS))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("raise the rate");
    }

    @Test
    void synchronousPartsAreOfAllInstancesAndCheckpoints() {
        Map<CheckpointMetric, Double> all = figures(workingBut());
        assertThat(all).containsOnlyKeys(CheckpointMetric.values());
        assertThat(all.get(CheckpointMetric.SYNC_CPU)).isEqualTo(20);
        assertThat(all.get(CheckpointMetric.SYNC_CPU_P99)).isEqualTo(90);
        assertThat(all.get(CheckpointMetric.SYNC_WALL)).isEqualTo(250);
        assertThat(all.get(CheckpointMetric.SYNC_WALL_P99)).isEqualTo(900);
        assertThat(all.get(CheckpointMetric.SYNC_WALL_SLOWEST)).isEqualTo(500);
        assertThat(all.get(CheckpointMetric.DURATION)).isEqualTo(100);
        assertThat(all.get(CheckpointMetric.UPLOADED)).isEqualTo(77);
    }
}
