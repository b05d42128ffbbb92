// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.programs;

import java.util.Arrays;

/**
 * Features that programs may use. The variable LAVA_TEST_DIMENSIONS, a comma-separated list of
 * names, replaces the default set.
 */
enum Dimension {
    /** A map's entries change during an iteration over it. */
    MAP_VIEWS(true),
    /** Keys are added to a state during an iteration over its keys. */
    KEY_VIEWS(true),
    /** Timers change during an iteration over them. */
    TIMER_VIEWS(true),
    /** The clock steps back, and values written afterwards are flushed and compacted. */
    CLOCK_BACK(true),
    /** The clock is ahead for a while, and files are written meanwhile. */
    CLOCK_AHEAD_AND_BACK(true),
    /** Values and lists are larger than Lava's memory. */
    LARGE(true),
    /** Names of states are empty or very long. */
    NAMES(true);

    private final boolean on;

    Dimension(boolean on) {
        String named = System.getenv("LAVA_TEST_DIMENSIONS");
        this.on = named == null ? on : Arrays.asList(named.split(",")).contains(name());
    }

    boolean isOn() {
        return on;
    }
}
