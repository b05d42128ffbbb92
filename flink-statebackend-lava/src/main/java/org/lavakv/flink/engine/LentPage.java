// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.engine;

import java.lang.ref.WeakReference;
import javax.annotation.Nullable;
import org.lavakv.ScanPage;

/**
 * A page that the iterators of one state use in turn.
 *
 * <p>Iterators are often abandoned after their first entry without being closed. The next iterator
 * takes the page in any case, and the previous one continues with a copy of the page's content. The
 * copy is smaller than a new page, which has space for more than most iterations read.
 *
 * <p>Threads: one. Ownership: only the cursor references a lent page, so the page is freed together
 * with a cursor that the garbage collector finds.
 */
public final class LentPage {

    /**
     * A page that grew for one large value must not occupy memory for the rest of the state's life.
     */
    private static final int KEPT_BYTES_MAX = 1 << 20;

    /** Larger content is not copied, because a new page costs no more. */
    private static final int COPIED_BYTES_MAX = 8 << 10;

    @Nullable private ScanPage page;
    @Nullable private WeakReference<TableCursor> borrower;

    /** The page, or a new one. The caller then names its cursor to {@link #lentTo}. */
    public ScanPage take() {
        ScanPage taken = page;
        page = null;
        if (taken == null) {
            taken = takenBack();
        }
        return taken == null ? new ScanPage() : taken;
    }

    @Nullable
    private ScanPage takenBack() {
        TableCursor cursor = borrower == null ? null : borrower.get();
        if (cursor == null || cursor.page().usedBytes() > COPIED_BYTES_MAX) {
            return null;
        }
        ScanPage taken = cursor.leavePage();
        return isKept(taken) ? taken : null;
    }

    /** Tells which cursor has the page that was taken last. */
    public void lentTo(TableCursor cursor) {
        borrower = new WeakReference<>(cursor);
    }

    /** The cursor is at its end and returns its page. Ignored if the cursor has another page. */
    public void giveBack(TableCursor cursor) {
        if (borrower != null && borrower.get() == cursor) {
            borrower = null;
            cursor.detach();
            page = isKept(cursor.page()) ? cursor.page() : null;
        }
    }

    private static boolean isKept(ScanPage page) {
        return page.buffer().length <= KEPT_BYTES_MAX;
    }
}
