package org.lavakv.flink.engine;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.lavakv.LavaDB;
import org.lavakv.LavaDBException;
import org.lavakv.Snapshot;

/**
 * The snapshots that views of one instance read from.
 *
 * <p>Threads: the task's; {@link #close} any. Ownership: owns the snapshots; each is closed when no
 * view uses it any more, and all with the instance.
 *
 * <p>Units: bytes of Java heap.
 */
final class ViewSnapshots implements AutoCloseable {

    /** How much the before images of one group of views may take without any snapshot. */
    private static final long IMAGE_BYTES_MAX = 1 << 20;

    /** With each snapshot that is pinned the limit doubles so often. */
    private static final int DOUBLINGS = 2;

    private static final int PINS_MAX = 14;

    private final LavaDB db;
    private final Set<Pin> pins = ConcurrentHashMap.newKeySet();

    ViewSnapshots(LavaDB db) {
        this.db = db;
    }

    /**
     * How much heap the before images of a group may take before its views get a snapshot. More
     * with each snapshot that is still pinned: iterators that were given up keep theirs until the
     * garbage collector finds them, and the heap that their images take is what makes it run.
     */
    long imageBytesMax() {
        return IMAGE_BYTES_MAX << DOUBLINGS * Math.min(PINS_MAX, pins.size());
    }

    /** Takes a snapshot of this moment, which the views read from now on. */
    void pinFor(Collection<CursorView> views) throws LavaDBException {
        Pin pin = new Pin(db.getSnapshot(), views);
        pins.add(pin);
        views.forEach(view -> view.use(pin));
    }

    int size() {
        return pins.size();
    }

    /** Closes all; views that still use one cannot be read further. */
    @Override
    public void close() {
        for (Pin pin : new ArrayList<>(pins)) {
            pin.end();
        }
    }

    /**
     * A snapshot and the views that use it: an unreachable view would never be found in the queue
     * of those whose cursors are unreachable.
     */
    final class Pin {
        private final Snapshot snapshot;
        private final Set<CursorView> views;

        private Pin(Snapshot snapshot, Collection<CursorView> views) {
            this.snapshot = snapshot;
            this.views = new HashSet<>(views);
        }

        Snapshot snapshot() {
            return snapshot;
        }

        /** A view does not use it any more. */
        void release(CursorView view) {
            views.remove(view);
            if (views.isEmpty()) {
                end();
            }
        }

        private void end() {
            if (pins.remove(this)) {
                snapshot.close();
            }
        }
    }
}
