package org.lavakv;

/** Faults of the bindings, for the plugin's tests. Threads: any; they hold for all. */
public final class Faults {

    private static final int NONE = 0;
    private static final int BUSY = 4;

    private Faults() {}

    /** From now on, whatever may have to wait for background work waits. */
    public static void stall() {
        LavaLibrary.setFault0(BUSY);
    }

    /** Ends all faults. */
    public static void end() {
        LavaLibrary.setFault0(NONE);
    }
}
