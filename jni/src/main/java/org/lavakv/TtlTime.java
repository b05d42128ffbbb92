// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv;

import java.util.Objects;

/**
 * An instance's knowledge of the time by which records expire. A checkpoint carries it, so that a
 * machine whose clock is ahead does not immediately drop restored records.
 *
 * <p>Threads: immutable. Units: milliseconds; {@link #timeMs} since the epoch.
 */
public final class TtlTime {

    /** The time of the data is unknown. */
    public static final TtlTime UNKNOWN = new TtlTime(Long.MIN_VALUE, 0, 0);

    private final long timeMs;
    private final long leadMs;
    private final long stoodMs;

    /**
     * @param timeMs the proven time
     * @param leadMs by how much the clock was ahead of the proven time; 0 if it was not
     * @param stoodMs for how long the clock was ahead
     */
    public TtlTime(long timeMs, long leadMs, long stoodMs) {
        this.timeMs = timeMs;
        this.leadMs = leadMs;
        this.stoodMs = stoodMs;
    }

    public long timeMs() {
        return timeMs;
    }

    public long leadMs() {
        return leadMs;
    }

    public long stoodMs() {
        return stoodMs;
    }

    /** The knowledge for data that are combined: the parts that hold for both. */
    public TtlTime with(TtlTime other) {
        return new TtlTime(
                Math.min(timeMs, other.timeMs),
                Math.min(leadMs, other.leadMs),
                Math.min(stoodMs, other.stoodMs));
    }

    @Override
    public boolean equals(Object other) {
        if (!(other instanceof TtlTime)) {
            return false;
        }
        TtlTime that = (TtlTime) other;
        return timeMs == that.timeMs && leadMs == that.leadMs && stoodMs == that.stoodMs;
    }

    @Override
    public int hashCode() {
        return Objects.hash(timeMs, leadMs, stoodMs);
    }

    @Override
    public String toString() {
        return "time "
                + timeMs
                + " ms, the clock ahead by "
                + leadMs
                + " ms for "
                + stoodMs
                + " ms";
    }
}
