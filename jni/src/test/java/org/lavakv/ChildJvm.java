// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Runs a main class in a separate JVM, for actions that must not happen in the tests' JVM. */
final class ChildJvm {

    final int exitCode;
    final long millis;
    final String output;

    private ChildJvm(int exitCode, long millis, String output) {
        this.exitCode = exitCode;
        this.millis = millis;
        this.output = output;
    }

    static ChildJvm run(Class<?> main, List<String> options, String... arguments) throws Exception {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of("-Xmx256m", "-Xcheck:jni", "-ea"));
        command.addAll(options);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
        command.addAll(List.of(arguments));
        File log = File.createTempFile("child", ".log");
        try {
            long before = System.nanoTime();
            Process process =
                    new ProcessBuilder(command)
                            .redirectErrorStream(true)
                            .redirectOutput(log)
                            .start();
            boolean ended = process.waitFor(120, TimeUnit.SECONDS);
            long millis = (System.nanoTime() - before) / 1_000_000;
            if (!ended) {
                process.destroyForcibly().waitFor();
            }
            String output = Files.readString(log.toPath(), StandardCharsets.ISO_8859_1);
            assertThat(ended).as("ended within two minutes: %s", output).isTrue();
            return new ChildJvm(process.exitValue(), millis, output);
        } finally {
            Files.deleteIfExists(log.toPath());
        }
    }

    /** Time from the end of the main method, as printed by the child, to the end of the process. */
    long millisAfterMain() {
        long mainMillis =
                Long.parseLong(output.replaceAll("(?s).*main ended after (\\d+) ms.*", "$1"));
        return millis - mainMillis;
    }

    /** Must be called at the end of a child's main. */
    static void sayEnd() {
        long started = java.lang.management.ManagementFactory.getRuntimeMXBean().getStartTime();
        System.out.println("main ended after " + (System.currentTimeMillis() - started) + " ms");
    }
}
