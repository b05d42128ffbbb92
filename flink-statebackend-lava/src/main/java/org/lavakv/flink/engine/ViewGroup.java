// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.engine;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import javax.annotation.Nullable;

/**
 * The views of all cursors over the same range of a table that still have entries to fetch, and the
 * before images that they share.
 *
 * <p>Threads: the table's.
 */
final class ViewGroup {

    /**
     * Up to this number of views, all their positions are compared to find the key that all have
     * passed.
     */
    private static final int EXACT_VIEWS_MAX = 8;

    private static final byte[] NOTHING = {};

    @Nullable private final byte[] prefix;
    private final CursorViews owner;
    private final BeforeImages images = new BeforeImages();

    /** The head of the linked list of views. */
    @Nullable private CursorView first;

    private int count;

    /** All views have fetched everything up to this key. */
    private byte[] passed = NOTHING;

    private long newestStart;
    private boolean keysOnly = true;

    /**
     * @param prefix the prefix of the range, or null for the whole table
     * @param owner informed when the last view is removed
     */
    ViewGroup(@Nullable byte[] prefix, CursorViews owner) {
        this.prefix = prefix;
        this.owner = owner;
    }

    @Nullable
    byte[] prefix() {
        return prefix;
    }

    BeforeImages images() {
        return images;
    }

    boolean isEmpty() {
        return first == null;
    }

    /** A copy of all views. */
    List<CursorView> views() {
        List<CursorView> views = new ArrayList<>(count);
        for (CursorView view = first; view != null; view = view.next) {
            views.add(view);
        }
        return views;
    }

    byte[] passed() {
        return passed;
    }

    long newestStart() {
        return newestStart;
    }

    /** Whether all views ask for keys only. */
    boolean keysOnly() {
        return keysOnly;
    }

    void add(CursorView view) {
        if (first == null || Arrays.compareUnsigned(view.position(), passed) < 0) {
            passed = view.position();
        }
        view.next = first;
        if (first != null) {
            first.previous = view;
        }
        first = view;
        count++;
        newestStart = view.start();
        keysOnly &= view.keysOnly();
    }

    void remove(CursorView view) {
        if (view.previous == null) {
            first = view.next;
        } else {
            view.previous.next = view.next;
        }
        if (view.next != null) {
            view.next.previous = view.previous;
        }
        view.next = null;
        view.previous = null;
        count--;
        if (first == null) {
            owner.drop(this);
        } else {
            advanced();
        }
    }

    /** A view has fetched more entries, or was removed. */
    void advanced() {
        if (count > EXACT_VIEWS_MAX) {
            return;
        }
        byte[] least = first.position();
        for (CursorView view = first.next; view != null; view = view.next) {
            byte[] position = view.position();
            if (Arrays.compareUnsigned(position, least) < 0) {
                least = position;
            }
        }
        passed = least;
    }

    /** Whether some view still has to fetch this key. */
    boolean isAhead(byte[] key, int off, int len) {
        return Arrays.compareUnsigned(key, off, off + len, passed, 0, passed.length) > 0;
    }

    /** The smallest start of any view. */
    long oldestStart() {
        long oldest = Long.MAX_VALUE;
        for (CursorView view = first; view != null; view = view.next) {
            oldest = Math.min(oldest, view.start());
        }
        return oldest;
    }
}
