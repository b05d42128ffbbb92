// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.engine;

import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import javax.annotation.Nullable;
import org.lavakv.LavaDB;
import org.lavakv.LavaDBException;
import org.lavakv.ScanOptions;
import org.lavakv.ScanPage;
import org.lavakv.TableHandle;

/**
 * Ensures that cursors over one table, as used by Flink and by users, show the table as of the
 * moment at which they were made, whatever is written while they are read.
 *
 * <p>A cursor is registered here from its first page to its last. An iteration that fits into one
 * page is never registered. Every write to the table is announced before it happens. A write to a
 * key that an open cursor still has to fetch records the key's before image, which the cursors read
 * instead. A write to any other key costs a comparison. Once the images take too much heap, the
 * cursors get a snapshot of the engine, and further writes do not concern them.
 *
 * <p>Iterators are often abandoned without being closed. Cursors are referenced weakly, so their
 * resources are freed after the garbage collector has found them.
 *
 * <p>Threads: the thread that writes to the table. Errors: {@link LavaDBException} from the engine.
 * The write must then not happen; all views are unchanged.
 */
public final class CursorViews {

    /** Values up to this size are read in one step. */
    private static final int VALUE_BYTES = 1 << 10;

    private static final int RANGE_PAGE_ENTRIES = 256;

    private final LavaDB db;
    private final TableHandle table;
    private final ViewSnapshots snapshots;
    private final ReferenceQueue<TableCursor> unreachable = new ReferenceQueue<>();
    private final byte[] value = new byte[VALUE_BYTES];

    /** The groups by prefix; empty while there is only one. */
    private final Map<ByteBuffer, ViewGroup> prefixes = new LinkedHashMap<>();

    /** The views over the whole table. */
    @Nullable private ViewGroup whole;

    /** The group with a prefix that was used last; null if no group has a prefix. */
    @Nullable private ViewGroup last;

    /** Counts views: each begins at a different time. */
    private long clock;

    CursorViews(LavaDB db, TableHandle table, ViewSnapshots snapshots) {
        this.db = db;
        this.table = table;
        this.snapshots = snapshots;
    }

    /**
     * Must be called before a key is written, appended to or deleted.
     *
     * @param prefixLength length of the prefix of the key over which a map's iterators go; 0 if the
     *     table is not a map
     */
    public void beforeWrite(byte[] key, int length, int prefixLength) throws LavaDBException {
        if (whole != null || last != null) {
            recordWrite(key, length, prefixLength);
        }
    }

    /** Must be called before all keys with a prefix are deleted. */
    public void beforeDeletePrefix(byte[] prefix, int length) throws LavaDBException {
        if (whole != null || last != null) {
            recordPrefix(Arrays.copyOf(prefix, length));
        }
    }

    /** Frees the resources of iterators that were abandoned. */
    public void forgetUnreachable() {
        Reference<? extends TableCursor> view = unreachable.poll();
        while (view != null) {
            ((CursorView) view).close();
            view = unreachable.poll();
        }
    }

    /**
     * A view for a cursor that has fetched its first page and no other.
     *
     * @param prefix the cursor's range, or null for the whole table
     * @param position the last fetched key
     */
    CursorView open(
            TableCursor cursor, @Nullable byte[] prefix, boolean keysOnly, byte[] position) {
        forgetUnreachable();
        ViewGroup group = groupFor(prefix);
        CursorView view = new CursorView(cursor, unreachable, group, ++clock, keysOnly, position);
        group.add(view);
        return view;
    }

    private ViewGroup groupFor(@Nullable byte[] prefix) {
        if (prefix == null) {
            if (whole == null) {
                whole = new ViewGroup(null, this);
            }
            return whole;
        }
        if (last == null) {
            last = new ViewGroup(prefix, this);
        } else if (!Arrays.equals(prefix, last.prefix())) {
            if (prefixes.isEmpty()) {
                prefixes.put(ByteBuffer.wrap(last.prefix()), last);
            }
            last =
                    prefixes.computeIfAbsent(
                            ByteBuffer.wrap(prefix), key -> new ViewGroup(prefix, this));
        }
        return last;
    }

    /** The group of a key's prefix, or null. */
    @Nullable
    private ViewGroup groupOf(byte[] key, int prefixLength) {
        if (last == null || prefixLength == 0) {
            return null;
        }
        byte[] prefix = last.prefix();
        if (!Arrays.equals(key, 0, prefixLength, prefix, 0, prefix.length)) {
            ViewGroup group =
                    prefixes.isEmpty() ? null : prefixes.get(ByteBuffer.wrap(key, 0, prefixLength));
            if (group == null) {
                return null;
            }
            last = group;
        }
        return last;
    }

