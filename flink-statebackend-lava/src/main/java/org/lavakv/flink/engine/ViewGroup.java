package org.lavakv.flink.engine;

import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import java.util.function.Consumer;
import javax.annotation.Nullable;

/**
 * The views of all cursors over the same range of a table that still have something to fetch, and
 * the before images that they share.
 *
 * <p>Threads: the table's.
 */
final class ViewGroup {

    /** Up to so many views their positions are looked through to know what all have passed. */
    private static final int EXACT_VIEWS_MAX = 8;

    private static final byte[] NOTHING = {};

    @Nullable private final byte[] prefix;
    private final Consumer<ViewGroup> emptied;
    private final Set<CursorView> views = new HashSet<>();
    private final BeforeImages images = new BeforeImages();

    /** All views have fetched everything up to here. */
    private byte[] passed = NOTHING;

    private long newestStart;
    private boolean keysOnly = true;

    /**
     * @param prefix what the keys of the range start with, or null for the whole table
     * @param emptied told when the last view is gone
     */
    ViewGroup(@Nullable byte[] prefix, Consumer<ViewGroup> emptied) {
        this.prefix = prefix;
        this.emptied = emptied;
    }

    @Nullable
    byte[] prefix() {
        return prefix;
    }

    BeforeImages images() {
        return images;
    }

    Set<CursorView> views() {
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
        if (views.isEmpty() || Arrays.compareUnsigned(view.position(), passed) < 0) {
            passed = view.position();
        }
        views.add(view);
        newestStart = view.start();
        keysOnly &= view.keysOnly();
    }

    void remove(CursorView view) {
        views.remove(view);
        if (views.isEmpty()) {
            emptied.accept(this);
        } else {
            advanced();
        }
    }

    /** A view has fetched more, or is gone. */
    void advanced() {
        if (views.size() > EXACT_VIEWS_MAX) {
            return;
        }
        byte[] least = null;
        for (CursorView view : views) {
            byte[] position = view.position();
            if (least == null || Arrays.compareUnsigned(position, least) < 0) {
                least = position;
            }
        }
        passed = least;
    }

    /** Whether some view still has to fetch this key. */
    boolean isAhead(byte[] key, int off, int len) {
        return Arrays.compareUnsigned(key, off, off + len, passed, 0, passed.length) > 0;
    }

    /** The smallest start of a view. */
    long oldestStart() {
        long oldest = Long.MAX_VALUE;
        for (CursorView view : views) {
            oldest = Math.min(oldest, view.start());
        }
        return oldest;
    }
}
