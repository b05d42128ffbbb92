// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.programs;

import static org.assertj.core.api.Assertions.fail;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.flink.util.FileUtils;
import org.lavakv.flink.programs.Shrinker.Failing;

/**
 * Runs random programs on a few threads. For a failed one it prints the steps that show the
 * failure, the difference, and how to repeat it. The variables LAVA_TEST_SEED and
 * LAVA_TEST_PROGRAMS set the first seed and the number of programs.
 */
final class RandomPrograms {

    private static final int THREADS = 2;

    private RandomPrograms() {}

    private static long variable(String name, long otherwise) {
        String value = System.getenv(name);
        return value == null || value.isEmpty() ? otherwise : Long.parseLong(value);
    }

    static void run(long firstSeed, long programs) throws Exception {
        long first = variable("LAVA_TEST_SEED", firstSeed);
        long count = variable("LAVA_TEST_PROGRAMS", programs);
        AtomicLong next = new AtomicLong(first);
        AtomicLong compared = new AtomicLong();
        AtomicLong withRocksDb = new AtomicLong();
        AtomicLong steps = new AtomicLong();
        ShownAgain.Counts counts = new ShownAgain.Counts();
        AtomicReference<String> failure = new AtomicReference<>();
        AtomicReference<Throwable> cause = new AtomicReference<>();
        System.out.println("Random programs of seeds " + first + " to " + (first + count - 1));
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            Thread thread =
                    new Thread(
                            () -> {
                                long seed;
                                while (failure.get() == null
                                        && (seed = next.getAndIncrement()) < first + count) {
                                    try {
                                        Program program = ProgramGenerator.of(seed);
                                        Comparison.Difference difference =
                                                run(seed, program, counts);
                                        if (difference != null) {
                                            cause.compareAndSet(null, difference);
                                            failure.compareAndSet(
                                                    null, message(seed, program, difference));
                                        }
                                        compared.incrementAndGet();
                                        if (program.setup.kinds.contains(BackendKind.ROCKSDB)) {
                                            withRocksDb.incrementAndGet();
                                        }
                                        steps.addAndGet(program.steps.size());
                                    } catch (Throwable t) {
                                        cause.compareAndSet(null, t);
                                        failure.compareAndSet(null, "Program " + seed + ": " + t);
                                    }
                                }
                            },
                            "programs " + i);
            threads.add(thread);
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println("COUNT " + compared + " programs compared on hashmap and Lava");
        System.out.println("COUNT " + withRocksDb + " programs compared on RocksDB, too");
        System.out.println("COUNT " + steps + " steps of programs");
        print(counts);
        if (failure.get() != null) {
            fail(failure.get(), cause.get());
        }
    }

    private static void print(ShownAgain.Counts counts) {
        System.out.println(
                "COUNT "
                        + (counts.neverExpired + counts.expired)
                        + " values compared when clocks of programs went back");
        System.out.println(
                "COUNT "
                        + counts.expired
                        + " values compared that only clocks which were never accepted called expired");
        System.out.println(
                "COUNT " + counts.doubtful + " values of programs that Lava might have dropped");
        System.out.println(
                "COUNT " + counts.gone + " values of programs that Lava had rightly dropped");
    }

    private static Comparison.Difference run(long seed, Program program, ShownAgain.Counts counts)
            throws Exception {
        Path root = Files.createTempDirectory("program-" + seed + "-");
        try {
            ShownAgain.Counts more = Comparison.run(program, root);
            synchronized (counts) {
                counts.add(more);
            }
            return null;
        } catch (Comparison.Difference difference) {
            return difference;
        } finally {
            FileUtils.deleteDirectory(root.toFile());
        }
    }

    private static String message(long seed, Program program, Comparison.Difference difference)
            throws Exception {
        Failing shrunk =
                Shrinker.shrunk(
                        new Failing(program, difference),
                        smaller -> run(seed, smaller, new ShownAgain.Counts()));
        return "Program "
                + seed
                + " fails. "
                + shrunk.difference.getMessage()
                + "\nThe steps that show it, of "
                + program.steps.size()
                + ":\n"
                + shrunk.program
                + "To repeat it: LAVA_TEST_SEED="
                + seed
                + " LAVA_TEST_PROGRAMS=1 mvn verify -Dnative.skip"
                + " -pl jni,flink-statebackend-lava,integration-tests"
                + " -Dtest=RandomProgramsTest -Dsurefire.failIfNoSpecifiedTests=false";
    }
}