    /** Removes a group without views. */
    void drop(ViewGroup group) {
        if (group == whole) {
            whole = null;
        } else if (prefixes.isEmpty()) {
            last = null;
        } else {
            prefixes.remove(ByteBuffer.wrap(group.prefix()));
            last = prefixes.values().iterator().next();
            if (prefixes.size() == 1) {
                prefixes.clear();
            }
        }
    }

    private void recordWrite(byte[] key, int length, int prefixLength) throws LavaDBException {
        record(groupOf(key, prefixLength), key, length, prefixLength);
        record(whole, key, length, prefixLength);
    }

    private void record(@Nullable ViewGroup group, byte[] key, int length, int prefixLength)
            throws LavaDBException {
        if (group == null || !group.isAhead(key, 0, length)) {
            return;
        }
        byte[] copy = Arrays.copyOf(key, length);
        if (!group.images().lacks(copy, group.newestStart())) {
            return;
        }
        long limit = snapshots.imageBytesMax();
        if (group.keysOnly()) {
            boolean exists = db.contains(table, copy, 0, length, prefixLength);
            group.images().add(copy, exists ? BeforeImages.EXISTS : null, clock);
        } else {
            int valueLength = db.get(table, copy, 0, length, prefixLength, value, 0);
            if (valueLength > limit) {
                settle(group);
                return;
            }
            byte[] before =
                    valueLength < 0
                            ? null
                            : valueLength <= value.length
                                    ? Arrays.copyOf(value, valueLength)
                                    : db.get(table, copy, 0, length, prefixLength);
            group.images().add(copy, before, clock);
        }
        if (group.images().bytes() > limit) {
            trimOrSettle(group);
        }
    }

    private void recordPrefix(byte[] prefix) throws LavaDBException {
        recordPrefix(groupOf(prefix, prefix.length), prefix);
        recordPrefix(whole, prefix);
    }

    /** Records all entries with a prefix that a view still has to fetch. */
    private void recordPrefix(@Nullable ViewGroup group, byte[] prefix) throws LavaDBException {
        if (group == null) {
            return;
        }
        byte[] passed = group.passed();
        byte[] from = Arrays.compareUnsigned(passed, prefix) > 0 ? passed : prefix;
        byte[] end = behind(prefix);
        if (Arrays.compareUnsigned(from, end) >= 0) {
            return;
        }
        ScanOptions options = new ScanOptions().setEntriesMax(RANGE_PAGE_ENTRIES);
        options.setLower(from, 0, from.length).setLowerExclusive(from == passed);
        options.setUpper(end, 0, end.length).setKeysOnly(group.keysOnly());
        ScanPage page = new ScanPage();
        do {
            db.scan(table, options, page, null);
            while (page.next()) {
                byte[] key = page.key();
                if (group.images().lacks(key, group.newestStart())) {
                    group.images().add(key, page.value(), clock);
                }
            }
            if (group.images().bytes() > snapshots.imageBytesMax()) {
                // The table is still as before the delete, so the snapshot shows the remaining
                // entries.
                trimOrSettle(group);
                if (group.isEmpty()) {
                    return;
                }
            }
            options.continueAfter(page);
        } while (!page.done());
    }

    /**
     * The smallest key after all keys with a prefix. The first byte of the prefix belongs to a key
     * group.
     */
    private static byte[] behind(byte[] prefix) {
        int length = prefix.length;
        while (prefix[length - 1] == (byte) 0xff) {
            length--;
        }
        byte[] end = Arrays.copyOf(prefix, length);
        end[length - 1]++;
        return end;
    }

    /**
     * Reduces the heap size of a group's images: drops the images that no view needs, or takes a
     * snapshot.
     */
    private void trimOrSettle(ViewGroup group) throws LavaDBException {
        forgetUnreachable();
        group.images().trim(group.oldestStart());
        if (group.images().bytes() > snapshots.imageBytesMax() / 2) {
            settle(group);
        }
    }

    /** Gives the views of a group a snapshot. Later writes do not concern them. */
    private void settle(ViewGroup group) throws LavaDBException {
        forgetUnreachable();
        if (group.isEmpty()) {
            return;
        }
        List<CursorView> views = group.views();
        snapshots.pinFor(views);
        views.forEach(group::remove);
    }
}
