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
 * Keeps the cursors over one table that Flink and users see views of the moment at which they were
 * made, whatever is written to the table while they are read.
 *
 * <p>A cursor is here from its first page to its last, so iterations that fit one page never are.
 * Everything that writes to the table says so before the write. A write to a key that an open
 * cursor still has to fetch records the key's before image, for the cursors to read in its place. A
 * write to any other key costs a comparison. Once the images take too much heap, the cursors get a
 * snapshot of the engine, and no write concerns them any more.
 *
 * <p>Iterators are often given up without a word. Cursors are held weakly, so what they keep goes
 * after the garbage collector has found them.
 *
 * <p>Threads: the one that writes to the table. Errors: {@link LavaDBException} from the engine;
 * the write must not follow then, and all views are as they were.
 */
public final class CursorViews {

    /** Up to so many bytes a value is read at once. */
    private static final int VALUE_BYTES = 1 << 10;

    private static final int RANGE_PAGE_ENTRIES = 256;

    private final LavaDB db;
    private final TableHandle table;
    private final ViewSnapshots snapshots;
    private final ReferenceQueue<TableCursor> unreachable = new ReferenceQueue<>();
    private final byte[] value = new byte[VALUE_BYTES];

    /** The groups by their prefixes; empty while there is only one. */
    private final Map<ByteBuffer, ViewGroup> prefixes = new LinkedHashMap<>();

    /** The views over the whole table. */
    @Nullable private ViewGroup whole;

    /** The group with a prefix that was asked for last; null when there is none at all. */
    @Nullable private ViewGroup last;

    /** Counts views: each begins at a time of its own. */
    private long clock;

    CursorViews(LavaDB db, TableHandle table, ViewSnapshots snapshots) {
        this.db = db;
        this.table = table;
        this.snapshots = snapshots;
    }

    /**
     * To be called before a key is written, appended to or deleted.
     *
     * @param prefixLength how many bytes of the key are the prefix that a map's iterators go over;
     *     0 where the table is no map
     */
    public void beforeWrite(byte[] key, int length, int prefixLength) throws LavaDBException {
        if (whole != null || last != null) {
            recordWrite(key, length, prefixLength);
        }
    }

    /** To be called before all keys with a prefix are deleted. */
    public void beforeDeletePrefix(byte[] prefix, int length) throws LavaDBException {
        if (whole != null || last != null) {
            recordPrefix(Arrays.copyOf(prefix, length));
        }
    }

    /** Lets go of what iterators kept that were given up since. */
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
     * @param position the last key that was fetched
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

    /** Forgets a group that has no views any more. */
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
                // As before the delete, so the snapshot shows the rest.
                trimOrSettle(group);
                if (group.isEmpty()) {
                    return;
                }
            }
            options.continueAfter(page);
        } while (!page.done());
    }

    /** The first key behind all that start with a prefix, whose first byte is a key group's. */
    private static byte[] behind(byte[] prefix) {
        int length = prefix.length;
        while (prefix[length - 1] == (byte) 0xff) {
            length--;
        }
        byte[] end = Arrays.copyOf(prefix, length);
        end[length - 1]++;
        return end;
    }

    /** Makes the images of a group take less: without those that nobody needs, or by a snapshot. */
    private void trimOrSettle(ViewGroup group) throws LavaDBException {
        forgetUnreachable();
        group.images().trim(group.oldestStart());
        if (group.images().bytes() > snapshots.imageBytesMax() / 2) {
            settle(group);
        }
    }

    /** Gives the views of a group a snapshot. What is written from now on does not concern them. */
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
