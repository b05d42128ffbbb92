// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.engine;

import org.lavakv.TableOptions;

/**
 * Minimum size of values that go to value files. This includes values of map entries and elements
 * added to a list.
 *
 * <p>Threads: immutable. Units: bytes; 0: never; {@link TableOptions#AUTOMATIC_SEPARATION}: the
 * engine chooses the size for each state.
 */
public final class Separation {
    private final long bytes;
    private final long underChangelog;

    private Separation(long bytes, long underChangelog) {
        this.bytes = bytes;
        this.underChangelog = underChangelog;
    }

    /** The same size with and without a changelog. */
    public static Separation of(long bytes) {
        return new Separation(bytes, bytes);
    }

    /**
     * Under Lava's changelog the engine chooses the size. Each materialization uploads the key
     * files again that compactions rewrote since the last, so rewriting a byte costs more there.
     */
    public static Separation automaticUnderChangelog(long bytes) {
        return new Separation(bytes, TableOptions.AUTOMATIC_SEPARATION);
    }

    public long bytes(boolean changelog) {
        return changelog ? underChangelog : bytes;
    }
}
