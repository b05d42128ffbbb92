package org.lavakv.demo;

/** One hour of weather at one airport; what was not measured is not a number. */
public class Weather {

    public String origin;

    /** When the hour begins, in milliseconds since 1970 in UTC. */
    public long time;

    public double windMph;
    public double visibilityMiles;
    public double rainInches;
}
