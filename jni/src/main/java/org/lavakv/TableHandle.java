// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv;

/**
 * A table of an open instance. Needs no closing. After the {@link LavaDB} was closed, or after
 * {@link LavaDB#dropTable}, calls with the handle throw {@link LavaClosedException}.
 *
 * <p>Threads: immutable, any thread.
 *
 * <p>Ownership: keeps its LavaDB reachable.
 */
public final class TableHandle {

    final LavaDB db;
    final long pointer;
    private final String name;
    private final long id;

    TableHandle(LavaDB db, long pointer, String name, long id) {
        this.db = db;
        this.pointer = pointer;
        this.name = name;
        this.id = id;
    }

    public String name() {
        return name;
    }

    /** The table's id, a 40-bit hash of its name. */
    public long id() {
        return id;
    }

    @Override
    public String toString() {
        return "table " + name;
    }
}
