package org.lavakv.flink.programs;

import java.util.Arrays;

/**
 * What programs may do. The variable LAVA_TEST_DIMENSIONS, names with commas between, stands for
 * those that are on.
 */
enum Dimension {
    /** Entries of a map change while it is iterated over. */
    MAP_VIEWS(true),
    /** Keys are added to a state while they are gone over. */
    KEY_VIEWS(true),
    /** Timers move while they are gone over. */
    TIMER_VIEWS(true),
    /** The clock steps back, and what is written then is flushed and compacted. */
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
