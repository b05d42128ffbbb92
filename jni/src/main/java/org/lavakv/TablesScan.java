// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv;

import java.util.List;

/**
 * A scan of several tables at once, in the instance's order: by partition, and within a partition
 * by table.
 *
 * <p>Threads: one thread at a time.
 *
 * <p>Units: bytes, entries.
 */
public final class TablesScan {

    private static final byte[] NOTHING = {};

    final List<TableHandle> tables;
    int afterTable;
    byte[] afterKey = NOTHING;
    boolean fillCache = true;
    int entriesMax = 1024;
    int bytesMax = 64 << 10;

    /**
     * Begins at the first entry.
     *
     * @param tables ordered by ascending id; {@link ScanPage#sectionTable} is the index in this
     *     list
     */
    public TablesScan(List<TableHandle> tables) {
        this.tables = List.copyOf(tables);
    }

    /** See {@link ScanOptions#setFillCache}. */
    public TablesScan setFillCache(boolean fillCache) {
        this.fillCache = fillCache;
        return this;
    }

    /** Maximum number of entries in a page, at least 1. */
    public TablesScan setEntriesMax(int entries) {
        if (entries < 1) {
            throw new IllegalArgumentException("entriesMax must be at least 1: " + entries);
        }
        entriesMax = entries;
        return this;
    }

    /** Maximum size of a page, at least 1; a single entry may be larger. */
    public TablesScan setBytesMax(int bytes) {
        if (bytes < 1) {
            throw new IllegalArgumentException("bytesMax must be at least 1: " + bytes);
        }
        bytesMax = bytes;
        return this;
    }

    /** Continues after the last entry of a page of this scan; does nothing for an empty page. */
    public TablesScan continueAfter(ScanPage page) {
        if (page.count() > 0) {
            afterKey = page.lastKey();
            afterTable = page.lastTable();
        }
        return this;
    }
}
