// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.bench;

import java.util.Arrays;
import java.util.List;

/**
 * Progress of one thread's operations, which are due one after the other at fixed intervals. One
 * thread adds; others may read once it has stopped.
 */
final class Progress {
    /** Resolution of the time at which an operation was done. */
    static final long BIN_NANOS = 10_000_000;

    private final long beginNanos;
    private final long firstDueNanos;
    private final long gapNanos;
    private int[] doneInBin = new int[1024];
    private int bins;
    private int[] lateMicros = new int[1024];
    private int count;

    /**
     * @param beginNanos begin of the first bin: the same for all threads, not later than any added
     *     operation
     * @param firstDueNanos when the first operation is due
     */
    Progress(long beginNanos, long firstDueNanos, long gapNanos) {
        this.beginNanos = beginNanos;
        this.firstDueNanos = firstDueNanos;
        this.gapNanos = gapNanos;
    }

    /** When the next operation is due. */
    long dueNanos() {
        return due(count);
    }

    private long due(int number) {
        return firstDueNanos + number * gapNanos;
    }

    /** Records that the next operation was done at this time. */
    void done(long nowNanos) {
        int bin = (int) ((nowNanos - beginNanos) / BIN_NANOS);
        if (bin >= doneInBin.length) {
            doneInBin = Arrays.copyOf(doneInBin, 2 * bin);
        }
        doneInBin[bin]++;
        bins = Math.max(bins, bin + 1);
        if (count == lateMicros.length) {
            lateMicros = Arrays.copyOf(lateMicros, 2 * count);
        }
        lateMicros[count] = (int) Math.min(Integer.MAX_VALUE, (nowNanos - dueNanos()) / 1000);
        count++;
    }

    int count() {
        return count;
    }

    /** The delays in microseconds of all operations due in the given period; sorted. */
    static int[] late(List<Progress> all, long fromNanos, long toNanos) {
        return all.stream()
                .flatMapToInt(
                        one ->
                                Arrays.stream(
                                        one.lateMicros,
                                        one.numberDueBefore(fromNanos),
                                        one.numberDueBefore(toNanos)))
                .sorted()
                .toArray();
    }

    private int numberDueBefore(long nanos) {
        if (nanos <= firstDueNanos) {
            return 0;
        }
        long due = (nanos - firstDueNanos - 1) / gapNanos + 1;
        return (int) Math.min(due, count);
    }

    /**
     * For the end of each bin, the number of operations of all threads that were due and not done.
     * Ends with the last bin for which all threads have a record.
     */
    static long[] behind(List<Progress> all) {
        int bins = all.stream().mapToInt(one -> one.bins).min().orElse(0);
        long[] behind = new long[bins];
        for (Progress one : all) {
            long done = 0;
            for (int bin = 0; bin < bins; bin++) {
                done += one.doneInBin[bin];
                long end = one.beginNanos + (bin + 1) * BIN_NANOS;
                long due =
                        end <= one.firstDueNanos
                                ? 0
                                : (end - one.firstDueNanos - 1) / one.gapNanos + 1;
                behind[bin] += due - done;
            }
        }
        return behind;
    }

    /** The number of operations of all threads done in each bin. */
    static long[] done(List<Progress> all) {
        long[] done = new long[all.stream().mapToInt(one -> one.bins).min().orElse(0)];
        for (Progress one : all) {
            for (int bin = 0; bin < done.length; bin++) {
                done[bin] += one.doneInBin[bin];
            }
        }
        return done;
    }
}
