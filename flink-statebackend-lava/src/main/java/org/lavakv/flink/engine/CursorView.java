// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.engine;

import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import javax.annotation.Nullable;
import org.lavakv.ScanPage;
import org.lavakv.Snapshot;

/**
 * One cursor's view of its table as of the moment at which it began, for the entries that it still
 * has to fetch.
 *
 * <p>At first the view reads the current table, overlaid with before images. Once these take too
 * much heap, it reads a snapshot with the images recorded before the snapshot.
 *
 * <p>Threads: the table's. Ownership: the view refers to its cursor weakly, so that the reference
 * queue reports an abandoned cursor. {@link #close} releases the snapshot.
 */
final class CursorView extends WeakReference<TableCursor> {

    /** Neighbours in the group's list. Only the group changes them. */
    @Nullable CursorView next;

    @Nullable CursorView previous;

    private final long start;
    private final boolean keysOnly;
    private byte[] position;

    /** The group of this view; null when the view reads a snapshot, or is closed. */
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

    /** The last fetched key. */
    byte[] position() {
        return position;
    }

    /** The snapshot to read from; null for the current table. */
    @Nullable
    Snapshot snapshot() {
        return pin == null ? null : pin.snapshot();
    }

    /**
     * The entries of a page that was just read, as of this view's moment; null if they equal the
     * page's entries.
     *
     * @param last the page's last key, or null when it is the last page
     */
    @Nullable
    HeapScanPage entries(ScanPage page, int skipKeyBytes, @Nullable byte[] last) {
        return images.over(page, skipKeyBytes, position, last, start);
    }

    /** Everything up to this key was fetched. */
    void advance(byte[] last) {
        position = last;
        if (group != null) {
            group.advanced();
        }
    }

    /**
     * From now on the view reads a snapshot, overlaid with the images recorded before the snapshot.
     */
    void use(ViewSnapshots.Pin shared) {
        pin = shared;
        group = null;
    }

    /** The view fetches nothing more. Repeating the call does nothing. */
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
