// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.engine;

import java.util.Arrays;
import java.util.NoSuchElementException;
import javax.annotation.Nullable;
import org.lavakv.LavaDB;
import org.lavakv.LavaDBException;
import org.lavakv.ScanOptions;
import org.lavakv.ScanPage;
import org.lavakv.Snapshot;
import org.lavakv.TableHandle;

/**
 * Iterates forward over the entries of a table, or of one prefix in it, in key order. It reads
 * pages, so that one native call returns many entries. The first page is small, the following ones
 * grow.
 *
 * <p>Nothing is held open between pages, so entries may be written and deleted meanwhile. A cursor
 * that {@link #asView} made a view shows exactly the entries as of that call. Any other cursor
 * reads each page from the current table and visits entries added ahead of it. Such cursors are for
 * loops that write nothing, or write only entries that they have already visited.
 *
 * <p>Threads: one at a time; for a view, the thread that writes to the table. Ownership: {@link
 * #buffer} and the offsets into it are valid until the next {@link #hasNext} or {@link #next}. The
 * garbage collector finds an abandoned view; {@link #close} frees its resources at once.
 */
public final class TableCursor implements AutoCloseable {

    private static final int PAGE_ENTRIES_MAX = 2048;
    private static final int FIRST_PAGE_BYTES = 16 << 10;
    private static final int PAGE_BYTES_MAX = 256 << 10;
    private static final int PAGE_GROWTH = 4;

    private final LavaDB db;
    private final TableHandle table;
    private final byte[] prefix;
    private final ScanOptions options = new ScanOptions();
    private ScanPage page;
    private final int skipKeyBytes;
    private final boolean keysOnly;
    private int pageEntries;
    private int pageBytes = FIRST_PAGE_BYTES;
    private int left;
    private boolean done;
    private boolean current;
    private boolean pageLoaded;
    private byte[] lastKey;

    /**
     * The snapshot to read pages from; null for the current table, or for the source that the view
     * chooses.
     */
    @Nullable private Snapshot snapshot;

    /** Set while more pages follow; null for a cursor that is not a view. */
    @Nullable private CursorView view;

    /** The current page's entries if they differ from the page itself. */
    @Nullable private HeapScanPage entries;

    private TableCursor(
            LavaDB db,
            TableHandle table,
            byte[] prefix,
            boolean keysOnly,
            int firstPageEntries,
            ScanPage page) {
        this.db = db;
        this.table = table;
        this.prefix = prefix;
        this.skipKeyBytes = prefix == null ? 0 : prefix.length;
        this.keysOnly = keysOnly;
        options.setKeysOnly(keysOnly).setSkipKeyBytes(skipKeyBytes);
        this.pageEntries = firstPageEntries;
        this.page = page;
    }

    /**
     * Over all entries whose keys start with {@code prefix}, which the returned keys omit.
     *
     * @param page a page to reuse, owned by the cursor until the cursor is exhausted
     */
    public static TableCursor ofPrefix(
            LavaDB db,
            TableHandle table,
            byte[] prefix,
            boolean keysOnly,
            int firstPageEntries,
            ScanPage page) {
        TableCursor cursor = new TableCursor(db, table, prefix, keysOnly, firstPageEntries, page);
        cursor.options.setPrefix(prefix, 0, prefix.length);
        return cursor;
    }

    /** Over the whole table, with whole keys. */
    public static TableCursor ofTable(
            LavaInstance instance, TableHandle table, boolean keysOnly, int firstPageEntries) {
        byte[] first =
                keyGroupBytes(
                        instance.keyGroupRange().getStartKeyGroup(),
                        instance.keyGroupPrefixBytes());
        TableCursor cursor =
                new TableCursor(
                        instance.db(), table, null, keysOnly, firstPageEntries, new ScanPage());
        cursor.options.setLower(first, 0, first.length);
        return cursor;
    }

    /**
     * Over the keys of one key group, without values.
     *
     * @param after the exclusive lower bound, or null for the first key of the key group
     * @param page a page to reuse, owned by the cursor until the cursor is exhausted
     */
    public static TableCursor ofKeyGroup(
            LavaInstance instance,
            TableHandle table,
            int keyGroup,
            byte[] after,
            int firstPageEntries,
            ScanPage page) {
        int prefixBytes = instance.keyGroupPrefixBytes();
        byte[] lower = after == null ? keyGroupBytes(keyGroup, prefixBytes) : after;
        // Flink has at most 32768 key groups, so the next number always exists as an upper bound.
        byte[] upper = keyGroupBytes(keyGroup + 1, prefixBytes);
        TableCursor cursor =
                new TableCursor(instance.db(), table, null, true, firstPageEntries, page);
        cursor.options.setLower(lower, 0, lower.length).setLowerExclusive(after != null);
        cursor.options.setUpper(upper, 0, upper.length);
        return cursor;
    }

