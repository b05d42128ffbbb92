// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.demo;

/** One departure in a plane's history. */
public class Delay {

    /** Days since 1970. */
    public int day;

    public int minutes;

    public Delay() {}

    public Delay(int day, int minutes) {
        this.day = day;
        this.minutes = minutes;
    }
}
