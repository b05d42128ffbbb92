package org.lavakv.flink.history;

import static org.assertj.core.api.Assertions.fail;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.flink.util.FileUtils;

/**
 * Runs random histories on a few threads, and says of one that fails what it did and how to repeat
 * it. The variables LAVA_TEST_SEED and LAVA_TEST_HISTORIES stand for the first seed and the number.
 */
final class RandomHistories {

    private static final int THREADS = 2;

    private RandomHistories() {}

    private static long variable(String name, long otherwise) {
        String value = System.getenv(name);
        return value == null || value.isEmpty() ? otherwise : Long.parseLong(value);
    }

    static void run(long firstSeed, long histories) throws Exception {
        long first = variable("LAVA_TEST_SEED", firstSeed);
        long count = variable("LAVA_TEST_HISTORIES", histories);
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
                                    runOne(seed, counts, failure);
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

    private static void runOne(long seed, HistoryCounts counts, AtomicReference<Failure> failure) {
        Path root = null;
        History history = null;
        try {
            root = Files.createTempDirectory("history-" + seed + "-");
            history = new History(seed, root, counts);
            history.run();
            FileUtils.deleteDirectory(root.toFile());
        } catch (Throwable e) {
            failure.compareAndSet(null, new Failure(seed, history, root, e));
        }
    }

    private static final class Failure {
        final String message;
        final Throwable cause;

        Failure(long seed, History history, Path root, Throwable cause) {
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
                            + " LAVA_TEST_HISTORIES=1 mvn verify -Dnative.skip -pl"
                            + " flink-statebackend-lava -am -Dtest=RandomHistoriesTest"
                            + " -Dsurefire.failIfNoSpecifiedTests=false";
        }
    }
}
