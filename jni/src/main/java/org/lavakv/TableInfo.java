// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv;

import java.util.Objects;

/**
 * A table of an instance or of a checkpoint.
 *
 * <p>Threads: immutable.
 */
public final class TableInfo {

    private final String name;
    private final long id;
    private final TableOptions options;

    /** A table's name, its 40-bit id and its options (copied). */
    public TableInfo(String name, long id, TableOptions options) {
        this.name = Objects.requireNonNull(name, "name");
        this.id = id;
        this.options = new TableOptions(options);
    }

    public String name() {
        return name;
    }

    /** The table's id, a hash of its name. */
    public long id() {
        return id;
    }

    /**
     * A copy of the options. {@link TableOptions#separationBytes()} is 0 in a checkpoint's
     * metadata, and for tables that were not created since the open, because files do not contain
     * it.
     */
    public TableOptions options() {
        return new TableOptions(options);
    }

    @Override
    public String toString() {
        return name + " (id " + Long.toHexString(id) + ") " + options;
    }
}
