// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.host;

import java.time.Duration;
import org.lavakv.BackgroundEvent;
import org.lavakv.Host;
import org.lavakv.Status;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs problems of background jobs that no call reports: damaged files, a full or missing disk. The
 * engine reports each of them once. The same thread makes {@link EngineEventLog} log each
 * instance's other events.
 *
 * <p>Threads: a daemon thread polls every second, because the engine's threads never call into
 * Java. Any thread may call {@link #end}.
 *
 * <p>Errors: none; failures are logged.
 */
final class BackgroundEventLog implements Runnable {

    static final String NAME = "lava-background-events";

    private static final Logger LOG = LoggerFactory.getLogger(BackgroundEventLog.class);
    private static final Duration INTERVAL = Duration.ofSeconds(1);
    private static final int MILLIS_PER_SECOND = 1000;

    private final HostReports reports;
    private boolean toldOfPages; // used by the thread alone
    private boolean ended;

    BackgroundEventLog(HostReports reports) {
        this.reports = reports;
    }

    void start() {
        Thread thread = new Thread(this, NAME);
        thread.setDaemon(true);
        // The thread outlives the job whose task opened the first backend.
        thread.setContextClassLoader(null);
        thread.start();
    }

    /** The thread may still be running when this returns. */
    synchronized void end() {
        ended = true;
        notifyAll();
    }

    @Override
    public void run() {
        try {
            while (awaitNext()) {
                reports.instances().forEach(BackgroundEventLog::log);
                logPageRefusals();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private synchronized boolean awaitNext() throws InterruptedException {
        if (!ended) {
            wait(INTERVAL.toMillis());
        }
        return !ended;
    }

    /** Logs the first refusal. A metric counts all of them. */
    private void logPageRefusals() {
        if (!toldOfPages && Host.getStatistics().pageRefusals() > 0) {
            toldOfPages = true;
            LOG.warn(
                    "The kernel refused memory that Lava returned, because the process has"
                            + " reached its maximum number of memory maps. Lava keeps the pages"
                            + " and reuses them. Raise vm.max_map_count.");
        }
    }

    /** Logs the instance's events since the last call. */
    static void log(ReportedInstance instance) {
        logIfItFails(
                instance,
                "failures of background jobs",
                () -> instance.takeBackgroundEvents().forEach(event -> log(instance, event)));
        logIfItFails(instance, "events", instance::logEngineEvents);
    }

    private static void logIfItFails(ReportedInstance of, String asked, Runnable asking) {
        try {
            asking.run();
        } catch (RuntimeException e) {
            LOG.warn("Reading the {} of {} failed.", asked, of.directory(), e);
        }
    }

    /** The same for the last time, while the instance is still open. */
    static void logLast(ReportedInstance instance) {
        log(instance);
        instance.endEngineEvents();
    }

    private static void log(ReportedInstance of, BackgroundEvent event) {
        if (event.code() == Status.Code.CORRUPTION && !event.isOver()) {
            LOG.error(
                    "A file of Lava's state is damaged, of operator {} of job {} in {}: {}."
                            + " States in the file: {}. The undamaged parts can still be read."
                            + " The next checkpoint fails, so that the state is restored from"
                            + " the last checkpoint. Check the disk.",
                    of.operator,
                    of.job,
                    of.directory(),
                    event.message(),
                    event.tables().isEmpty() ? "not known" : String.join(", ", event.tables()));
        } else if (event.isOver()) {
            LOG.info(
                    "Background jobs on Lava's state work again, of operator {} of job {} in {},"
                            + " after {} failures within {} s. The first failure was {}: {}.",
                    of.operator,
                    of.job,
                    of.directory(),
                    event.failures(),
                    (System.currentTimeMillis() - event.sinceMillis()) / MILLIS_PER_SECOND,
                    event.code(),
                    event.message());
        } else {
            LOG.warn(
                    "Background jobs on Lava's state fail, of operator {} of job {} in {}, with"
                            + " {}: {}. The jobs are retried. Another line is logged when they"
                            + " work again.",
                    of.operator,
                    of.job,
                    of.directory(),
                    event.code(),
                    event.message());
        }
    }
}
