// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EngineThreadsTest {
    private static final long TICK_NANOS = 10_000_000;

    @TempDir Path tasks;

    private static String stat(long id, String name, long user, long system, long started) {
        return id
                + " ("
                + name
                + ") S 1 2 2 0 -1 4194368 30 0 0 0 "
                + user
                + " "
                + system
                + " 0 0 20 0 41 0 "
                + started
                + " 3133440 394 18446744073709551615 0 0 0\n";
    }

    private void thread(long id, String name, long user, long system, long started)
            throws IOException {
        Path directory = Files.createDirectories(tasks.resolve(Long.toString(id)));
        Files.writeString(directory.resolve("stat"), stat(id, name, user, system, started));
    }

    @Test
    void namesMayHoldAnything() throws IOException {
        EngineThreads.Task task = EngineThreads.Task.parse(stat(7, "a) R (b 1", 3, 4, 99));
        assertThat(task.id).isEqualTo(7);
        assertThat(task.name).isEqualTo("a) R (b 1");
        assertThat(task.nanos).isEqualTo(7 * TICK_NANOS);
        assertThat(task.started).isEqualTo(99);
    }

    @Test
    void otherTextIsRefused() {
        for (String line : new String[] {"", "7", "7 (a", "7 (a) S 1", "x (a) S"}) {
            assertThatThrownBy(() -> EngineThreads.Task.parse(line))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining(line);
        }
    }

    @Test
    void onlyEngineThreadsCount() throws IOException {
        thread(1, "java", 1000, 1000, 1);
        thread(2, "rocksdb:low", 1, 2, 1);
        thread(3, "rocksdb:high", 4, 0, 1);
        thread(4, "lava-bg-0", 8, 0, 1);
        thread(5, "lava-host-repor", 1000, 0, 1); // Java's own
        Files.createDirectories(tasks.resolve("6")); // ended before it was read
        assertThat(new EngineThreads(tasks).readNanos()).isEqualTo(15 * TICK_NANOS);
    }

    @Test
    void threadsThatEndedStillCount() throws IOException {
        EngineThreads threads = new EngineThreads(tasks);
        thread(2, "lava-bg-0", 5, 0, 10);
        threads.readNanos();
        // Another thread gets its number.
        thread(2, "lava-bg-1", 1, 0, 20);
        assertThat(threads.readNanos()).isEqualTo(6 * TICK_NANOS);
        Files.delete(tasks.resolve("2").resolve("stat"));
        assertThat(threads.readNanos()).isEqualTo(6 * TICK_NANOS);
    }

    @Test
    void readsThisProcess() throws IOException {
        assertThat(new EngineThreads().readNanos()).isGreaterThanOrEqualTo(0);
    }
}
