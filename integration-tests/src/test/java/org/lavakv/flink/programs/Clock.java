// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.programs;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.LongSupplier;

/**
 * The clock for a job's TTL. It knows which values Lava may have dropped, from all of its answers
 * so far. It never returns the same time twice, so a value's timestamp tells when the value was
 * written.
 *
 * <p>Lava drops nothing because of a step ahead before it accepts the step: after the steady clock
 * has advanced as far, after the step has lasted as long as its own length, or at once if a caller
 * says so. Therefore the time that Lava accepts advances at most twice as fast as the steady clock.
 * By a clock that it does not accept, Lava drops only values that were written since the step and
 * that are older than the TTL by the steady clock. A canonical savepoint omits values that have
 * expired by the clock, if the TTL says so.
 *
 * <p>Threads: one. Units: milliseconds.
 */
final class Clock {

    /** The rules by which values are dropped while the clock stands. */
    private enum Drops {
        NOTHING,
        AS_LAVA,
        AS_SAVEPOINT
    }

    /** The period between two steps of the clock, or starts of a backend. */
    private static final class Moment {
        private final long now;
        private final Drops drops;
        private final long accepted;

        /**
         * @param accepted the latest time that Lava can have accepted
         */
        Moment(long now, Drops drops, long accepted) {
            this.now = now;
            this.drops = drops;
            this.accepted = accepted;
        }
    }

    /** The clock's history as of a snapshot, by which values in the snapshot were dropped. */
    static final class Past {
        private final List<Moment> moments;
        private final long base;
        private final long baseSteady;

        private Past(List<Moment> moments, long base, long baseSteady) {
            this.moments = moments;
            this.base = base;
            this.baseSteady = baseSteady;
        }

        /** The history of a canonical savepoint that was written at this time. */
        Past savedAt(long now) {
            List<Moment> more = new ArrayList<>(moments);
            more.add(new Moment(now, Drops.AS_SAVEPOINT, now));
            return new Past(more, base, baseSteady);
        }
    }

    private final LongSupplier steady;
    private final long steadyBegin;
    private final Set<Long> said = new HashSet<>();

    /** All periods before the current one. */
    private final List<Moment> moments = new ArrayList<>();

    private long now;
    private Drops drops = Drops.NOTHING;

    /** The latest time that Lava can have accepted when the steady clock was at baseSteady. */
    private long base;

    private long baseSteady;

    /**
     * @param steady a clock that is never set
     */
    Clock(long now, LongSupplier steady) {
        this.now = now;
        this.steady = steady;
        this.steadyBegin = steady.getAsLong();
        said.add(now);
        accept();
    }

    long now() {
        return now;
    }

    /** Advances the clock or sets it back; a little more if it has already shown the new time. */
    void step(long millis) {
        endMoment();
        now += millis;
        while (!said.add(now)) {
            now++;
        }
        acceptStepBack();
    }

    /** Lava is told that the clock is right. */
    void accept() {
        base = now;
        baseSteady = steady.getAsLong();
    }

    /** A backend begins empty. It is Lava, or one that drops nothing. */
    void start(boolean onLava) {
        moments.clear();
        drops = onLava ? Drops.AS_LAVA : Drops.NOTHING;
        accept();
    }

    /** A backend begins with the values of a snapshot. */
    void start(boolean onLava, Past past) {
        moments.clear();
        moments.addAll(past.moments);
        drops = onLava ? Drops.AS_LAVA : Drops.NOTHING;
        base = past.base;
        baseSteady = past.baseSteady;
        acceptStepBack();
    }

    /** The history of a snapshot that is taken now. */
    Past past() {
        List<Moment> all = new ArrayList<>(moments);
        all.add(new Moment(now, drops, accepted()));
        return new Past(all, base, baseSteady);
    }

    /**
     * Whether one of the job's backends may have dropped a value: whether the value had expired at
     * any moment since it was written, by a time that Lava uses for drops.
     *
     * @param written the value's timestamp
     */
    boolean mayBeGone(StateSpec state, long written) {
        return isOneOf(state, written, true);
    }

    /** Whether a value was ever expired, whatever Lava accepted. */
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
     * @param young whether no value in Lava is older than its TTL by the steady clock
     */
    private static boolean drops(StateSpec state, long written, Moment moment, boolean young) {
        switch (moment.drops) {
            case AS_LAVA:
                return !young || state.isExpired(written, moment.accepted);
            case AS_SAVEPOINT:
                return state.ttl.cleansSavepoints;
            default:
                return false;
        }
    }

    private void endMoment() {
        moments.add(new Moment(now, drops, accepted()));
    }

    private void acceptStepBack() {
        if (acceptable() > now) {
            accept();
        }
    }

    private long accepted() {
        return Math.min(now, acceptable());
    }

    /** The latest time that Lava can accept by now, if the clock shows it. */
    private long acceptable() {
        // The engine rounds milliseconds differently.
        return base + 2 * (steady.getAsLong() - baseSteady) + 2;
    }
}
