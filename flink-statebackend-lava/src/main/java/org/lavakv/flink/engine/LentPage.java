package org.lavakv.flink.engine;

import java.lang.ref.WeakReference;
import javax.annotation.Nullable;
import org.lavakv.ScanPage;

/**
 * The page that the iterators of one state use one after the other.
 *
 * <p>Iterators are often given up without a word, after their first entry. The next iterator takes
 * the page all the same, and the one that had it goes on with a copy of the page's content: that is
 * less than a new page, which has room for more than most iterations read.
 *
 * <p>Threads: one. Ownership: a page that is lent is kept by its cursor alone, so that it goes with
 * a cursor that the garbage collector finds.
 */
public final class LentPage {

    /** One large value must not hold memory for the rest of the state's life. */
    private static final int KEPT_BYTES_MAX = 1 << 20;

    /** A larger content is not copied: a new page costs no more. */
    private static final int COPIED_BYTES_MAX = 8 << 10;

    @Nullable private ScanPage page;
    @Nullable private WeakReference<TableCursor> borrower;

    /** The page, or a new one. For a cursor that is then named to {@link #lentTo}. */
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

    /** The cursor has the page that was taken last. */
    public void lentTo(TableCursor cursor) {
        borrower = new WeakReference<>(cursor);
    }

    /** The cursor is at its end; of a cursor that has another page nothing comes back. */
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
