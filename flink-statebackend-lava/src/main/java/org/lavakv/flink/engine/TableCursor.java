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
 * Goes forward over the entries of a table, or of one prefix in it, in key order, by pages: one
 * native call for many entries. The first page is small, the following ones grow.
 *
 * <p>Nothing is held open between pages, so entries may be written and deleted meanwhile. A cursor
 * that was made a view by {@link #asView} shows exactly the entries of that moment. Any other reads
 * each page as the table is by then, and visits what was added ahead of it: these are for loops
 * that write nothing, or only to entries that they have visited.
 *
 * <p>Threads: one at a time; of a view, the one that writes to the table. Ownership: {@link
 * #buffer} and the offsets into it are valid until the next {@link #hasNext} or {@link #next}. A
 * view that is given up is found by the garbage collector; {@link #close} lets go at once of what
 * is kept for it.
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

    /** What pages are read from; null: the table as it is, or what the view says. */
    @Nullable private Snapshot snapshot;

    /** While pages are still to come; null for a cursor that is no view. */
    @Nullable private CursorView view;

    /** The current page's entries where the page itself does not show them. */
    @Nullable private EntryPage entries;

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
     * Over all entries whose keys start with {@code prefix}, which is left out of the keys.
     *
     * @param page one to reuse; the cursor's until it is exhausted
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
     * Over the keys, without values, of one key group.
     *
     * @param after the key to begin behind, or null for the first of the key group
     * @param page one to reuse; the cursor's until it is exhausted
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
        // Flink has at most 32768 key groups, so there is always a next number to end at.
        byte[] upper = keyGroupBytes(keyGroup + 1, prefixBytes);
        TableCursor cursor =
                new TableCursor(instance.db(), table, null, true, firstPageEntries, page);
        cursor.options.setLower(lower, 0, lower.length).setLowerExclusive(after != null);
        cursor.options.setUpper(upper, 0, upper.length);
        return cursor;
    }

    /** The bytes that keys of a key group start with. */
    public static byte[] keyGroupBytes(int keyGroup, int prefixBytes) {
        byte[] bytes = new byte[prefixBytes];
        for (int i = 0; i < prefixBytes; i++) {
            bytes[i] = (byte) (keyGroup >>> (8 * (prefixBytes - 1 - i)));
        }
        return bytes;
    }

    /**
     * Makes the cursor show exactly the entries that the table has now, whatever is written later
     * through these views; reads the first page.
     */
    public TableCursor asView(CursorViews views) throws LavaDBException {
        loadPage();
        if (!done) {
            view = views.open(this, prefix, keysOnly, page.lastKey());
        }
        return this;
    }

    /** Reads the entries of a snapshot, which must stay open. Before the first page is read. */
    public TableCursor at(Snapshot source) {
        snapshot = source;
        return this;
    }

    /** Makes the first page larger than usual. Before it is read. */
    public TableCursor withFirstPageBytes(int bytes) {
        pageBytes = bytes;
        return this;
    }

    /** Whether all entries that follow have been read; reads the first page. */
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

    /** Goes to the next entry. */
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

    /** Puts what the page's entries were at the view's moment in the place of what they are. */
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

    /** Ends the cursor; for a view, forgets what was kept for it. Repeating it does nothing. */
    @Override
    public void close() {
        if (view != null) {
            view.close();
            view = null;
        }
        left = 0;
        done = true;
    }

    /** The bytes that key and value of the current entry are in. */
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

    /** A copy of the whole key of the entry that {@link #next} last went to. */
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

    /** Lets the page go, to be used by others; {@link #copyKey} still answers. */
    public void detach() {
        if (current) {
            lastKey = copyKey();
            current = false;
        }
    }

    ScanPage page() {
        return page;
    }

    /** Leaves the page to others, and goes on with a copy of it. */
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
