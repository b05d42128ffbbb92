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
 * Starts this program again with one of its hidden commands, which measures one backend, and waits
 * for what it writes. One thread.
 */
final class ChildProcess {
    private final int heapMiB;
    private final Path parent;

    /**
     * @param heapMiB of the process's JVM, all of it resident from the start: what else is resident
     *     then does not depend on how often it collected
     * @param parent where the backends' files are, in a directory that is removed afterwards
     */
    ChildProcess(int heapMiB, Path parent) {
        this.heapMiB = heapMiB;
        this.parent = parent;
    }

    /**
     * @param command takes {@code --directory}, empty, for its files, and {@code --out}, a file
     *     that it writes as JSON
     * @param secondsMax after which it is killed
     * @return what it wrote
     * @throws IOException if the process failed, which has told why on its standard error
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
        // Also when this process is told to end.
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
            // This process ends, and the hook runs: it finds nothing left.
        }
    }
}
