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
 * Writes the page at once and then at an interval, and with each but the first a line to the log;
 * warns when native memory stays beyond its budget.
 *
 * <p>Threads: a daemon of its own; {@link #end} from any. Ownership: owns the file, and removes it.
 *
 * <p>Errors: a warning for the first of failures in a row.
 */
final class HostReportThread implements Runnable {

    static final String NAME = "lava-host-reports";

    private static final Logger LOG = LoggerFactory.getLogger(HostReportThread.class);

    private final HostReports reports;
    private final Path directory;
    private final Duration interval;
    private final long startedMillis = System.currentTimeMillis();
    private final OverBudget overBudget = new OverBudget(); // the thread's
    private volatile boolean warnedOfBudget;
    @Nullable private OwnedPath file; // from the first writing on; a killed process leaves none
    private boolean ended;
    private boolean warned;

    HostReportThread(HostReports reports, Path directory, Duration interval) {
        this.reports = reports;
        this.directory = directory;
        this.interval = interval;
    }

    /** How the names of this process's files begin: the operator may look for them by its pid. */
    static String nameBegin() {
        return "lava-host-" + ProcessHandle.current().pid() + "-";
    }

    void start() {
        Thread thread = new Thread(this, NAME);
        thread.setDaemon(true);
        // Not what of the job happens to be the thread's that opened the first backend.
        thread.setContextClassLoader(null);
        thread.start();
    }

    /** The file is gone when this returns; the thread may still be on its way out. */
    synchronized void end() {
        ended = true;
        notifyAll();
        if (file == null) {
            return;
        }
        try {
            file.close();
        } catch (IOException e) {
            LOG.warn("Deleting {} failed; it does no harm.", file.path(), e);
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

    /** Whether there is one. */
    private synchronized boolean awaitNext() throws InterruptedException {
        long deadline = System.nanoTime() + interval.toNanos();
        for (long left = interval.toNanos(); !ended && left > 0; ) {
            // At least 1 ms: 0 would be for ever.
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
            LOG.warn("Writing the state of Lava's host in {} failed; jobs go on.", directory, e);
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
