// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.bench;

/** The metrics of a run of {@link CheckpointProcess}; {@link CheckpointSuite} describes them. */
enum CheckpointMetric implements Metric {
    SYNC_CPU("sync CPU", "us"),
    SYNC_CPU_P99("sync CPU p99", "us"),
    SYNC_WALL("sync wall", "us"),
    SYNC_WALL_P99("sync wall p99", "us"),
    /** Of the slowest instance in each checkpoint. */
    SYNC_WALL_SLOWEST("sync wall of slowest", "us"),
    DIP("dip", "ms"),
    /** The same in periods before the first checkpoint, for dips with other causes. */
    DIP_WITHOUT("dip, no checkpoint", "ms"),
    /** Share of the load offered in these 100 ms. */
    LOST_100MS("lost in worst 100 ms", ""),
    LATE_MEAN("late mean", "us"),
    LATE_P99("late p99", "us"),
    LATE_MAX("late at most", "us"),
    /** From the trigger to the last handle. */
    DURATION("checkpoint", "ms"),
    UPLOADED("uploaded", "bytes"),
    OPERATIONS("operations", "1/s");

    private final String label;
    private final String unit;

    CheckpointMetric(String label, String unit) {
        this.label = label;
        this.unit = unit;
    }

    @Override
    public String label() {
        return label;
    }

    @Override
    public String unit() {
        return unit;
    }

    @Override
    public boolean moreIsBetter() {
        return this == OPERATIONS;
    }
}
