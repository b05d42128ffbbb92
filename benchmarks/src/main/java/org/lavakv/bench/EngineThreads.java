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
 * CPU time of this process's threads that the engines started, which the JVM knows nothing of. They
 * are told by their names: RocksDB's pools are {@code rocksdb:low}, {@code rocksdb:high} and so on,
 * Lava's workers {@code lava-bg-N}. One thread.
 */
final class EngineThreads {
    private static final List<String> PREFIXES = List.of("rocksdb:", "lava-bg-");
    // Times in /proc are in ticks of 10 ms whatever the kernel's own are; it makes them from its
    // exact count of what the thread ran, so that what a reading lacks the next one has.
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
     * CPU time in nanoseconds, user's and system's, of all engine threads there have been at any
     * reading. A thread that ended since the last reading counts as it was then: Lava's end after
     * ten idle seconds, RocksDB's never.
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

    /** Waits until this process's engine threads have nothing left to do; at most ten minutes. */
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

    /** What one line of {@code /proc/.../stat} says. */
    static final class Task {
        final long id;
        final String name;

        /** User's and system's time. */
        final long nanos;

        /** Together with the number, which the system gives again, what tells a thread apart. */
        final long started;

        private Task(long id, String name, long nanos, long started) {
            this.id = id;
            this.name = name;
            this.nanos = nanos;
            this.started = started;
        }

        /**
         * @throws IOException if it is no such line
         */
        static Task parse(String line) throws IOException {
            // A name may have blanks and parentheses in it; nothing after it has.
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
