// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.bench;

/** A quantity measured for both sides of a comparison. */
interface Metric {
    String label();

    String unit();

    /** Whether more is better, as for operations per second; otherwise less is, as for seconds. */
    default boolean moreIsBetter() {
        return false;
    }

    /** Above 1: Lava is better. */
    default double ratio(double lava, double peer) {
        if (lava == peer) {
            return 1; // also if both are zero
        }
        return moreIsBetter() ? lava / peer : peer / lava;
    }
}
