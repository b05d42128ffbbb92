// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.host;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.TimeUnit;
import javax.annotation.Nullable;
import org.lavakv.EngineEvent;
import org.lavakv.EngineEvents;
import org.lavakv.EventCause;
import org.lavakv.EventFigure;
import org.lavakv.EventKind;
import org.lavakv.Status;
import org.lavakv.flink.engine.EventCounts;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs and counts the events of one instance: every event at DEBUG, but for those that {@link
 * BackgroundEventLog} logs; long stalls at WARN, and long slowdowns for space at INFO, once when
 * they have lasted for {@link #LONG_STALL} and once when they end. Events hold no keys and no
 * values.
 *
 * <p>When writes wait for another cause, the engine ends one stall and begins the next. The log
 * takes both for one wait. Each line names the cause of its moment.
 *
 * <p>Each instance keeps events, whatever the log level, because stalls are logged at the usual
 * levels and are counted for metrics. That costs {@link HostReports#EVENT_BUFFER_BYTES} of native
 * memory, and the encoding and decoding of each event. Puts and gets that need not wait have no
 * events.
 *
 * <p>Threads: one at a time.
 */
final class EngineEventLog {

    /** Shorter stalls are usual under load, and would fill the log. */
    static final Duration LONG_STALL = Duration.ofSeconds(5);

    private static final long LONG_STALL_MICROS =
            TimeUnit.SECONDS.toMicros(LONG_STALL.getSeconds());

    private static final Logger LOG = LoggerFactory.getLogger(EngineEventLog.class);
    private static final double MICROS_PER_SECOND = 1e6;
    private static final double NANOS_PER_SECOND = 1e9;

    private final String where;
    @Nullable private EngineEvent stall; // the one that goes on
    private long stallSeenNanos; // of it, or of the first one that it continues
    private long continuedMicros; // of those that it continues
    private boolean stallIsLogged; // it, or one that it continues

    EngineEventLog(String operator, String job, String directory) {
        where = "operator " + operator + " of job " + job + " in " + directory;
    }

    /**
     * Logs and counts the events since the call before.
     *
     * @param nowNanos of System.nanoTime
     */
    void log(EngineEvents taken, EventCounts counts, long nowNanos) {
        if (taken.dropped() > 0) {
            stall = null; // its end may be among the dropped events
            counts.addDroppedEvents(taken.dropped());
            LOG.debug(
                    "{} events of {} were dropped: there were more than the buffer holds.",
                    taken.dropped(),
                    where);
        }
        List<EngineEvent> events = taken.events();
        for (int i = 0; i < events.size(); i++) {
            EngineEvent event = events.get(i);
            count(event, counts);
            logAny(event);
            switch (event.kind()) {
                case STALL_BEGIN:
                    if (event != stall) {
                        beginStall(event, nowNanos);
                    }
                    break;
                case STALL_END:
                    endStall(event, i + 1 < events.size() ? events.get(i + 1) : null, nowNanos);
                    break;
                default:
                    break;
            }
        }
        long lasted = nowNanos - stallSeenNanos;
        if (stall != null && !stallIsLogged && lasted >= LONG_STALL.toNanos()) {
            stallIsLogged = true;
            logStallBegin(stall, lasted / NANOS_PER_SECOND);
        }
    }

    private static void count(EngineEvent event, EventCounts counts) {
        switch (event.kind()) {
            case FLUSH_END:
            case COMPACTION_END:
            case COLLECTION_END:
                if (event.code() != Status.Code.OK && event.code() != Status.Code.ABORTED) {
                    counts.addFailedJob();
                }
                break;
            case STALL_BEGIN:
                if (isSlowdown(event)) {
                    counts.addSlowdown();
                } else {
                    counts.addStall();
                }
                break;
            default:
                break;
        }
    }

    private void logAny(EngineEvent event) {
        switch (event.kind()) {
            case DAMAGE:
            case BACKGROUND_ERROR_BEGIN:
            case BACKGROUND_ERROR_END:
                break; // BackgroundEventLog logs these
            default:
                if (LOG.isDebugEnabled()) {
                    LOG.debug(
                            "Event of {} at {}: {}",
                            where,
                            Instant.ofEpochMilli(event.timeMillis()),
                            event);
                }
        }
    }

    private static boolean isSlowdown(EngineEvent stall) {
        return stall.cause() == EventCause.STALL_SPACE_SLOWDOWN;
    }

    private void logStallBegin(EngineEvent begin, double seconds) {
        if (isSlowdown(begin)) {
            LOG.info(
                    "Writes to the state of {} have been slowed for {} s, because space is"
                            + " short. The files take {} bytes, {} of them only for snapshots."
                            + " Another line is logged when the slowdown ends.",
                    where,
                    rounded(seconds),
                    begin.get(EventFigure.FILE_BYTES),
                    begin.get(EventFigure.PINNED_BYTES));
        } else {
            LOG.warn(
                    "Writes to the state of {} have been waiting for {} s. Cause: {}. When the"
                            + " wait began, {} memtables waited for their flush, level 0 had {}"
                            + " files, and the files took {} bytes, {} of them only for"
                            + " snapshots. Another line is logged when the wait ends.",
                    where,
                    rounded(seconds),
                    begin.cause().text(),
                    begin.get(EventFigure.MEMTABLES),
                    begin.get(EventFigure.LEVEL0_FILES),
                    begin.get(EventFigure.FILE_BYTES),
                    begin.get(EventFigure.PINNED_BYTES));
        }
    }

    private void beginStall(EngineEvent begin, long nowNanos) {
        stall = begin;
        stallSeenNanos = nowNanos;
        stallIsLogged = false;
        continuedMicros = 0;
    }

    /**
     * @param next the event after it; null when there is none yet
     */
    private void endStall(EngineEvent end, @Nullable EngineEvent next, long nowNanos) {
        if (stall == null || stall.id() != end.id()) {
            beginStall(end, nowNanos); // its begin was dropped
        }
        long micros = continuedMicros + end.durationMicros();
        boolean goesOn = goesOn(end, next);
        if (goesOn && isSlowdown(end) == isSlowdown(next)) {
            stall = next;
            continuedMicros = micros;
            return;
        }
        stall = null;
        if (stallIsLogged || micros >= LONG_STALL_MICROS) {
            logStallEnd(end, micros / MICROS_PER_SECOND, goesOn);
        }
    }

    /** Whether the end is none for the writes, because only the cause has changed. */
    private static boolean goesOn(EngineEvent end, @Nullable EngineEvent next) {
        return next != null
                && next.kind() == EventKind.STALL_BEGIN
                && next.cause() != end.cause()
                && end.code() == Status.Code.OK;
    }

    private void logStallEnd(EngineEvent end, double seconds, boolean goesOn) {
        String failure =
                end.code() == Status.Code.OK
                        ? ""
                        : " The last write failed with " + end.code() + ": " + end.message() + ".";
        if (isSlowdown(end)) {
            LOG.info(
                    "Writes to the state of {} are no longer {}, after {} s.{}",
                    where,
                    goesOn ? "slowed but have to wait" : "slowed",
                    rounded(seconds),
                    failure);
        } else {
            LOG.warn(
                    "Writes to the state of {} no longer wait{}, after {} s. Cause: {}.{}",
                    where,
                    goesOn ? " but are slowed" : "",
                    rounded(seconds),
                    end.cause().text(),
                    failure);
        }
    }

    /** The instance is being closed, and with it ends the stall that goes on. */
    void close() {
        if (stall != null && stallIsLogged) {
            if (isSlowdown(stall)) {
                LOG.info("The state of {} is closed; its writes were still slowed.", where);
            } else {
                LOG.warn("The state of {} is closed; its writes were still waiting.", where);
            }
        }
        stall = null;
    }

    private static String rounded(double seconds) {
        return String.valueOf(Math.round(seconds));
    }
}
