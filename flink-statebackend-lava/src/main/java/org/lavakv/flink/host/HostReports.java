// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.host;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import javax.annotation.Nullable;
import org.lavakv.flink.engine.LavaInstance;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The open instances of this copy of the library, with their owners, and the threads that report on
 * them and log the problems of their background jobs. The threads run from the first registration
 * to the end of the last.
 *
 * <p>Threads: any. Ownership: the caller that adds an instance closes the registration before the
 * instance.
 *
 * <p>Errors: none; failures are logged.
 */
public final class HostReports {

    /** The instance for the process, or more exactly for this copy of the classes. */
    public static final HostReports OF_PROCESS = new HostReports();

    /** Size of an instance's buffer for the events between two reads. */
    public static final int EVENT_BUFFER_BYTES = 16 << 10;

    private static final Logger LOG = LoggerFactory.getLogger(HostReports.class);

    private final Set<ReportedInstance> instances = new LinkedHashSet<>();
    @Nullable private HostReportThread thread;
    @Nullable private BackgroundEventLog events;

    /** An instance's registration; closing it again does nothing. */
    public interface Registration extends AutoCloseable {
        @Override
        void close();
    }

    HostReports() {}

    /**
     * Adds an instance.
     *
     * @param job its job's identifier
     * @param operator its operator's identifier
     * @param directory the directory of the file
     * @param interval time between reports, or zero for no reports; directory and interval only
     *     take effect when no instance is registered
     */
    public Registration add(
            LavaInstance instance, String job, String operator, Path directory, Duration interval) {
        ReportedInstance added = new ReportedInstance(instance, job, operator);
        synchronized (this) {
            instances.removeIf(ReportedInstance::isLost);
            if (instances.isEmpty() && thread == null && !interval.isZero()) {
                start(directory, interval);
            }
            if (events == null) {
                startEvents();
            }
            instances.add(added);
        }
        return () -> remove(added);
    }

    private void start(Path directory, Duration interval) {
        HostReportThread started = new HostReportThread(this, directory, interval);
        try {
            started.start();
            thread = started;
        } catch (OutOfMemoryError noThread) {
            LOG.warn("Lava writes no reports, because no thread could be started.", noThread);
        }
    }

    private void startEvents() {
        BackgroundEventLog started = new BackgroundEventLog(this);
        try {
            started.start();
            events = started;
        } catch (OutOfMemoryError noThread) {
            LOG.warn(
                    "Failures of Lava's background jobs are logged only when backends close,"
                            + " because no thread could be started.",
                    noThread);
        }
    }

    private void remove(ReportedInstance removed) {
        // The instance is still open here.
        BackgroundEventLog.logLast(removed);
        removeLogged(removed);
    }

    private synchronized void removeLogged(ReportedInstance removed) {
        instances.remove(removed);
        instances.removeIf(ReportedInstance::isLost);
        if (instances.isEmpty() && events != null) {
            events.end();
            events = null;
        }
        if (instances.isEmpty() && thread != null) {
            // Under the lock, because the next first instance's file has the same name.
            thread.end();
            thread = null;
        }
    }

    synchronized List<ReportedInstance> instances() {
        instances.removeIf(ReportedInstance::isLost);
        return new ArrayList<>(instances);
    }

    @Nullable
    synchronized HostReportThread thread() {
        return thread;
    }
}
