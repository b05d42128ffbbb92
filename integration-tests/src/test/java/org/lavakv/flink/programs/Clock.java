package org.lavakv.flink.programs;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.LongSupplier;

/**
 * The clock that a job's TTL is judged by. It knows which values Lava may have dropped by all that
 * it said so far. It never says the same moment twice: a value's timestamp tells when the value was
 * written.
 *
 * <p>Lava drops nothing by a step ahead before it believes the step: after the steady clock went on
 * as far, after the step has stood for as long as it is itself, or at once if a caller says so. So
 * the time that Lava believes goes on at most twice as fast as the steady clock. By a clock that it
 * does not believe, Lava drops only values that were written since the step, and that are older
 * than the TTL by the steady clock. A canonical savepoint leaves out values that have expired by
 * the clock, if the TTL says so.
 *
 * <p>Threads: one. Units: milliseconds.
 */
final class Clock {

    /** Whose rules say which values go while the clock stands. */
    private enum Drops {
        NOTHING,
        AS_LAVA,
        AS_SAVEPOINT
    }

    /** The time from one step of the clock, or start of a backend, to the next. */
    private static final class Moment {
        private final long now;
        private final Drops drops;
        private final long believed;

        /**
         * @param believed the latest that Lava can have believed
         */
        Moment(long now, Drops drops, long believed) {
            this.now = now;
            this.drops = drops;
            this.believed = believed;
        }
    }

    /** The clock as a snapshot remembers it: its values were dropped by that. */
    static final class Past {
        private final List<Moment> moments;
        private final long base;
        private final long baseSteady;

        private Past(List<Moment> moments, long base, long baseSteady) {
            this.moments = moments;
            this.base = base;
            this.baseSteady = baseSteady;
        }

        /** The same of a canonical savepoint whose values were written when the clock said this. */
        Past savedAt(long now) {
            List<Moment> more = new ArrayList<>(moments);
            more.add(new Moment(now, Drops.AS_SAVEPOINT, now));
            return new Past(more, base, baseSteady);
        }
    }

    private final LongSupplier steady;
    private final long steadyBegin;
    private final Set<Long> said = new HashSet<>();

    /** All before the present moment. */
    private final List<Moment> moments = new ArrayList<>();

    private long now;
    private Drops drops = Drops.NOTHING;

    /** The latest that Lava can have believed when the steady clock said baseSteady. */
    private long base;

    private long baseSteady;

    /**
     * @param steady a clock that nobody sets
     */
    Clock(long now, LongSupplier steady) {
        this.now = now;
        this.steady = steady;
        this.steadyBegin = steady.getAsLong();
        said.add(now);
        believe();
    }

    long now() {
        return now;
    }

    /** Goes on or back, by a little more if the clock said that before. */
    void step(long millis) {
        endMoment();
        now += millis;
        while (!said.add(now)) {
            now++;
        }
        believeStepBack();
    }

    /** Lava is told that the clock is right. */
    void believe() {
        base = now;
        baseSteady = steady.getAsLong();
    }

    /** A backend begins empty: Lava, or one that drops nothing. */
    void start(boolean onLava) {
        moments.clear();
        drops = onLava ? Drops.AS_LAVA : Drops.NOTHING;
        believe();
    }

    /** A backend begins with the values of a snapshot. */
    void start(boolean onLava, Past past) {
        moments.clear();
        moments.addAll(past.moments);
        drops = onLava ? Drops.AS_LAVA : Drops.NOTHING;
        base = past.base;
        baseSteady = past.baseSteady;
        believeStepBack();
    }

    /** The past of a snapshot that is taken now. */
    Past past() {
        List<Moment> all = new ArrayList<>(moments);
        all.add(new Moment(now, drops, believed()));
        return new Past(all, base, baseSteady);
    }

    /**
     * Whether the backends that the job had may have dropped a value: whether the value had expired
     * at any moment since it was written, by a time that Lava drops by.
     *
     * @param written the value's timestamp
     */
    boolean mayBeGone(StateSpec state, long written) {
        return isOneOf(state, written, true);
    }

    /** Whether a value has ever been expired, whatever Lava believed of that. */
    boolean wasExpired(StateSpec state, long written) {
        return isOneOf(state, written, false);
    }

    private boolean isOneOf(StateSpec state, long written, boolean dropped) {
        if (state.ttl == null) {
            return false;
        }
        boolean young = state.ttl.millis > 2 * (steady.getAsLong() - steadyBegin) + 2;
        boolean since = false;
        for (Moment moment : past().moments) {
            since |= moment.now == written;
            if (since
                    && state.isExpired(written, moment.now)
                    && (!dropped || drops(state, written, moment, young))) {
                return true;
            }
        }
        return false;
    }

    /**
     * @param young whether no value that Lava holds is older than its TTL by the steady clock
     */
    private static boolean drops(StateSpec state, long written, Moment moment, boolean young) {
        switch (moment.drops) {
            case AS_LAVA:
                return !young || state.isExpired(written, moment.believed);
            case AS_SAVEPOINT:
                return state.ttl.cleansSavepoints;
            default:
                return false;
        }
    }

    private void endMoment() {
        moments.add(new Moment(now, drops, believed()));
    }

    private void believeStepBack() {
        if (believable() > now) {
            believe();
        }
    }

    private long believed() {
        return Math.min(now, believable());
    }

    /** The latest that Lava can believe by now, if the clock says it. */
    private long believable() {
        // The engine's milliseconds are rounded otherwise than those here.
        return base + 2 * (steady.getAsLong() - baseSteady) + 2;
    }
}
