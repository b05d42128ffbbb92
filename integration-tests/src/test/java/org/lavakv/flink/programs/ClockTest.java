// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.programs;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicLong;
import org.apache.flink.api.common.state.StateTtlConfig.StateVisibility;
import org.apache.flink.api.common.state.StateTtlConfig.UpdateType;
import org.junit.jupiter.api.Test;

/** Tests which values Lava may lack according to the comparison, given the clock's history. */
class ClockTest {

    private static final long BEGIN = Setup.BEGIN_MS;
    private static final long TTL = 60_000;
    private static final StateSpec STATE = state(false);
    private static final StateSpec SAVED_WITHOUT_EXPIRED = state(true);

    private final AtomicLong steady = new AtomicLong(7_000);
    private final Clock clock = new Clock(BEGIN, steady::get);

    private static StateSpec state(boolean cleansSavepoints) {
        return new StateSpec(
                "state",
                StateSpec.Kind.VALUE,
                Namespaces.NONE,
                new StateSpec.Ttl(
                        TTL,
                        UpdateType.OnCreateAndWrite,
                        StateVisibility.NeverReturnExpired,
                        cleansSavepoints));
    }

    @Test
    void whatNeverExpiredIsThere() {
        clock.start(true);
        clock.step(TTL - 1);
        clock.accept();
        clock.step(-TTL);
        assertThat(clock.mayBeGone(STATE, BEGIN)).isFalse();
        assertThat(clock.wasExpired(STATE, BEGIN)).isFalse();
    }

    @Test
    void whatExpiredByAnAcceptedClockMayBeGone() {
        clock.start(true);
        clock.step(TTL);
        clock.accept();
        clock.step(-TTL);
        assertThat(clock.mayBeGone(STATE, BEGIN)).isTrue();
    }

    @Test
    void whatWasWrittenBehindTheStepBackIsThere() {
        clock.start(true);
        clock.step(TTL);
        clock.accept();
        clock.step(-TTL);
        assertThat(clock.now()).isEqualTo(BEGIN + 1);
        assertThat(clock.mayBeGone(STATE, clock.now())).isFalse();
    }

    @Test
    void aStepAheadThatIsTakenBackDropsNothing() {
        clock.start(true);
        clock.step(TTL);
        steady.addAndGet(TTL / 4);
        clock.step(-TTL);
        assertThat(clock.wasExpired(STATE, BEGIN)).isTrue();
        assertThat(clock.mayBeGone(STATE, BEGIN)).isFalse();
    }

    @Test
    void aStepBackIsAcceptedAtOnce() {
        clock.start(true);
        clock.step(3 * TTL);
        clock.accept();
        clock.step(-2 * TTL);
        long written = clock.now();
        clock.step(TTL);
        clock.step(-1_000);
        assertThat(clock.wasExpired(STATE, written)).isTrue();
        assertThat(clock.mayBeGone(STATE, written)).isFalse();
    }

    @Test
    void aStepAheadIsAcceptedWhenItHasStoodForHalfOfIt() {
        clock.start(true);
        clock.step(TTL);
        steady.addAndGet(TTL / 2);
        clock.step(-TTL);
        assertThat(clock.mayBeGone(STATE, BEGIN)).isTrue();
    }

    @Test
    void onOtherBackendsEverythingIsThere() {
        clock.start(false);
        clock.step(TTL);
        clock.accept();
        steady.addAndGet(2 * TTL);
        clock.step(-TTL);
        assertThat(clock.mayBeGone(STATE, BEGIN)).isFalse();
    }

    @Test
    void aSnapshotRemembersWhatWasDroppedBefore() {
        clock.start(true);
        clock.step(TTL);
        clock.accept();
        Clock.Past dropped = clock.past();
        clock.step(-TTL);
        clock.start(false, dropped);
        assertThat(clock.mayBeGone(STATE, BEGIN)).isTrue();
    }

    @Test
    void whatIsDroppedBehindASnapshotIsInTheSnapshot() {
        clock.start(true);
        Clock.Past whole = clock.past();
        clock.step(TTL);
        clock.accept();
        clock.step(-TTL);
        clock.start(true, whole);
        assertThat(clock.mayBeGone(STATE, BEGIN)).isFalse();
    }

    @Test
    void aSavepointLeavesOutWhatHasExpiredIfItIsToldTo() {
        clock.start(true);
        clock.step(TTL);
        Clock.Past saved = clock.past().savedAt(clock.now());
        clock.step(-TTL);
        clock.start(true, saved);
        assertThat(clock.mayBeGone(SAVED_WITHOUT_EXPIRED, BEGIN)).isTrue();
        assertThat(clock.mayBeGone(STATE, BEGIN)).isFalse();
    }

    @Test
    void whatWasWrittenAheadMayGoWhenItIsOldByTheSteadyClock() {
        clock.start(true);
        clock.step(10 * TTL);
        long written = clock.now();
        clock.step(TTL);
        clock.step(-TTL);
        assertThat(clock.mayBeGone(STATE, written)).isFalse();
        clock.step(2 * TTL);
        steady.addAndGet(TTL);
        assertThat(clock.mayBeGone(STATE, written)).isTrue();
    }
}
