// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.engine;

import java.time.Duration;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Progress of a restore: how many files and bytes it has read. Logged periodically and at the end.
 *
 * <p>Threads: any.
 *
 * <p>Units: bytes, except for times.
 */
public final class RestoreProgress {

    private static final Logger LOG = LoggerFactory.getLogger(RestoreProgress.class);
    private static final Duration INTERVAL = Duration.ofSeconds(10);
    private static final double NANOS = 1e9;
    private static final long UNKNOWN = -1;

    private final LongSupplier nanos;
    private final Consumer<String> log;
    private String what = "Restoring";
    private long began;
    private long ended;
    private long logged;
    private boolean running;
    private long files;
    private long bytes;
    private long filesDone;
    private long bytesDone;

    public RestoreProgress() {
        this(System::nanoTime, LOG::info);
    }

    /** For tests, with another clock and log. */
    RestoreProgress(LongSupplier nanos, Consumer<String> log) {
        this.nanos = nanos;
        this.log = log;
    }

    /**
     * Begins a restore; earlier progress is reset.
     *
     * @param activity start of the log lines, for example "Restoring key groups 0 to 7"
     * @param byteCount estimated number of bytes to read
     */
    public synchronized void begin(String activity, long fileCount, long byteCount) {
        what = activity;
        files = fileCount;
        bytes = byteCount;
        filesDone = 0;
        bytesDone = 0;
        running = true;
        began = nanos.getAsLong();
        logged = began;
    }

    /** Adds bytes that were read; negative if they have to be read again. */
    public synchronized void copied(long count) {
        bytesDone += count;
        long now = nanos.getAsLong();
        if (running && now - logged >= INTERVAL.toNanos()) {
            logged = now;
            log.accept(line());
        }
    }

    /** Adds one complete file. */
    public synchronized void fileDone() {
        filesDone++;
    }

    /** All necessary files are there. */
    public synchronized void end() {
        if (!running) {
            return;
        }
        running = false;
        ended = nanos.getAsLong();
        // The number of files and bytes may have been an estimate.
        files = filesDone;
        bytes = bytesDone;
        log.accept(
                String.format(
                        "%s: done, %d files with %s in %.1f s, %s/s.",
                        what, files, inWords(bytesDone), seconds(), inWords(bytesPerSecond())));
    }

    private String line() {
        long left = secondsLeft();
        return String.format(
                "%s: %d of %d files, %s of %s, %s/s, %s left.",
                what,
                filesDone,
                files,
                inWords(bytesDone),
                inWords(bytes),
                inWords(bytesPerSecond()),
                left == UNKNOWN ? "unknown time" : "about " + left + " s");
    }

    private double seconds() {
        return ((running ? nanos.getAsLong() : ended) - began) / NANOS;
    }

    private static String inWords(long count) {
        if (count < 1 << 10) {
            return count + " bytes";
        }
        String units = "KMGTPE";
        double scaled = count;
        int unit = -1;
        while (scaled >= 1024) {
            scaled /= 1024;
            unit++;
        }
        return String.format("%.1f %ciB", scaled, units.charAt(unit));
    }

    public synchronized long filesLeft() {
        return Math.max(0, files - filesDone);
    }

    public synchronized long bytesLeft() {
        return Math.max(0, bytes - bytesDone);
    }

    public synchronized long filesDone() {
        return filesDone;
    }

    public synchronized long bytesDone() {
        return bytesDone;
    }

    /** Average since the restore began. */
    public synchronized long bytesPerSecond() {
        double seconds = seconds();
        return seconds <= 0 ? 0 : (long) (bytesDone / seconds);
    }

    /** Estimated from the average rate; -1 while there is none. */
    public synchronized long secondsLeft() {
        if (!running || bytesDone >= bytes) {
            return 0;
        }
        long rate = bytesPerSecond();
        return rate == 0 ? UNKNOWN : (bytes - bytesDone + rate - 1) / rate;
    }
}
