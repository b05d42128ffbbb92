// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.programs;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.apache.flink.runtime.operators.testutils.MockEnvironment;
import org.apache.flink.runtime.operators.testutils.MockEnvironmentBuilder;

/**
 * Runs a program on all of its jobs, step by step, and compares their answers.
 *
 * <p>Threads: one. Ownership: closes the jobs; files below the directory are kept.
 */
final class Comparison {

    /** Maximum length of a printed answer, and of its equal part before the difference. */
    private static final int SHOWN = 400;

    private static final int SHOWN_BEFORE = 100;

    private final Program program;
    private final List<Job> jobs = new ArrayList<>();
    private MockEnvironment environment;
    private final ShownAgain.Counts counts = new ShownAgain.Counts();
    private int at;

    private Comparison(Program program) {
        this.program = program;
    }

    /** A step that fails, or whose answers differ. */
    static final class Difference extends Exception {
        private static final long serialVersionUID = 1L;

        /** Number of steps that were done before. */
        final int step;

        Difference(int step, String message, Throwable cause) {
            super(message, cause);
            this.step = step;
        }
    }

    /**
     * Runs the program.
     *
     * @param root an empty directory
     * @return number of values that were compared when the clock was set back
     */
    static ShownAgain.Counts run(Program program, Path root) throws Exception {
        Comparison comparison = new Comparison(program);
        try {
            comparison.start(root);
            for (Step step : program.steps) {
                comparison.compare(step);
                comparison.at++;
            }
        } catch (Throwable t) {
            try {
                comparison.close();
            } catch (Throwable more) {
                t.addSuppressed(more);
            }
            throw t;
        }
        comparison.close();
        return comparison.counts;
    }

    private void start(Path root) throws Exception {
        environment =
                new MockEnvironmentBuilder()
                        .setManagedMemorySize(program.setup.memoryBytes)
                        .build();
        for (int i = 0; i < program.setup.kinds.size(); i++) {
            Job job = new Job(i, program.setup, environment, root.resolve("job-" + i));
            jobs.add(job);
            asked(
                    job,
                    "start",
                    () -> {
                        job.start(program.setup.ranges);
                        return "started";
                    });
        }
    }

    private void close() throws Exception {
        for (Job job : jobs) {
            job.close();
        }
        environment.close();
    }

    private void compare(Step step) throws Exception {
        Map<String, Object> answers = new TreeMap<>();
        for (Job job : jobs) {
            answers.put(job.name(), asked(job, step.toString(), () -> step.run(job)));
        }
        requireSame(answers, step + " is answered differently");
        if (step.showsExpiredAgain()) {
            settle(step);
        }
        for (Cell cell : step.cells()) {
            Map<String, Object> held = new TreeMap<>();
            for (Job job : jobs) {
                held.put(
                        job.name(),
                        asked(job, "read " + cell, () -> job.of(cell.key).live(cell).toString()));
            }
            requireSame(held, "Behind \"" + step + "\" what is held differs in " + cell);
        }
        if (step.comparesAll()) {
            compareAll(step);
        }
    }

    private void settle(Step step) throws Exception {
        String difference;
        try {
            difference = ShownAgain.settle(jobs, program.setup.states, counts);
        } catch (Exception e) {
            throw new Difference(at, "Settling what \"" + step + "\" shows fails: " + e, e);
        }
        if (difference != null) {
            throw new Difference(at, "Behind \"" + step + "\" " + difference, null);
        }
    }

    private void compareAll(Step step) throws Exception {
        List<TreeMap<String, String>> contents = new ArrayList<>();
        for (Job job : jobs) {
            contents.add(asked(job, "read everything", job::content));
        }
        TreeMap<String, String> all = new TreeMap<>();
        contents.forEach(all::putAll);
        for (String what : all.keySet()) {
            Map<String, Object> held = new TreeMap<>();
            for (int i = 0; i < jobs.size(); i++) {
                held.put(jobs.get(i).name(), contents.get(i).getOrDefault(what, "nothing"));
            }
            requireSame(held, "Behind \"" + step + "\" what is held differs in " + what);
        }
    }

    private <T> T asked(Job job, String what, Callable<T> question) throws Difference {
        try {
            return question.call();
        } catch (Throwable t) {
            throw new Difference(at, job.name() + " fails in \"" + what + "\": " + t, t);
        }
    }

    private void requireSame(Map<String, Object> answers, String difference) throws Difference {
        if (answers.values().stream().distinct().count() == 1) {
            return;
        }
        int same = samePrefix(answers);
        StringBuilder text = new StringBuilder(difference).append(':');
        answers.forEach(
                (job, answer) ->
                        text.append("\n  ")
                                .append(job)
                                .append(": ")
                                .append(shownFrom(answer.toString(), same - SHOWN_BEFORE)));
        throw new Difference(at, text.toString(), null);
    }

    /** Length of the common prefix of all answers. */
    private static int samePrefix(Map<String, Object> answers) {
        List<String> texts =
                answers.values().stream().map(String::valueOf).collect(Collectors.toList());
        int same = 0;
        while (true) {
            int at = same;
            if (texts.stream().anyMatch(text -> text.length() == at)
                    || texts.stream().map(text -> text.charAt(at)).distinct().count() > 1) {
                return same;
            }
            same++;
        }
    }

    private static String shownFrom(String text, int from) {
        int begin = Math.max(from, 0);
        int end = Math.min(begin + SHOWN, text.length());
        return (begin > 0 ? "..." : "")
                + text.substring(begin, end)
                + (end < text.length() ? "..." : "");
    }
}
