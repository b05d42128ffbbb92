package org.lavakv;

import java.util.Objects;

/**
 * Options of one table.
 *
 * <p>Threads: not safe for changes from several threads; calls of {@link LavaDB} copy it.
 *
 * <p>Units: milliseconds.
 */
public final class TableOptions {

    private TableKind kind = TableKind.VALUE;
    private TtlLayout ttlLayout = TtlLayout.NONE;
    private long ttlMs;

    /** Options of a table of values that do not expire. */
    public TableOptions() {}

    /** A copy. */
    public TableOptions(TableOptions other) {
        kind = other.kind;
        ttlLayout = other.ttlLayout;
        ttlMs = other.ttlMs;
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

    public TableKind kind() {
        return kind;
    }

    public TtlLayout ttlLayout() {
        return ttlLayout;
    }

    public long ttlMs() {
        return ttlMs;
    }

    @Override
    public boolean equals(Object o) {
        if (!(o instanceof TableOptions)) {
            return false;
        }
        TableOptions other = (TableOptions) o;
        return kind == other.kind && ttlLayout == other.ttlLayout && ttlMs == other.ttlMs;
    }

    @Override
    public int hashCode() {
        return Objects.hash(kind, ttlLayout, ttlMs);
    }

    @Override
    public String toString() {
        return "{kind " + kind + ", ttl layout " + ttlLayout + ", ttl " + ttlMs + " ms}";
    }
}
