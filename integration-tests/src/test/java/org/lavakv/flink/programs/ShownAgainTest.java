// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.programs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.function.Predicate;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A job that loses a value: the comparison accepts the loss of values that Lava may drop, and no
 * other loss.
 */
class ShownAgainTest {

    @TempDir private Path root;

    private Setup setup;
    private Cell cell;
    private long ttl;
    private int runs;

    /** A step that silently loses a cell's values on some backends. */
    private static final class Lose extends Step {
        private final Cell cell;
        private final Predicate<BackendKind> on;

        Lose(Cell cell, Predicate<BackendKind> on) {
            this.cell = cell;
            this.on = on;
        }

        @Override
        Object run(Job job) throws Exception {
            if (on.test(job.kind())) {
                job.of(cell.key).at(cell).clear();
            }
            return "lost";
        }
    }

    /**
     * From now on Lava may drop expired values according to the comparison, although Lava itself is
     * not told.
     */
    private static final class Accept extends Step {
        @Override
        Object run(Job job) {
            job.clock().accept();
            return "accepted";
        }
    }

    /** A list with a TTL that is longer than any test. */
    @BeforeEach
    void setUp() {
        for (int seed = 0; ; seed++) {
            setup = new Setup(new Random(seed));
            for (StateSpec state : setup.states) {
                if (state.kind == StateSpec.Kind.LIST
                        && state.ttl != null
                        && state.ttl.millis == 3_600_000) {
                    cell = new Cell(state, setup.keys.key(1), state.namespaces.get(0));
                    ttl = state.ttl.millis;
                    return;
                }
            }
        }
    }

    private static Step clock(long millis) {
        return new JobSteps.StepClock(millis);
    }

    private Step add(int number) {
        return new StateSteps.Change(cell, StateSteps.Operation.ADD, number, 1, 10);
    }

    private ShownAgain.Counts run(Step... steps) throws Exception {
        Path own = Files.createDirectory(root.resolve("run-" + runs++));
        return Comparison.run(new Program(setup, List.of(steps)), own);
    }

    @Test
    void whatNeverExpiredMustBeThere() {
        assertThatThrownBy(
                        () ->
                                run(
                                        add(1),
                                        clock(ttl - 1),
                                        new JobSteps.Compact(),
                                        new Lose(cell, BackendKind::isLava),
                                        clock(-ttl + 1)))
                .isInstanceOf(Comparison.Difference.class)
                .hasMessageContaining("what the clock shows again differs in");
    }

    @Test
    void whatExpiredByAnAcceptedClockMayBeGone() throws Exception {
        ShownAgain.Counts counts =
                run(
                        add(1),
                        clock(ttl),
                        new JobSteps.Compact(),
                        new Lose(cell, BackendKind::isLava),
                        clock(-ttl),
                        new JobSteps.CompareAll());
        assertThat(counts.doubtful).isEqualTo(1);
        assertThat(counts.gone).isEqualTo(1);
    }

    @Test
    void onOtherBackendsItMustBeThere() throws Exception {
        ShownAgain.Counts counts = run(add(1), clock(ttl), new Accept(), clock(-ttl));
        assertThat(counts.doubtful).isEqualTo(1);
        assertThat(counts.gone).isZero();
        assertThatThrownBy(
                        () ->
                                run(
                                        add(1),
                                        clock(ttl),
                                        new Accept(),
                                        new Lose(cell, kind -> !kind.isLava()),
                                        clock(-ttl)))
                .isInstanceOf(Comparison.Difference.class)
                .hasMessageContaining("what the clock shows again differs in");
    }

    @Test
    void whatExpiredByAClockThatWasNotAcceptedMustBeThere() throws Exception {
        ShownAgain.Counts counts = run(add(1), clock(ttl), clock(-ttl));
        assertThat(counts.expired).isEqualTo(1);
        assertThatThrownBy(
                        () ->
                                run(
                                        add(1),
                                        clock(ttl),
                                        new Lose(cell, BackendKind::isLava),
                                        clock(-ttl)))
                .isInstanceOf(Comparison.Difference.class)
                .hasMessageContaining("what the clock shows again differs in");
    }

    /**
     * Later steps do not depend on values that may be dropped; all other values stay the same
     * everywhere.
     */
    @Test
    void whatMayBeGoneIsTakenAway() throws Exception {
        ShownAgain.Counts counts =
                run(
                        add(1),
                        clock(ttl - 10),
                        add(2),
                        clock(10),
                        new JobSteps.Compact(),
                        clock(-1_000),
                        add(3),
                        new StateSteps.Read(cell, StateSteps.Way.GET, 0),
                        clock(-1_000),
                        new JobSteps.CompareAll());
        assertThat(counts.doubtful).isEqualTo(1);
        assertThat(counts.gone).isEqualTo(1);
        assertThat(counts.expired).isZero();
        assertThat(counts.neverExpired).isEqualTo(1 + 2);
    }
}
