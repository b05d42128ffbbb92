package org.lavakv.flink.engine;

import org.lavakv.TableOptions;

/**
 * From which size on values, values of map entries, and what is added to a list, go to value files.
 *
 * <p>Threads: immutable. Units: bytes; 0: never; {@link TableOptions#AUTOMATIC_SEPARATION}: the
 * engine finds it for each state.
 */
public final class Separation {
    private final long bytes;
    private final long underChangelog;

    private Separation(long bytes, long underChangelog) {
        this.bytes = bytes;
        this.underChangelog = underChangelog;
    }

    /** The same whatever is above. */
    public static Separation of(long bytes) {
        return new Separation(bytes, bytes);
    }

    /**
     * The engine finds it under Lava's changelog: what lies in key files is uploaded again with
     * each materialization whose compactions rewrote it, so that a byte rewritten costs more there.
     */
    public static Separation automaticUnderChangelog(long bytes) {
        return new Separation(bytes, TableOptions.AUTOMATIC_SEPARATION);
    }

    public long bytes(boolean changelog) {
        return changelog ? underChangelog : bytes;
    }
}
