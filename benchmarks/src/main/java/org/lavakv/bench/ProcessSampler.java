// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.bench;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Observes this process and a directory on a separate thread: resident memory every 100 ms, CPU and
 * bytes on disk every second. After {@link #stop} any thread may read the results.
 */
final class ProcessSampler {
    private static final long RESIDENT_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
    private static final int RESIDENT_PER_SECOND = 10;
    private static final String RESIDENT = "VmRSS:";

    private final Path directory;
    private final LongSupplier callNanos;
    private final EngineThreads engineThreads = new EngineThreads();
    private final OperatingSystemMXBean system =
            (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    private final Thread thread = new Thread(this::work, "process-sampler");
    private volatile boolean stopping;
    private Exception failure;

    private final CumulativeSeries engine = new CumulativeSeries();
    private final CumulativeSeries calls = new CumulativeSeries();
    private final CumulativeSeries both = new CumulativeSeries();
    private final CumulativeSeries process = new CumulativeSeries();
    private long residentBytesPeak;
    private long diskBytesPeak;
    private double diskBytesSum;
    private int diskReadings;

    /**
     * @param directory directory whose files count as data on disk
     * @param callNanos CPU time inside calls of the engine so far, callable by any thread
     */
    ProcessSampler(Path directory, LongSupplier callNanos) {
        this.directory = directory;
        this.callNanos = callNanos;
        thread.setDaemon(true);
    }

    void start() {
        thread.start();
    }

    /**
     * Returns after the last reading.
     *
     * @throws IOException or another failure of a reading
     */
    void stop() throws Exception {
        stopping = true;
        thread.join();
        if (failure != null) {
            throw failure;
        }
    }

    /** CPU of the engine's own threads, in nanoseconds. */
    CumulativeSeries engine() {
        return engine;
    }

    /** CPU inside calls of the engine, in nanoseconds. */
    CumulativeSeries calls() {
        return calls;
    }

    /** The sum of both. */
    CumulativeSeries engineAndCalls() {
        return both;
    }

    /** CPU of the whole process, including the load's generator and the JVM, in nanoseconds. */
    CumulativeSeries process() {
        return process;
    }

    long residentBytesPeak() {
        return residentBytesPeak;
    }

    long diskBytesPeak() {
        return diskBytesPeak;
    }

    double diskBytesAverage() {
        return diskBytesSum / diskReadings;
    }

    private void work() {
        try {
            for (int i = 0; !stopping; i++) {
                residentBytesPeak = Math.max(residentBytesPeak, residentBytes());
                if (i % RESIDENT_PER_SECOND == 0) {
                    readCpu();
                    readDisk();
                }
                TimeUnit.NANOSECONDS.sleep(RESIDENT_NANOS);
            }
            readCpu();
        } catch (IOException | InterruptedException | RuntimeException e) {
            failure = e;
        }
    }

    private void readCpu() throws IOException {
        long now = System.nanoTime();
        long engineNanos = engineThreads.readNanos();
        long inCalls = callNanos.getAsLong();
        engine.add(now, engineNanos);
        calls.add(now, inCalls);
        both.add(now, engineNanos + inCalls);
        process.add(now, system.getProcessCpuTime());
    }

    private void readDisk() throws IOException {
        long bytes = bytesIn(directory);
        diskBytesPeak = Math.max(diskBytesPeak, bytes);
        diskBytesSum += bytes;
        diskReadings++;
    }

    private static long residentBytes() throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
            if (line.startsWith(RESIDENT)) {
                String[] words = line.substring(RESIDENT.length()).trim().split(" ");
                return Long.parseLong(words[0]) << 10; // "kB", which means KiB
            }
        }
        throw new IOException("/proc/self/status has no " + RESIDENT);
    }

    /**
     * The total size of all files in the directory. Excludes native libraries, which both backends
     * store beside their data, and RocksDB's text logs. Files that are deleted meanwhile may or may
     * not count.
     */
    static long bytesIn(Path directory) throws IOException {
        long[] bytes = new long[1];
        Files.walkFileTree(
                directory,
                new SimpleFileVisitor<>() {
                    @Override
                    public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                        String name = file.getFileName().toString();
                        if (!name.endsWith(".so") && !name.startsWith("LOG")) {
                            bytes[0] += attributes.size();
                        }
                        return FileVisitResult.CONTINUE;
                    }

                    @Override
                    public FileVisitResult visitFileFailed(Path file, IOException failure)
                            throws IOException {
                        if (failure instanceof NoSuchFileException) {
                            return FileVisitResult.CONTINUE;
                        }
                        throw failure;
                    }
                });
        return bytes[0];
    }
}