    /** The bytes with which the keys of a key group start. */
    public static byte[] keyGroupBytes(int keyGroup, int prefixBytes) {
        byte[] bytes = new byte[prefixBytes];
        for (int i = 0; i < prefixBytes; i++) {
            bytes[i] = (byte) (keyGroup >>> (8 * (prefixBytes - 1 - i)));
        }
        return bytes;
    }

    /**
     * Makes the cursor show exactly the current entries of the table, whatever is written later
     * through these views. Reads the first page.
     */
    public TableCursor asView(CursorViews views) throws LavaDBException {
        loadPage();
        if (!done) {
            view = views.open(this, prefix, keysOnly, page.lastKey());
        }
        return this;
    }

    /**
     * Reads from a snapshot, which must stay open. Must be called before the first page is read.
     */
    public TableCursor at(Snapshot source) {
        snapshot = source;
        return this;
    }

    /** Makes the first page larger than usual. Must be called before it is read. */
    public TableCursor withFirstPageBytes(int bytes) {
        pageBytes = bytes;
        return this;
    }

    /** Whether all remaining entries are in memory; reads the first page if necessary. */
    public boolean isOnLastPage() throws LavaDBException {
        return !hasNext() || done;
    }

    /** Whether another entry follows; may load a page. */
    public boolean hasNext() throws LavaDBException {
        while (left == 0 && !done) {
            loadPage();
        }
        return left > 0;
    }

    /** Moves to the next entry. */
    public void next() throws LavaDBException {
        if (!hasNext()) {
            throw new NoSuchElementException();
        }
        if (entries == null) {
            page.next();
        } else {
            entries.next();
        }
        left--;
        current = true;
    }

    private void loadPage() throws LavaDBException {
        detach();
        if (pageLoaded) {
            options.continueAfter(page);
            pageEntries = Math.min(PAGE_ENTRIES_MAX, pageEntries * PAGE_GROWTH);
            pageBytes = Math.min(PAGE_BYTES_MAX, pageBytes * PAGE_GROWTH);
        }
        options.setEntriesMax(pageEntries).setBytesMax(pageBytes);
        db.scan(table, options, page, view == null ? snapshot : view.snapshot());
        pageLoaded = true;
        left = page.count();
        done = page.done() || left == 0;
        if (view != null) {
            showView();
        }
    }

    /** Replaces the page's entries by those as of the view's moment. */
    private void showView() {
        byte[] last = done ? null : page.lastKey();
        entries = view.entries(page, skipKeyBytes, last);
        if (entries != null) {
            left = entries.count();
        }
        if (done) {
            view.close();
            view = null;
        } else {
            view.advance(last);
        }
    }

    /** Ends the cursor and frees the resources of its view. Repeating the call does nothing. */
    @Override
    public void close() {
        if (view != null) {
            view.close();
            view = null;
        }
        left = 0;
        done = true;
    }

    /** The bytes that contain key and value of the current entry. */
    public byte[] buffer() {
        return entries == null ? page.buffer() : entries.buffer();
    }

    public int keyOffset() {
        return entries == null ? page.keyOffset() : entries.keyOffset();
    }

    public int keyLength() {
        return entries == null ? page.keyLength() : entries.keyLength();
    }

    public int valueOffset() {
        return entries == null ? page.valueOffset() : entries.valueOffset();
    }

    public int valueLength() {
        return entries == null ? page.valueLength() : entries.valueLength();
    }

    /** A copy of the whole key of the entry that {@link #next} returned last. */
    public byte[] copyKey() {
        if (!current) {
            if (lastKey == null) {
                throw new IllegalStateException("next() has not been called.");
            }
            return lastKey;
        }
        byte[] key = new byte[skipKeyBytes + keyLength()];
        if (skipKeyBytes > 0) {
            System.arraycopy(prefix, 0, key, 0, skipKeyBytes);
        }
        System.arraycopy(buffer(), keyOffset(), key, skipKeyBytes, keyLength());
        return key;
    }

    /** Releases the page for reuse; {@link #copyKey} still works. */
    public void detach() {
        if (current) {
            lastKey = copyKey();
            current = false;
        }
    }

    ScanPage page() {
        return page;
    }

    /** Hands over the page, and continues with a copy of it. */
    ScanPage leavePage() {
        ScanPage left = page;
        page = left.copy();
        return left;
    }

    /** A copy of the current entry's value. */
    public byte[] copyValue() {
        return Arrays.copyOfRange(buffer(), valueOffset(), valueOffset() + valueLength());
    }
}
