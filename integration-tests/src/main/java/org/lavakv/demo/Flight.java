// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.demo;

/** One scheduled flight. */
public class Flight {

    /** Position in the timetable, which orders flights of the same minute. */
    public int id;

    /** Scheduled departure, in milliseconds since 1970 in UTC. */
    public long time;

    /** The date in New York, in days since 1970. */
    public int day;

    public String tail;
    public String carrier;
    public int number;
    public String origin;
    public String destination;

    /**
     * Delay of the departure in minutes; negative for an early departure, 0 for a cancelled flight.
     */
    public int delay;

    public boolean cancelled;
}
