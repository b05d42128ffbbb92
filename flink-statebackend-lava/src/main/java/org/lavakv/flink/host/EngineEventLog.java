package org.lavakv.flink.host;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.TimeUnit;
import javax.annotation.Nullable;
import org.lavakv.EngineEvent;
import org.lavakv.EngineEvents;
import org.lavakv.EventCause;
import org.lavakv.EventFigure;
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
 * <p>Each instance keeps events, whatever the log level, because stalls are logged at the usual
 * levels and are counted for metrics. That costs {@link HostReports#EVENT_BUFFER_BYTES} of native
 * memory and less than a microsecond for each event. Puts and gets that need not wait have no
 * events.
 *
 * <p>Threads: any.
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
    private long stallSeenNanos;
    private boolean stallIsLogged;

    EngineEventLog(String operator, String job, String directory) {
        where = "operator " + operator + " of job " + job + " in " + directory;
    }

    /**
     * Logs and counts the events since the call before.
     *
     * @param nowNanos of System.nanoTime
     */
    synchronized void log(EngineEvents taken, EventCounts counts, long nowNanos) {
        if (taken.dropped() > 0) {
            counts.addDroppedEvents(taken.dropped());
            LOG.debug(
                    "{} events of {} were dropped: there were more than the buffer holds.",
                    taken.dropped(),
                    where);
        }
        for (EngineEvent event : taken.events()) {
            count(event, counts);
            logAny(event);
            switch (event.kind()) {
                case STALL_BEGIN:
                    stall = event;
                    stallSeenNanos = nowNanos;
                    stallIsLogged = false;
                    break;
                case STALL_END:
                    logStallEnd(event);
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
                    "Writes to the state of {} have been slowed for {} s, because space is short."
                            + " The files take {} bytes, {} of them only for snapshots. One more"
                            + " line tells when that ends.",
                    where,
                    rounded(seconds),
                    begin.get(EventFigure.FILE_BYTES),
                    begin.get(EventFigure.PINNED_BYTES));
        } else {
            LOG.warn(
                    "Writes to the state of {} have been waiting for {} s. Cause: {}. When they"
                            + " began to wait, {} memtables waited for their flush, level 0 had {}"
                            + " files, and the files took {} bytes, {} of them only for snapshots."
                            + " One more line tells when that ends.",
                    where,
                    rounded(seconds),
                    begin.cause().text(),
                    begin.get(EventFigure.MEMTABLES),
                    begin.get(EventFigure.LEVEL0_FILES),
                    begin.get(EventFigure.FILE_BYTES),
                    begin.get(EventFigure.PINNED_BYTES));
        }
    }

    private void logStallEnd(EngineEvent end) {
        boolean isLogged = stall != null && stall.id() == end.id() && stallIsLogged;
        stall = null;
        if (!isLogged && end.durationMicros() < LONG_STALL_MICROS) {
            return;
        }
        String seconds = rounded(end.durationMicros() / MICROS_PER_SECOND);
        String failure =
                end.code() == Status.Code.OK
                        ? ""
                        : " The last write failed with " + end.code() + ": " + end.message() + ".";
        if (isSlowdown(end)) {
            LOG.info(
                    "Writes to the state of {} are no longer slowed, after {} s.{}",
                    where,
                    seconds,
                    failure);
        } else {
            LOG.warn(
                    "Writes to the state of {} no longer wait, after {} s. Cause: {}.{}",
                    where,
                    seconds,
                    end.cause().text(),
                    failure);
        }
    }

    /** The instance is being closed, and with it ends the stall that goes on. */
    synchronized void close() {
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
