// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.bench;

/** The metrics of a run of the joiner, and Lava's goals. */
enum JoinerMetric implements Metric {
    /** Operations done; the same load is offered to both. */
    OPERATIONS("operations", "1/s", Double.NaN),
    /** Maximum delay of an operation's start, caused by waiting writes. */
    LATE_PEAK("late at most", "s", Double.NaN),
    /** CPU of the engine's threads and inside its calls. */
    CPU_AVERAGE("CPU average", "cores", 1.0 / 2),
    CPU_PEAK("CPU peak of 10 s", "cores", 1.0 / 3),
    THREADS_AVERAGE("threads' average", "cores", Double.NaN),
    THREADS_PEAK("threads' peak of 10 s", "cores", Double.NaN),
    CALLS_AVERAGE("calls' average", "cores", Double.NaN),
    CALLS_PEAK("calls' peak of 10 s", "cores", Double.NaN),
    /** CPU of the whole process, including the load's generator and the JVM. */
    PROCESS_AVERAGE("process's average", "cores", Double.NaN),
    DISK_AVERAGE("disk average", "bytes", 0.85),
    DISK_PEAK("disk peak", "bytes", 0.85),
    RESIDENT_PEAK("resident peak", "bytes", 1);

    private final String label;
    private final String unit;
    private final Goal goal;

    JoinerMetric(String label, String unit, double shareMax) {
        this.label = label;
        this.unit = unit;
        this.goal = Double.isNaN(shareMax) ? Goal.NONE : Goal.shareOf(shareMax);
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

    Goal goal() {
        return goal;
    }
}
