package org.lavakv;

import java.util.Objects;

/**
 * What an instance knows of the time by which records expire. A checkpoint carries it, so that a
 * machine whose clock is ahead drops nothing at once of what it restores.
 *
 * <p>Threads: immutable. Units: milliseconds; {@link #timeMs} since the epoch.
 */
public final class TtlTime {

    /** Nobody knows when the data were written. */
    public static final TtlTime UNKNOWN = new TtlTime(Long.MIN_VALUE, 0, 0);

    private final long timeMs;
    private final long leadMs;
    private final long stoodMs;

    /**
     * @param timeMs what is proven
     * @param leadMs by so much the clock was ahead of that; 0: it was not
     * @param stoodMs for so long
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

    /** Of data that come together: what is proven for all. */
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
