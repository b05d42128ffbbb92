package org.lavakv.bench;

import java.util.Arrays;
import java.util.List;

/**
 * How far the operations of one thread, due one after the other at fixed gaps, are done. One thread
 * adds; others may ask once it has stopped.
 */
final class Progress {
    /** How exactly it is known when an operation was done. */
    static final long BIN_NANOS = 10_000_000;

    private final long beginNanos;
    private final long firstDueNanos;
    private final long gapNanos;
    private int[] doneInBin = new int[1024];
    private int bins;
    private int[] lateMicros = new int[1024];
    private int count;

    /**
     * @param beginNanos where the first bin begins: the same for all threads, at or before anything
     *     that is added
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

    /** The next operation was done at that time. */
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

    /**
     * Of the operations that were due from then to then, by how many microseconds each was done
     * after its time; sorted.
     */
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
     * At the end of every bin, how many operations of all were due and not yet done. Ends with the
     * last bin in which one was done by all.
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

    /** The operations of all that were done in each bin. */
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
