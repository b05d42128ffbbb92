// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.bench;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * CPU time of the threads that the engines started in this process, which the JVM does not know.
 * They are identified by their names: RocksDB's pools are {@code rocksdb:low}, {@code rocksdb:high}
 * and so on, Lava's workers {@code lava-bg-N}. One thread.
 */
final class EngineThreads {
    private static final List<String> PREFIXES = List.of("rocksdb:", "lava-bg-");
    // Times in /proc are in ticks of 10 ms, independent of the kernel's own ticks. The kernel
    // computes them from the exact run time of a thread, so the next reading includes what one
    // reading lacks.
    private static final long TICK_NANOS = 10_000_000;

    private static final int IDLE_MINUTES_MAX = 10;
    private static final int IDLE_SECONDS = 2;
    private static final long IDLE_NANOS_MAX = TimeUnit.MILLISECONDS.toNanos(50);

    private final Path tasks;
    private final Map<String, Long> nanosByThread = new HashMap<>();

    EngineThreads() {
        this(Path.of("/proc/self/task"));
    }

    EngineThreads(Path tasks) {
        this.tasks = tasks;
    }

    /**
     * CPU time in nanoseconds, user and system, of all engine threads that existed at any reading.
     * A thread that ended since the last reading counts with its last reading: Lava's threads end
     * after ten idle seconds, RocksDB's never.
     */
    long readNanos() throws IOException {
        try (DirectoryStream<Path> threads = Files.newDirectoryStream(tasks)) {
            for (Path thread : threads) {
                read(thread.resolve("stat"));
            }
        } catch (DirectoryIteratorException e) {
            throw e.getCause();
        }
        return nanosByThread.values().stream().mapToLong(nanos -> nanos).sum();
    }

    /** Waits until this process's engine threads are idle; at most ten minutes. */
    static void awaitIdle() throws IOException, InterruptedException {
        EngineThreads threads = new EngineThreads();
        long end = System.nanoTime() + TimeUnit.MINUTES.toNanos(IDLE_MINUTES_MAX);
        long last = threads.readNanos();
        for (int idle = 0; idle < IDLE_SECONDS && System.nanoTime() < end; ) {
            TimeUnit.SECONDS.sleep(1);
            long now = threads.readNanos();
            idle = now - last < IDLE_NANOS_MAX ? idle + 1 : 0;
            last = now;
        }
    }

    private void read(Path stat) throws IOException {
        Task task;
        try {
            task = Task.parse(Files.readString(stat, StandardCharsets.ISO_8859_1));
        } catch (NoSuchFileException e) {
            return;
        } catch (IOException e) {
            if (!Files.exists(stat)) {
                return; // ended between open and read: ESRCH
            }
            throw e;
        }
        if (PREFIXES.stream().anyMatch(task.name::startsWith)) {
            nanosByThread.put(task.id + " " + task.started, task.nanos);
        }
    }

    /** The content of one line of {@code /proc/.../stat}. */
    static final class Task {
        final long id;
        final String name;

        /** User and system time. */
        final long nanos;

        /** Identifies a thread together with its number, because the system reuses numbers. */
        final long started;

        private Task(long id, String name, long nanos, long started) {
            this.id = id;
            this.name = name;
            this.nanos = nanos;
            this.started = started;
        }

        /**
         * @throws IOException if the line has another format
         */
        static Task parse(String line) throws IOException {
            // A name may contain blanks and parentheses; the fields after it do not.
            int open = line.indexOf('(');
            int close = line.lastIndexOf(')');
            try {
                String[] rest = line.substring(close + 1).trim().split(" ");
                long ticks = Long.parseLong(rest[11]) + Long.parseLong(rest[12]);
                return new Task(
                        Long.parseLong(line.substring(0, open).trim()),
                        line.substring(open + 1, close),
                        ticks * TICK_NANOS,
                        Long.parseLong(rest[19]));
            } catch (IndexOutOfBoundsException | NumberFormatException e) {
                throw new IOException("No line of /proc/self/task/*/stat: " + line, e);
            }
        }
    }
}
