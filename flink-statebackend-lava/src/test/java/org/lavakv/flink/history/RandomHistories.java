// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.history;

import static org.assertj.core.api.Assertions.fail;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.flink.streaming.api.operators.BackendRestorerProcedure;
import org.apache.flink.util.FileUtils;
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.core.config.Configurator;

/**
 * Runs random histories on a few threads. For a failed one it prints the steps and how to repeat
 * it. The variables LAVA_TEST_SEED, LAVA_TEST_HISTORIES and LAVA_TEST_LIVES set the first seed, the
 * number of histories, and how often the job of one may end.
 */
final class RandomHistories {

    private static final int THREADS = 2;

    private RandomHistories() {}

    private static long variable(String name, long otherwise) {
        String value = System.getenv(name);
        return value == null || value.isEmpty() ? otherwise : Long.parseLong(value);
    }

    /**
     * Runs the histories.
     *
     * @param livesMax maximum number of times a history's job fails or is stopped
     */
    static void run(long firstSeed, long histories, int livesMax) throws Exception {
        // Restores fail on purpose, and would log their stacks.
        Configurator.setLevel("org.lavakv.flink.restore", Level.ERROR);
        Configurator.setLevel(BackendRestorerProcedure.class, Level.ERROR);
        try {
            runQuietly(firstSeed, histories, livesMax);
        } finally {
            Configurator.setLevel("org.lavakv.flink.restore", Level.WARN);
            Configurator.setLevel(BackendRestorerProcedure.class, Level.WARN);
        }
    }

    private static void runQuietly(long firstSeed, long histories, int livesMax) throws Exception {
        long first = variable("LAVA_TEST_SEED", firstSeed);
        long count = variable("LAVA_TEST_HISTORIES", histories);
        int lives = (int) variable("LAVA_TEST_LIVES", livesMax);
        AtomicLong next = new AtomicLong(first);
        AtomicReference<Failure> failure = new AtomicReference<>();
        HistoryCounts counts = new HistoryCounts();
        List<Thread> threads = new ArrayList<>();
        System.out.println("Random histories of seeds " + first + " to " + (first + count - 1));
        for (int i = 0; i < THREADS; i++) {
            Thread thread =
                    new Thread(
                            () -> {
                                while (failure.get() == null) {
                                    long seed = next.getAndIncrement();
                                    if (seed >= first + count) {
                                        return;
                                    }
                                    runOne(seed, lives, counts, failure);
                                }
                            },
                            "histories " + i);
            threads.add(thread);
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.print(counts);
        if (failure.get() != null) {
            fail(failure.get().message, failure.get().cause);
        }
    }

    private static void runOne(
            long seed, int livesMax, HistoryCounts counts, AtomicReference<Failure> failure) {
        Path root = null;
        History history = null;
        try {
            root = Files.createTempDirectory("history-" + seed + "-");
            history = new History(seed, livesMax, root, counts);
            history.run();
            FileUtils.deleteDirectory(root.toFile());
        } catch (Throwable e) {
            failure.compareAndSet(null, new Failure(seed, livesMax, history, root, e));
        }
    }

    private static final class Failure {
        final String message;
        final Throwable cause;

        Failure(long seed, int livesMax, History history, Path root, Throwable cause) {
            this.cause = cause;
            this.message =
                    "History "
                            + seed
                            + " fails: "
                            + cause
                            + "\nWhat it did (files are in "
                            + root
                            + "):\n"
                            + (history == null ? "" : history.trace())
                            + "To repeat it: LAVA_TEST_SEED="
                            + seed
                            + " LAVA_TEST_HISTORIES=1 LAVA_TEST_LIVES="
                            + livesMax
                            + " mvn verify -Dnative.skip -pl"
                            + " flink-statebackend-lava -am -Dtest=RandomHistoriesTest"
                            + " -Dsurefire.failIfNoSpecifiedTests=false";
        }
    }
}
