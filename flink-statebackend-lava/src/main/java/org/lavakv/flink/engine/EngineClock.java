// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.engine;

import org.apache.flink.runtime.state.ttl.TtlTimeProvider;
import org.lavakv.LavaDB;
import org.lavakv.TtlTime;

/**
 * Flink's clock for TTL, observed for the engine. Every answer is passed on unchanged. The engine
 * is told of a step back before the answer is used, and of each second that passes. Therefore the
 * engine drops nothing that Flink's TTL would still show.
 *
 * <p>Threads: any; threads other than the task's hold the instance's guard. Ownership: does not own
 * the instance.
 */
public final class EngineClock implements TtlTimeProvider {

    /** How far the clock advances before the engine is told. */
    private static final long STEP_MS = 1_000;

    private final TtlTimeProvider provider;
    private final LavaDB db;
    private volatile long told;

    /** No record is known to have an earlier timestamp. */
    private volatile long earliest;

    /**
     * Tells the engine the time.
     *
     * @param before the time of the data that the instance was restored with, or null without data
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
     * A value with this timestamp is about to be written. Below a changelog Flink does not take the
     * timestamp from this clock. Replayed changes have timestamps from a time that no checkpoint of
     * the engine recorded, so the clock is compared with them.
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

    /** Tells the engine the current time. */
    public synchronized void tell() {
        long now = provider.currentTimestamp();
        db.setTime(now);
        told = now;
    }

    /** Tells the engine the current time, which the engine must accept however far it is ahead. */
    public synchronized void accept() {
        long now = provider.currentTimestamp();
        db.acceptTime(now);
        told = now;
    }
}
