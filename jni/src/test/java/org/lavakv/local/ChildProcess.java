// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.local;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A separate JVM that runs a main class, prints "ready" and lives until it is stopped or killed.
 */
final class ChildProcess implements AutoCloseable {

    private final Process process;
    private final BufferedReader output;

    private ChildProcess(Process process) {
        this.process = process;
        this.output =
                new BufferedReader(
                        new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    }

    /**
     * @param umask as the shell takes it
     */
    static ChildProcess start(String umask, Class<?> main, String... arguments) throws Exception {
        List<String> java = new ArrayList<>();
        java.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        java.addAll(List.of("-Xmx64m", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData", "-cp"));
        java.addAll(List.of(System.getProperty("java.class.path"), main.getName()));
        java.addAll(List.of(arguments));
        List<String> command =
                new ArrayList<>(List.of("sh", "-c", "umask " + umask + "; exec \"$@\"", "sh"));
        command.addAll(java);
        return new ChildProcess(new ProcessBuilder(command).redirectErrorStream(true).start());
    }

    /** Waits for the output line "ready". Fails with any other output. */
    ChildProcess awaitReady() throws Exception {
        StringBuilder before = new StringBuilder();
        for (String line = output.readLine(); !"ready".equals(line); line = output.readLine()) {
            assertThat(line).as("the child's output: %s", before).isNotNull();
            before.append(line).append('\n');
        }
        return this;
    }

    /** Waits for the end. */
    void passed() throws Exception {
        StringBuilder all = new StringBuilder();
        output.lines().forEach(line -> all.append(line).append('\n'));
        assertThat(process.waitFor()).as("%s", all).isZero();
    }

    /** With SIGKILL. */
    void kill() throws Exception {
        process.destroyForcibly();
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
    }

    @Override
    public void close() {
        process.destroyForcibly().onExit().join(); // its locks are only free afterwards
    }
}
