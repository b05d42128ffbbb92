// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class ProgressTest {
    private static final long MS = 1_000_000;

    /** Two threads with an operation every 5 ms; the second stalls from 20 to 60 ms. */
    private static List<Progress> twoOfWhichOneStalls() {
        Progress steady = new Progress(0, MS, 5 * MS);
        Progress stalled = new Progress(0, MS, 5 * MS);
        for (int i = 0; i < 20; i++) {
            steady.done(steady.dueNanos() + MS / 2);
            long due = stalled.dueNanos();
            stalled.done(due >= 20 * MS && due < 60 * MS ? 60 * MS : due + MS / 2);
        }
        return List.of(steady, stalled);
    }

    @Test
    void behindIsWhatIsDueAndNotDone() {
        // Nothing was done between the ends of the second and the sixth bin, two due in each.
        assertThat(Progress.behind(twoOfWhichOneStalls()))
                .containsExactly(0, 0, 2, 4, 6, 8, 0, 0, 0, 0);
        assertThat(Progress.done(twoOfWhichOneStalls()))
                .containsExactly(4, 4, 2, 2, 2, 2, 12, 4, 4, 4);
    }

    @Test
    void binsEndWithWhatAllHaveDone() {
        Progress one = new Progress(0, 0, 5 * MS);
        one.done(MS);
        Progress other = new Progress(0, 0, 5 * MS);
        other.done(MS);
        other.done(35 * MS);
        assertThat(Progress.behind(List.of(one, other))).hasSize(1);
    }

    @Test
    void latenessIsOfWhatWasDueInThatTime() {
        int[] all = Progress.late(twoOfWhichOneStalls(), 0, 1000 * MS);
        assertThat(all).hasSize(40).isSorted();
        assertThat(all[0]).isEqualTo(500);
        assertThat(all[39]).isEqualTo(39_000); // due at 21 ms, done at 60
        int[] some = Progress.late(twoOfWhichOneStalls(), 21 * MS, 31 * MS);
        assertThat(some).containsExactly(500, 500, 34_000, 39_000);
        assertThat(Progress.late(twoOfWhichOneStalls(), 22 * MS, 26 * MS)).isEmpty();
    }

    @Test
    void anyNumberOfOperationsFits() {
        Progress progress = new Progress(0, 0, MS);
        for (int i = 0; i < 100_000; i++) {
            progress.done(progress.dueNanos());
        }
        assertThat(progress.count()).isEqualTo(100_000);
        assertThat(Progress.done(List.of(progress))).hasSize(10_000).containsOnly(10);
    }
}
