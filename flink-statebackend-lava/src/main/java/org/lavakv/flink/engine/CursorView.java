package org.lavakv.flink.engine;

import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import javax.annotation.Nullable;
import org.lavakv.ScanPage;
import org.lavakv.Snapshot;

/**
 * One cursor's view of its table at the moment at which it began: of what it still has to fetch.
 *
 * <p>It reads the table as it is, with before images over it; once these take too much heap, a
 * snapshot with the images up to then.
 *
 * <p>Threads: the table's. Ownership: it refers to its cursor weakly, so that one that was given up
 * is found in the queue. A snapshot is released by {@link #close}.
 */
final class CursorView extends WeakReference<TableCursor> {

    /** Neighbours in the list of their group, which alone changes them. */
    @Nullable CursorView next;

    @Nullable CursorView previous;

    private final long start;
    private final boolean keysOnly;
    private byte[] position;

    /** Whose cursors' views this is among; null when it reads a snapshot, or is closed. */
    @Nullable private ViewGroup group;

    private BeforeImages images;
    @Nullable private ViewSnapshots.Pin pin;

    CursorView(
            TableCursor cursor,
            ReferenceQueue<TableCursor> unreachable,
            ViewGroup group,
            long start,
            boolean keysOnly,
            byte[] position) {
        super(cursor, unreachable);
        this.group = group;
        this.images = group.images();
        this.start = start;
        this.keysOnly = keysOnly;
        this.position = position;
    }

    long start() {
        return start;
    }

    boolean keysOnly() {
        return keysOnly;
    }

    /** The last key that was fetched. */
    byte[] position() {
        return position;
    }

    /** What to read from; null: the table as it is. */
    @Nullable
    Snapshot snapshot() {
        return pin == null ? null : pin.snapshot();
    }

    /**
     * The entries of a page that was just read, as of this view's moment; null for the page's own.
     *
     * @param last the page's last key, or null when it is the last page
     */
    @Nullable
    EntryPage entries(ScanPage page, int skipKeyBytes, @Nullable byte[] last) {
        return images.over(page, skipKeyBytes, position, last, start);
    }

    /** Everything up to this key was fetched. */
    void advance(byte[] last) {
        position = last;
        if (group != null) {
            group.advanced();
        }
    }

    /** From now on this reads a snapshot, and the images that were recorded before it. */
    void use(ViewSnapshots.Pin shared) {
        pin = shared;
        group = null;
    }

    /** Nothing more is fetched. Repeating it does nothing. */
    void close() {
        if (pin != null) {
            pin.release(this);
            pin = null;
        }
        if (group != null) {
            group.remove(this);
            group = null;
        }
    }
}
