package org.lavakv.demo;

import javax.annotation.Nullable;

/** A flight with the weather at its origin in its hour. */
public class Departure {

    public Flight flight;

    /** Null where the hour is missing from the records. */
    @Nullable public Weather weather;
}
