// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.bench;

import java.util.Arrays;

/**
 * Timed readings of a counter that only grows, from which rates are computed. Rates are units of
 * the counter per nanosecond; for CPU nanoseconds, this means cores. One thread.
 */
final class CumulativeSeries {
    private long[] times = new long[256];
    private long[] values = new long[256];
    private int count;

    /**
     * @param timeNanos of a monotonic clock, later than the previous reading
     */
    void add(long timeNanos, long value) {
        if (count > 0 && timeNanos <= times[count - 1]) {
            throw new IllegalArgumentException("A reading at or before the last one's time");
        }
        if (count == times.length) {
            times = Arrays.copyOf(times, 2 * count);
            values = Arrays.copyOf(values, 2 * count);
        }
        times[count] = timeNanos;
        values[count] = value;
        count++;
    }

    /** The rate from the first reading to the last; NaN with fewer than two. */
    double average() {
        return count < 2 ? Double.NaN : rate(0, count - 1);
    }

    /**
     * The highest rate over any window between two readings. A window has the given length, or is
     * longer by at most the time between two readings. If all readings span less time, their
     * average rate.
     */
    double peak(long windowNanos) {
        double peak = Double.NaN;
        int end = 0;
        for (int begin = 0; begin < count; begin++) {
            while (end < count && times[end] - times[begin] < windowNanos) {
                end++;
            }
            if (end == count) {
                break;
            }
            double rate = rate(begin, end);
            peak = Double.isNaN(peak) ? rate : Math.max(peak, rate);
        }
        return Double.isNaN(peak) ? average() : peak;
    }

    private double rate(int begin, int end) {
        return (double) (values[end] - values[begin]) / (times[end] - times[begin]);
    }
}
