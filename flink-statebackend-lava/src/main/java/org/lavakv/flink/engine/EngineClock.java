package org.lavakv.flink.engine;

import org.apache.flink.runtime.state.ttl.TtlTimeProvider;
import org.lavakv.LavaDB;
import org.lavakv.TtlTime;

/**
 * Flink's clock for TTL, as the engine hears of it: every answer is passed on as it is, and the
 * engine is told of a step back before the answer is used, and of each second that passes. So the
 * engine drops nothing that Flink's TTL would still show.
 *
 * <p>Threads: any; those that ask beside the task's hold the instance's guard. Ownership: none of
 * the database.
 */
public final class EngineClock implements TtlTimeProvider {

    /** How far the clock goes on before the engine hears of it. */
    private static final long STEP_MS = 1_000;

    private final TtlTimeProvider provider;
    private final LavaDB db;
    private volatile long told;

    /** No record is known to be of an earlier time than this. */
    private volatile long earliest;

    /**
     * Tells the engine the time.
     *
     * @param before the time of the data that the instance was restored with, or null without any
     */
    public EngineClock(TtlTimeProvider provider, LavaDB db, TtlTime before) {
        this.provider = provider;
        this.db = db;
        if (before != null) {
            db.continueTime(before);
        }
        tell();
        earliest = before == null ? told : before.timeMs();
    }

    @Override
    public long currentTimestamp() {
        long now = provider.currentTimestamp();
        long last = told;
        if (now < last || now - last >= STEP_MS) {
            tell();
        }
        return now;
    }

    /**
     * A value with this timestamp is to be written. Below a changelog Flink does not ask this clock
     * for it, and when it replays its changes, they come from a time that no checkpoint of the
     * engine told of: the clock is held against that.
     */
    public void writes(long timestamp) {
        long last = told;
        if (timestamp < earliest) {
            comesFrom(timestamp);
        }
        if (timestamp < last || timestamp - last >= STEP_MS) {
            currentTimestamp();
        }
    }

    private synchronized void comesFrom(long timestamp) {
        if (timestamp < earliest) {
            earliest = timestamp;
            db.setTime(timestamp);
            tell();
        }
    }

    /** Tells the engine the time now. */
    public synchronized void tell() {
        long now = provider.currentTimestamp();
        db.setTime(now);
        told = now;
    }

    /** The same; the engine is to believe it, however far it is ahead. */
    public synchronized void believe() {
        long now = provider.currentTimestamp();
        db.believeTime(now);
        told = now;
    }
}
