package org.lavakv.demo;

import java.util.Comparator;
import javax.annotation.Nullable;

/** One plane's day, with what its history says on that evening. */
public class PlaneDay {

    /** Most minutes first; the tail number decides between equals. */
    static final Comparator<PlaneDay> WORST_FIRST =
            Comparator.<PlaneDay>comparingLong(day -> -day.minutes).thenComparing(day -> day.tail);

    /** In days since 1970. */
    public int day;

    public String tail;
    public int departures;
    public int cancelled;

    /** Minutes late, over the day's departures. */
    public long minutes;

    /** Departures in the last four weeks, and their minutes. */
    public int recentDepartures;

    public long recentMinutes;

    /** Departures since the year began, and their minutes. */
    public long yearDepartures;

    public long yearMinutes;

    /** The latest departure of the day; null when none left. */
    @Nullable public Departure worst;

    /** Null for a plane that the register does not have. */
    @Nullable public Plane plane;
}
