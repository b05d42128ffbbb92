// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv;

/** Faults of the bindings, for the plugin's tests. Threads: any; faults apply to all threads. */
public final class Faults {

    private static final int NONE = 0;
    private static final int BUSY = 4;

    private Faults() {}

    /** From now on, all calls that may wait for background work do wait. */
    public static void stall() {
        LavaLibrary.setFault0(BUSY);
    }

    /** Ends all faults. */
    public static void end() {
        LavaLibrary.setFault0(NONE);
    }
}
