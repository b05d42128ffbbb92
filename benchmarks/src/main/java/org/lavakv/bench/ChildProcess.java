// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.bench;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Starts this program with one of its hidden commands, which measures one backend, and waits for
 * its output. One thread.
 */
final class ChildProcess {
    private final int heapMiB;
    private final Path parent;

    /**
     * @param heapMiB heap size of the process's JVM. The whole heap is resident from the start, so
     *     that other resident memory does not depend on the number of garbage collections.
     * @param parent parent of a directory for the backends' files, which is removed afterwards
     */
    ChildProcess(int heapMiB, Path parent) {
        this.heapMiB = heapMiB;
        this.parent = parent;
    }

    /**
     * @param command accepts {@code --directory}, an empty directory for its files, and {@code
     *     --out}, a file to which it writes JSON
     * @param secondsMax time after which the process is killed
     * @return the content of the output file
     * @throws IOException if the process failed; it has printed the reason on its standard error
     */
    <T> T run(String command, List<String> arguments, long secondsMax, TypeReference<T> type)
            throws IOException, InterruptedException {
        Path directory = Files.createTempDirectory(parent, "lava-" + command);
        Path files = Files.createDirectory(directory.resolve("files"));
        Path out = directory.resolve("metrics.json");
        List<String> line = java();
        line.add(command);
        line.addAll(arguments);
        line.add("--directory=" + files);
        line.add("--out=" + out);
        Process process = new ProcessBuilder(line).inheritIO().start();
        // Also runs when this process is terminated.
        Thread hook = new Thread(() -> remove(process, directory));
        Runtime.getRuntime().addShutdownHook(hook);
        try {
            if (!process.waitFor(secondsMax, TimeUnit.SECONDS)) {
                throw new IOException(describe(line) + " did not end within " + secondsMax + " s");
            }
            if (process.exitValue() != 0) {
                throw new IOException(describe(line) + " failed with " + process.exitValue());
            }
            return new ObjectMapper().readValue(out.toFile(), type);
        } finally {
            remove(process, directory);
            removeHook(hook);
        }
    }

    /** This process's Java, options and class path, with the heap of a run. */
    private List<String> java() {
        List<String> line = new ArrayList<>();
        line.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        line.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
        line.add("-Xms" + heapMiB + "m");
        line.add("-Xmx" + heapMiB + "m");
        line.add("-XX:+AlwaysPreTouch");
        line.add("-cp");
        line.add(System.getProperty("java.class.path"));
        line.add(Main.class.getName());
        return line;
    }

    private static String describe(List<String> line) {
        return String.join(" ", line.subList(line.indexOf(Main.class.getName()) + 1, line.size()));
    }

    private static void remove(Process process, Path directory) {
        try {
            process.destroyForcibly().waitFor();
            if (Files.exists(directory)) {
                Backends.deleteRecursively(directory);
            }
        } catch (IOException | InterruptedException e) {
            System.err.println("Could not remove " + directory + ": " + e);
        }
    }

    private static void removeHook(Thread hook) {
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException e) {
            // This process is ending, and the hook is running: nothing is left to remove.
        }
    }
}
