// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv;

import static org.lavakv.BoundedCall.DONE;

import java.lang.ref.Reference;

/**
 * Scans of one instance: pages of one table, or of several tables at once. {@link LavaDB} has the
 * public calls.
 *
 * <p>Threads: any. Ownership: the instance must outlive this object.
 */
final class DatabaseScan {

    private static final int FLAG_LOWER_EXCLUSIVE = 1;
    private static final int FLAG_KEYS_ONLY = 2;
    private static final int FLAG_PAST_CACHE = 4;

    private final LavaDB db;

    DatabaseScan(LavaDB db) {
        this.db = db;
    }

    /** See {@link LavaDB#scan}. */
    void scan(TableHandle t, ScanOptions o, ScanPage page, Snapshot s) throws LavaDBException {
        fill(page, o.bytesMax, s, db.own(t), o, null, null);
    }

    /** See {@link LavaDB#scanTables}. */
    void scanTables(TablesScan o, ScanPage page, Snapshot s) throws LavaDBException {
        long[] tables = new long[o.tables.size()];
        for (int i = 0; i < tables.length; i++) {
            tables[i] = db.own(o.tables.get(i));
        }
        fill(page, o.bytesMax, s, 0, null, tables, o);
    }

    /**
     * Fills the page with one of the two scans. Repeats the call with a larger buffer, or when a
     * required file has arrived. Does not use a lambda, because a page must not cause allocations,
     * whether compiled or not.
     */
    private void fill(
            ScanPage page,
            int bytesMax,
            Snapshot s,
            long table,
            ScanOptions ofTable,
            long[] tables,
            TablesScan ofTables)
            throws LavaDBException {
        long snapshot = db.own(s);
        try {
            int needed = arrayBytesFor(bytesMax);
            while (needed != DONE) {
                byte[] out = page.reserve(needed);
                try {
                    needed =
                            ofTable != null
                                    ? scanInto(out, table, ofTable, snapshot)
                                    : scanInto(out, tables, ofTables, snapshot);
                } catch (LavaDBException e) {
                    db.neededFiles.bring(e);
                }
            }
            page.filled();
        } finally {
            Reference.reachabilityFence(s);
            Reference.reachabilityFence(db); // because the native calls are static
        }
    }

    /** Returns 0, or the required size of the array. */
    private int scanInto(byte[] out, long table, ScanOptions o, long snapshot)
            throws LavaDBException {
        int flags =
                (o.lowerExclusive ? FLAG_LOWER_EXCLUSIVE : 0)
                        | (o.keysOnly ? FLAG_KEYS_ONLY : 0)
                        | (o.fillCache ? 0 : FLAG_PAST_CACHE);
        return scan0(
                db.handle,
                table,
                o.lower,
                o.lowerBytes,
                o.upper,
                o.upperBytes,
                flags,
                o.prefixBytes,
                o.skipKeyBytes,
                o.entriesMax,
                o.bytesMax,
                snapshot,
                out,
                out.length);
    }

    private int scanInto(byte[] out, long[] tables, TablesScan o, long snapshot)
            throws LavaDBException {
        return scanTables0(
                db.handle,
                tables,
                o.afterTable,
                o.afterKey,
                o.afterKey.length,
                o.fillCache ? 0 : FLAG_PAST_CACHE,
                o.entriesMax,
                o.bytesMax,
                snapshot,
                out,
                out.length);
    }

    /** Size for a full page and its last key, so that only a large entry needs a second call. */
    private static int arrayBytesFor(int bytesMax) {
        return (int) Math.min(Integer.MAX_VALUE - 64L, bytesMax + 1024L);
    }

    private static native int scan0(
            long handle,
            long table,
            byte[] lower,
            int lowerLen,
            byte[] upper,
            int upperLen,
            int flags,
            int prefixLen,
            int skipKeyBytes,
            int entriesMax,
            int bytesMax,
            long snapshot,
            byte[] out,
            int outCapacity)
            throws LavaDBException;

    private static native int scanTables0(
            long handle,
            long[] tables,
            int afterTable,
            byte[] afterKey,
            int afterKeyLen,
            int flags,
            int entriesMax,
            int bytesMax,
            long snapshot,
            byte[] out,
            int outCapacity)
            throws LavaDBException;
}
