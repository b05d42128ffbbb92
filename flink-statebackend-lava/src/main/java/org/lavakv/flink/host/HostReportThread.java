// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.host;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import javax.annotation.Nullable;
import org.lavakv.local.OwnedPath;
import org.lavakv.local.PrivateFiles;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes the page immediately and then periodically. Also logs a line each time, except the first.
 * Warns when native memory stays over its budget.
 *
 * <p>Threads: a daemon thread; {@link #end} from any. Ownership: owns the file, and removes it.
 *
 * <p>Errors: a warning for the first of consecutive failures.
 */
final class HostReportThread implements Runnable {

    static final String NAME = "lava-host-reports";

    private static final Logger LOG = LoggerFactory.getLogger(HostReportThread.class);

    private final HostReports reports;
    private final Path directory;
    private final Duration interval;
    private final long startedMillis = System.currentTimeMillis();
    private final OverBudget overBudget = new OverBudget(); // used only by the thread
    private volatile boolean warnedOfBudget;
    // Null before the first page. The file of a killed process is removed by others.
    @Nullable private OwnedPath file;
    private boolean ended;
    private boolean warned;

    HostReportThread(HostReports reports, Path directory, Duration interval) {
        this.reports = reports;
        this.directory = directory;
        this.interval = interval;
    }

    /**
     * Prefix of the names of this process's files: an operator may search for them by process id.
     */
    static String nameBegin() {
        return "lava-host-" + ProcessHandle.current().pid() + "-";
    }

    void start() {
        Thread thread = new Thread(this, NAME);
        thread.setDaemon(true);
        // Otherwise the thread would keep the class loader of the job that opened the first
        // backend.
        thread.setContextClassLoader(null);
        thread.start();
    }

    /** The file is gone when this returns; the thread may still be running. */
    synchronized void end() {
        ended = true;
        notifyAll();
        if (file == null) {
            return;
        }
        try {
            file.close();
        } catch (IOException e) {
            LOG.warn("Deleting the report file {} failed. The file does no harm.", file.path(), e);
        }
    }

    @Override
    public void run() {
        try {
            HostPage last = report(null);
            while (awaitNext()) {
                HostPage page = report(last);
                last = page == null ? last : page;
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Waits for the next report; false when there is none. */
    private synchronized boolean awaitNext() throws InterruptedException {
        long deadline = System.nanoTime() + interval.toNanos();
        for (long left = interval.toNanos(); !ended && left > 0; ) {
            // At least 1 ms, because 0 would wait for ever.
            wait(TimeUnit.NANOSECONDS.toMillis(left) + 1);
            left = deadline - System.nanoTime();
        }
        return !ended;
    }

    private HostPage report(HostPage last) {
        try {
            List<ReportedInstance> instances = reports.instances();
            HostPage page = HostPage.read(instances);
            if (last != null) {
                LOG.info(page.line(last));
            }
            if (overBudget.isToWarn(page.isOverBudget())) {
                LOG.warn(page.overBudgetLine());
                warnedOfBudget = true;
            }
            write(page.json(last, startedMillis, interval.toMillis()));
            for (ReportedInstance instance : instances) {
                for (String decision : instance.takeValueDecisions()) {
                    LOG.info("Values in {}: {}", instance.directory(), decision);
                }
            }
            return page;
        } catch (IOException | RuntimeException e) {
            warn(e);
            return null;
        }
    }

    private synchronized void warn(Exception e) {
        if (!warned && !ended) {
            LOG.warn(
                    "Writing the report file of Lava's host in {} failed. Jobs continue.",
                    directory,
                    e);
        }
        warned = true;
    }

    private synchronized void write(byte[] page) throws IOException {
        if (ended) {
            return;
        }
        if (file == null) {
            file = OwnedPath.claim(directory, nameBegin(), ".json");
        }
        Path whole = file.path();
        Path temporary = whole.resolveSibling(whole.getFileName() + ".tmp");
        try {
            PrivateFiles.write(temporary, page);
        } catch (IOException e) {
            Files.deleteIfExists(temporary);
            throw e;
        }
        Files.move(temporary, whole, StandardCopyOption.ATOMIC_MOVE);
        warned = false;
    }

    synchronized boolean hasWarned() {
        return warned;
    }

    boolean hasWarnedOfBudget() {
        return warnedOfBudget;
    }
}
