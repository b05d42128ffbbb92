// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.demo;

/** One hour of weather at one airport; values that were not measured are NaN. */
public class Weather {

    public String origin;

    /** Begin of the hour, in milliseconds since 1970 in UTC. */
    public long time;

    public double windMph;
    public double visibilityMiles;
    public double rainInches;
}
