package org.lavakv.bench;

/** What is measured of both sides of a comparison. */
interface Metric {
    String label();

    String unit();

    /** Whether more is better, as of operations a second; else less is, as of seconds. */
    default boolean moreIsBetter() {
        return false;
    }

    /** Above 1: Lava is better. */
    default double ratio(double lava, double peer) {
        if (lava == peer) {
            return 1; // nothing beside nothing, too
        }
        return moreIsBetter() ? lava / peer : peer / lava;
    }
}
