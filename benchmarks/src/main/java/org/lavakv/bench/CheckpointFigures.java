// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.bench;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * Computes {@link CheckpointMetric}s from the records of a run. Times are nanoseconds of one
 * monotonic clock. One thread.
 */
final class CheckpointFigures {
    private static final int LOST_BINS = (int) (100_000_000 / Progress.BIN_NANOS);

    private final long beginNanos;
    private final int rate;
    private final List<Double> cpuMicros = new ArrayList<>();
    private final List<Double> wallMicros = new ArrayList<>();
    private final List<Double> slowestMicros = new ArrayList<>();
    private final List<Double> durationMillis = new ArrayList<>();
    private final List<Long> triggers = new ArrayList<>();

    /**
     * @param beginNanos begin of the load, and of the first bin of all progress
     * @param rate offered operations per second
     */
    CheckpointFigures(long beginNanos, int rate) {
        this.beginNanos = beginNanos;
        this.rate = rate;
    }

    /**
     * Adds a checkpoint, which was triggered later than the previous ones.
     *
     * @param syncs the synchronous parts of all instances
     */
    void add(long triggerNanos, long endNanos, List<CheckpointInstance.Sync> syncs) {
        triggers.add(triggerNanos);
        durationMillis.add((endNanos - triggerNanos) / 1e6);
        double slowest = 0;
        for (CheckpointInstance.Sync sync : syncs) {
            cpuMicros.add(sync.cpuNanos / 1e3);
            wallMicros.add(sync.wallNanos / 1e3);
            slowest = Math.max(slowest, sync.wallNanos / 1e3);
        }
        slowestMicros.add(slowest);
    }

    /**
     * The metrics over all checkpoints.
     *
     * @param uploadedBytes bytes uploaded by all checkpoints
     * @param endNanos end of the period of the last checkpoint
     */
    Map<CheckpointMetric, Double> of(List<Progress> progress, long uploadedBytes, long endNanos) {
        Map<CheckpointMetric, Double> metrics = new EnumMap<>(CheckpointMetric.class);
        metrics.put(CheckpointMetric.SYNC_CPU, quantile(cpuMicros, 0.5));
        metrics.put(CheckpointMetric.SYNC_CPU_P99, quantile(cpuMicros, 0.99));
        metrics.put(CheckpointMetric.SYNC_WALL, quantile(wallMicros, 0.5));
        metrics.put(CheckpointMetric.SYNC_WALL_P99, quantile(wallMicros, 0.99));
        metrics.put(CheckpointMetric.SYNC_WALL_SLOWEST, quantile(slowestMicros, 0.5));
        metrics.put(CheckpointMetric.DURATION, quantile(durationMillis, 0.5));
        metrics.put(CheckpointMetric.UPLOADED, (double) uploadedBytes);

        long from = triggers.get(0);
        int[] late = Progress.late(progress, from, endNanos);
        if (late.length == 0) {
            throw new IllegalStateException(
                    "No update was done while checkpoints were taken: raise the rate or the interval");
        }
        metrics.put(CheckpointMetric.LATE_MEAN, Arrays.stream(late).average().orElse(Double.NaN));
        metrics.put(CheckpointMetric.LATE_P99, (double) late[(late.length - 1) * 99 / 100]);
        metrics.put(CheckpointMetric.LATE_MAX, (double) late[late.length - 1]);

        List<Double> dips = new ArrayList<>();
        List<Double> lost = new ArrayList<>();
        long[] behind = Progress.behind(progress);
        long[] done = Progress.done(progress);
        for (int i = 0; i < triggers.size(); i++) {
            long end = i + 1 < triggers.size() ? triggers.get(i + 1) : endNanos;
            dips.add(peak(behind, bin(triggers.get(i)), bin(end)) * 1e3 / rate);
            lost.add(lost(done, bin(triggers.get(i)), bin(end)));
        }
        metrics.put(CheckpointMetric.DIP, quantile(dips, 0.5));
        metrics.put(CheckpointMetric.LOST_100MS, quantile(lost, 0.5));
        metrics.put(CheckpointMetric.DIP_WITHOUT, dipWithout(behind, endNanos));
        double seconds = (endNanos - from) / 1e9;
        long operations =
                Arrays.stream(done, bin(from), Math.min(bin(endNanos), done.length)).sum();
        metrics.put(CheckpointMetric.OPERATIONS, operations / seconds);
        return metrics;
    }

    /** In windows of the same length as those of checkpoints, before the first checkpoint. */
    private double dipWithout(long[] behind, long endNanos) {
        int first = bin(triggers.get(0));
        int window = Math.max(1, (bin(endNanos) - first) / triggers.size());
        List<Double> dips = new ArrayList<>();
        for (int to = first; to - window >= 0; to -= window) {
            dips.add(peak(behind, to - window, to) * 1e3 / rate);
        }
        return dips.isEmpty() ? Double.NaN : quantile(dips, 0.5);
    }

    private int bin(long nanos) {
        return (int) ((nanos - beginNanos) / Progress.BIN_NANOS);
    }

    /**
     * At least 1, because an operation is behind while it is being done; therefore a ratio always
     * exists.
     */
    private static double peak(long[] behind, int from, int to) {
        long peak = 1;
        for (int bin = from; bin < Math.min(to, behind.length); bin++) {
            peak = Math.max(peak, behind[bin]);
        }
        return peak;
    }

    /**
     * The share of the offered operations that was not done, in the 100 ms in which the fewest were
     * done. At least one operation.
     */
    private double lost(long[] done, int from, int to) {
        double offered = rate * (LOST_BINS * Progress.BIN_NANOS / 1e9);
        double most = 1 / offered;
        for (int bin = from; bin + LOST_BINS <= Math.min(to, done.length); bin++) {
            long sum = Arrays.stream(done, bin, bin + LOST_BINS).sum();
            most = Math.max(most, 1 - sum / offered);
        }
        return most;
    }

    static double quantile(List<Double> values, double share) {
        double[] sorted = values.stream().mapToDouble(value -> value).sorted().toArray();
        if (share == 0.5) {
            return Report.median(sorted);
        }
        return sorted[(int) Math.ceil(share * sorted.length) - 1];
    }
}
