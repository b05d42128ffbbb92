// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.engine;

/**
 * Counts of an instance's events, which the instance's statistics do not have.
 *
 * <p>Threads: any.
 */
public final class EventCounts {

    private long stalls;
    private long slowdowns;
    private long failedJobs;
    private long droppedEvents;

    /**
     * Times that writes began to wait for jobs or for space. A wait counts again when its cause
     * changes.
     */
    public synchronized long stalls() {
        return stalls;
    }

    /** Times that writes began to be slowed because space is short. */
    public synchronized long slowdowns() {
        return slowdowns;
    }

    /** Attempts of flushes, compactions and collections that failed; not those that close ended. */
    public synchronized long failedJobs() {
        return failedJobs;
    }

    /**
     * Events that did not fit into the buffer; they are in no other count and in no log. The engine
     * counts the events that did not reach the buffer.
     */
    public synchronized long droppedEvents() {
        return droppedEvents;
    }

    public synchronized void addStall() {
        stalls++;
    }

    public synchronized void addSlowdown() {
        slowdowns++;
    }

    public synchronized void addFailedJob() {
        failedJobs++;
    }

    public synchronized void addDroppedEvents(long count) {
        droppedEvents += count;
    }
}
