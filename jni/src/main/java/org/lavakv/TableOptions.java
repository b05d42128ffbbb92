// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv;

import java.util.Objects;

/**
 * Options of one table.
 *
 * <p>Threads: not safe for concurrent changes; calls of {@link LavaDB} copy the options.
 *
 * <p>Units: milliseconds, bytes.
 */
public final class TableOptions {

    /**
     * For {@link #setSeparationBytes}: the engine chooses the size from the size of the tree, the
     * frequency of collections, and the frequency of scans of the table's values.
     */
    public static final long AUTOMATIC_SEPARATION = Long.MAX_VALUE;

    private TableKind kind = TableKind.VALUE;
    private TtlLayout ttlLayout = TtlLayout.NONE;
    private long ttlMs;
    private long separationBytes;

    /** Options of a table of values that do not expire. */
    public TableOptions() {}

    /** A copy. */
    public TableOptions(TableOptions other) {
        kind = other.kind;
        ttlLayout = other.ttlLayout;
        ttlMs = other.ttlMs;
        separationBytes = other.separationBytes;
    }

    /** The operations that the table allows. Default: {@link TableKind#VALUE}. */
    public TableOptions setKind(TableKind kind) {
        this.kind = Objects.requireNonNull(kind, "kind");
        return this;
    }

    /** The position of the timestamp in the values. Default: {@link TtlLayout#NONE}. */
    public TableOptions setTtlLayout(TtlLayout ttlLayout) {
        this.ttlLayout = Objects.requireNonNull(ttlLayout, "ttlLayout");
        return this;
    }

    /** Time from a record's timestamp to its expiry; 0: never. Default: 0. */
    public TableOptions setTtlMs(long ttlMs) {
        if (ttlMs < 0) {
            throw new IllegalArgumentException("ttlMs must not be negative: " + ttlMs);
        }
        this.ttlMs = ttlMs;
        return this;
    }

    /**
     * Minimum size of values that are moved out of the tree into value files; 0: none are; {@link
     * #AUTOMATIC_SEPARATION}: the engine chooses the size. In a {@link TableKind#LIST} the size is
     * that of each append; lists with {@link TtlLayout#LIST} are never moved. Applies to later
     * flushes and compactions. Files do not contain the option, so each open must set it. Default:
     * 0.
     */
    public TableOptions setSeparationBytes(long separationBytes) {
        if (separationBytes < 0) {
            throw new IllegalArgumentException(
                    "separationBytes must not be negative: " + separationBytes);
        }
        this.separationBytes = separationBytes;
        return this;
    }

    public TableKind kind() {
        return kind;
    }

    public TtlLayout ttlLayout() {
        return ttlLayout;
    }

    public long ttlMs() {
        return ttlMs;
    }

    public long separationBytes() {
        return separationBytes;
    }

    @Override
    public boolean equals(Object o) {
        if (!(o instanceof TableOptions)) {
            return false;
        }
        TableOptions other = (TableOptions) o;
        return kind == other.kind
                && ttlLayout == other.ttlLayout
                && ttlMs == other.ttlMs
                && separationBytes == other.separationBytes;
    }

    @Override
    public int hashCode() {
        return Objects.hash(kind, ttlLayout, ttlMs, separationBytes);
    }

    @Override
    public String toString() {
        return "{kind "
                + kind
                + ", ttl layout "
                + ttlLayout
                + ", ttl "
                + ttlMs
                + " ms, separated from "
                + separationBytes
                + " bytes}";
    }
}
