// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.programs;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Removes steps from a failing program as long as it still fails: halves first, then ever smaller
 * parts.
 */
final class Shrinker {

    private static final long SECONDS_MAX = 60;

    private Shrinker() {}

    /** Runs a program. */
    interface Runner {
        /** The difference, or null. */
        Comparison.Difference run(Program program) throws Exception;
    }

    /** A program and the difference that it shows. */
    static final class Failing {
        final Program program;
        final Comparison.Difference difference;

        Failing(Program program, Comparison.Difference difference) {
            int done = Math.min(difference.step + 1, program.steps.size());
            this.program = program.with(program.steps.subList(0, done));
            this.difference = difference;
        }
    }

    /** The program without steps that are unnecessary for its failure, as far as time permits. */
    static Failing shrunk(Failing failing, Runner runner) throws Exception {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS_MAX);
        Failing smallest = failing;
        int part = Math.max(1, smallest.program.steps.size() / 2);
        while (true) {
            boolean any = false;
            for (int from = 0; from + 1 < smallest.program.steps.size(); ) {
                if (System.nanoTime() > deadline) {
                    return smallest;
                }
                Failing smaller = without(smallest, from, part, runner);
                if (smaller == null) {
                    from += part;
                } else {
                    smallest = smaller;
                    any = true;
                }
            }
            if (part == 1 && !any) {
                return smallest;
            }
            part = Math.max(1, part / 2);
        }
    }

    private static Failing without(Failing failing, int from, int count, Runner runner)
            throws Exception {
        List<Step> steps = failing.program.steps;
        // The last step is the one that fails.
        int to = Math.min(from + count, steps.size() - 1);
        List<Step> fewer = new ArrayList<>(steps.subList(0, from));
        fewer.addAll(steps.subList(to, steps.size()));
        Program program = failing.program.with(fewer);
        Comparison.Difference difference = runner.run(program);
        return difference == null ? null : new Failing(program, difference);
    }
}
