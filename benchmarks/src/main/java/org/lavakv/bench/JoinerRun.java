package org.lavakv.bench;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Starts a {@link JoinerProcess} and waits for what it measures. One thread. */
final class JoinerRun {
    private static final int OTHER_MINUTES_MAX = 40; // to fill, settle, close

    private final JoinerScale scale;
    private final int heapMiB;
    private final Path parent;

    /**
     * @param heapMiB of the process's JVM, all of it resident from the start: what else is resident
     *     then does not depend on how often it collected
     * @param parent where the backends' files are, in a directory that is removed afterwards
     */
    JoinerRun(JoinerScale scale, int heapMiB, Path parent) {
        this.scale = scale;
        this.heapMiB = heapMiB;
        this.parent = parent;
    }

    /**
     * @param rate operations a second over all instances; 0: as many as there can be, the time
     *     counted in that their background work takes longer
     * @throws IOException if the process failed, which has told why on its standard error
     */
    Map<JoinerMetric, Double> run(String backend, int rate, int warmupSeconds, int seconds)
            throws IOException, InterruptedException {
        Path directory = Files.createTempDirectory(parent, "lava-joiner");
        Path files = Files.createDirectory(directory.resolve("files"));
        Path out = directory.resolve("metrics.json");
        List<String> command = java();
        command.add("joiner-process");
        command.addAll(scale.arguments());
        command.add("--backend=" + backend);
        command.add("--rate=" + rate);
        command.add("--warmup-seconds=" + warmupSeconds);
        command.add("--seconds=" + seconds);
        command.add("--directory=" + files);
        command.add("--out=" + out);
        Process process = new ProcessBuilder(command).inheritIO().start();
        // Also when this process is told to end.
        Thread hook = new Thread(() -> remove(process, directory));
        Runtime.getRuntime().addShutdownHook(hook);
        try {
            long secondsMax =
                    TimeUnit.MINUTES.toSeconds(OTHER_MINUTES_MAX) + warmupSeconds + seconds;
            if (!process.waitFor(secondsMax, TimeUnit.SECONDS)) {
                throw new IOException(backend + " did not end within " + secondsMax + " s");
            }
            if (process.exitValue() != 0) {
                throw new IOException(backend + " failed with " + process.exitValue());
            }
            return new ObjectMapper()
                    .readValue(out.toFile(), new TypeReference<Map<JoinerMetric, Double>>() {});
        } finally {
            remove(process, directory);
            removeHook(hook);
        }
    }

    /** This process's Java, options and class path, with the heap of a run. */
    private List<String> java() {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
        command.add("-Xms" + heapMiB + "m");
        command.add("-Xmx" + heapMiB + "m");
        command.add("-XX:+AlwaysPreTouch");
        command.add("-cp");
        command.add(System.getProperty("java.class.path"));
        command.add(Main.class.getName());
        return command;
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
