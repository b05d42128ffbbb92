// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.demo;

import java.util.Comparator;
import javax.annotation.Nullable;

/** One plane's day, with the figures of its history on that evening. */
public class PlaneDay {

    /** Most minutes first; ties are ordered by tail number. */
    static final Comparator<PlaneDay> WORST_FIRST =
            Comparator.<PlaneDay>comparingLong(day -> -day.minutes).thenComparing(day -> day.tail);

    /** Days since 1970. */
    public int day;

    public String tail;
    public int departures;
    public int cancelled;

    /** Total delay of the day's departures in minutes. */
    public long minutes;

    /** Departures in the last four weeks, and their total delay. */
    public int recentDepartures;

    public long recentMinutes;

    /** Departures since the year began, and their total delay. */
    public long yearDepartures;

    public long yearMinutes;

    /** The departure of the day with the largest delay; null without departures. */
    @Nullable public Departure worst;

    /** Null for a plane that is not in the register. */
    @Nullable public Plane plane;
}
