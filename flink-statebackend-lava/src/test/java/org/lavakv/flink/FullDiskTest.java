// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The local disk becomes full: writes, checkpoints and restores fail with the directory in the
 * message, and succeed once there is space again.
 */
@Timeout(180)
class FullDiskTest {

    @TempDir Path root;

    /**
     * Runs everywhere: a limit on the size of the process's files replaces the limit of the disk.
     */
    @Test
    void filesThatMayNotGrow() throws Exception {
        passed(run(java("limit")));
    }

    /**
     * The same on a file system that is really full. Skipped only where the kernel does not allow
     * this user to mount one; the test above runs there as well.
     */
    @Test
    void smallFileSystem() throws Exception {
        String mount = "mount -t tmpfs -o size=16m none '" + local() + "'";
        Outcome allowed = run(List.of("unshare", "-rm", "sh", "-c", mount));
        assumeTrue(allowed.exitCode == 0, () -> "mounting is not allowed here: " + allowed.output);
        String command =
                java("mount").stream()
                        .map(argument -> "'" + argument + "'")
                        .collect(Collectors.joining(" "));
        passed(run(List.of("unshare", "-rm", "sh", "-c", mount + " && exec " + command)));
    }

    private static void passed(Outcome outcome) {
        assertThat(outcome.output)
                .contains("checkpoints\n")
                .contains("timers on the heap\n")
                .contains("writes, of which ")
                .contains("restores\n")
                .contains("passed on a full disk\n");
        assertThat(outcome.exitCode).isZero();
    }

    private Path local() throws Exception {
        return Files.createDirectories(root.resolve("local"));
    }

    private List<String> java(String disk) throws Exception {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        // The JVM's own files must not be affected by the limit.
        command.addAll(List.of("-Xmx256m", "-XX:-UsePerfData", "-XX:TieredStopAtLevel=1"));
        command.addAll(List.of("-cp", System.getProperty("java.class.path")));
        command.add(FullDisk.class.getName());
        command.add(local().toString());
        command.add(Files.createDirectories(root.resolve("elsewhere")).toString());
        command.add(disk);
        return command;
    }

    /** Reads the output through a pipe: a limited process could not write it into a file. */
    private static Outcome run(List<String> command) throws Exception {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        try {
            String output =
                    new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(process.waitFor(10, TimeUnit.SECONDS)).isTrue();
            return new Outcome(process.exitValue(), output);
        } finally {
            process.destroyForcibly();
        }
    }

    private static final class Outcome {
        private final int exitCode;
        private final String output;

        Outcome(int exitCode, String output) {
            this.exitCode = exitCode;
            this.output = output;
        }
    }
}
