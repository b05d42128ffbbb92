// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

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
 * The snapshots that the views of one instance read from.
 *
 * <p>Threads: the task's; {@link #close} any. Ownership: owns the snapshots. A snapshot is closed
 * when no view uses it any more, or with the instance.
 *
 * <p>Units: bytes of Java heap.
 */
final class ViewSnapshots implements AutoCloseable {

    /** Heap limit for the before images of one group of views while no snapshot is pinned. */
    private static final long IMAGE_BYTES_MAX = 1 << 20;

    /** Each pinned snapshot doubles the limit this many times. */
    private static final int DOUBLINGS = 2;

    private static final int PINS_MAX = 14;

    private final LavaDB db;
    private final Set<Pin> pins = ConcurrentHashMap.newKeySet();

    ViewSnapshots(LavaDB db) {
        this.db = db;
    }

    /**
     * Heap limit for the before images of a group; beyond it the views get a snapshot. The limit
     * grows with each pinned snapshot. Abandoned iterators keep their snapshots until the garbage
     * collector finds them, and only heap usage by images makes the garbage collector run.
     */
    long imageBytesMax() {
        return IMAGE_BYTES_MAX << DOUBLINGS * Math.min(PINS_MAX, pins.size());
    }

    /** Takes a snapshot, from which the views read from now on. */
    void pinFor(Collection<CursorView> views) throws LavaDBException {
        Pin pin = new Pin(db.getSnapshot(), views);
        pins.add(pin);
        views.forEach(view -> view.use(pin));
    }

    int size() {
        return pins.size();
    }

    /** Closes all snapshots; views that still use one cannot be read further. */
    @Override
    public void close() {
        for (Pin pin : new ArrayList<>(pins)) {
            pin.end();
        }
    }

    /**
     * A snapshot and the views that use it. The strong references keep each view reachable: an
     * unreachable view would never be enqueued when its cursor becomes unreachable.
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

        /** The view does not use the snapshot any more. */
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
