// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.bench;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class GoalTest {
    private static final Metric METRIC = CheckpointMetric.SYNC_CPU;

    @Test
    void shareIsOfThePeers() {
        Report.Row row = Goal.shareOf(0.5).row("case", METRIC, 10, 4).orElseThrow();
        assertThat(row.metric).isEqualTo("sync CPU, share");
        assertThat(row.lava).isEqualTo(0.25);
        assertThat(row.peer).isEqualTo("the goal");
        assertThat(row.peerValue).isEqualTo(0.5);
        assertThat(row.ratio).isEqualTo(2);
    }

    @Test
    void mostIsWhateverThePeerHas() {
        Report.Row row = Goal.atMost(200).row("case", METRIC, 50, 0.1).orElseThrow();
        assertThat(row.metric).isEqualTo("sync CPU");
        assertThat(row.unit).isEqualTo("us");
        assertThat(row.lava).isEqualTo(50);
        assertThat(row.peerValue).isEqualTo(200);
        assertThat(row.ratio).isEqualTo(4);
    }

    @Test
    void noneHasNoRow() {
        assertThat(Goal.NONE.row("case", METRIC, 50, 1)).isEmpty();
    }
}
