package org.lavakv;

import java.util.Objects;

/**
 * Options of one table.
 *
 * <p>Threads: not safe for changes from several threads; calls of {@link LavaDB} copy it.
 *
 * <p>Units: milliseconds, bytes.
 */
public final class TableOptions {

    /**
     * For {@link #setSeparationBytes}: the bound follows from how large the tree is, how often
     * garbage is copied, and how often scans show the table's values.
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

    /** What may be done to the table's keys. Default: {@link TableKind#VALUE}. */
    public TableOptions setKind(TableKind kind) {
        this.kind = Objects.requireNonNull(kind, "kind");
        return this;
    }

    /** Where the timestamp stands in the values. Default: {@link TtlLayout#NONE}. */
    public TableOptions setTtlLayout(TtlLayout ttlLayout) {
        this.ttlLayout = Objects.requireNonNull(ttlLayout, "ttlLayout");
        return this;
    }

    /** How long after its timestamp a record expires; 0: never. Default: 0. */
    public TableOptions setTtlMs(long ttlMs) {
        if (ttlMs < 0) {
            throw new IllegalArgumentException("ttlMs must not be negative: " + ttlMs);
        }
        this.ttlMs = ttlMs;
        return this;
    }

    /**
     * From which size on values are moved out of the tree into value files; 0: none; {@link
     * #AUTOMATIC_SEPARATION}: the engine finds the bound. Of a {@link TableKind#LIST} it is what is
     * added to it; with {@link TtlLayout#LIST} that never is. Holds for what is flushed or
     * compacted from now on; it is not kept in files, so that every opening says it anew. Default:
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
