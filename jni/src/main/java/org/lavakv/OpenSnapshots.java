// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv;

import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;

/**
 * The origins of an instance's open snapshots. Snapshots are the only native objects of an instance
 * that callers hold, because scans keep nothing open between their pages.
 *
 * <p>Threads: any thread.
 */
final class OpenSnapshots {

    /** Number of snapshots described by a warning. */
    static final int DESCRIBED_MAX = 8;

    private final Set<Origin> open = ConcurrentHashMap.newKeySet();

    void add(Origin origin) {
        open.add(origin);
    }

    /**
     * Excludes a snapshot from warnings: it was closed, or found by the cleaner, or the caller
     * takes responsibility for it.
     */
    void remove(Origin origin) {
        open.remove(origin);
    }

    /** Removes and returns the open snapshots, the oldest first. */
    List<Origin> take() {
        return open.stream()
                .filter(open::remove)
                .sorted(Comparator.comparingLong(Origin::nanos))
                .collect(Collectors.toList());
    }

    /** The warning that an instance was closed before these snapshots. */
    static String warning(String path, List<Origin> left) {
        StringBuilder text = new StringBuilder();
        text.append("The database (org.lavakv.LavaDB) in ").append(path);
        text.append(" was closed with ").append(left.size());
        text.append(left.size() == 1 ? " snapshot" : " snapshots");
        text.append(" of it open, which should have been closed before. Opened:");
        left.stream()
                .limit(DESCRIBED_MAX)
                .forEach(origin -> text.append("\n  a snapshot, ").append(origin));
        if (left.size() > DESCRIBED_MAX) {
            text.append("\n  and ").append(left.size() - DESCRIBED_MAX).append(" later ones");
        }
        return text.append('.').append(Origin.advice(left.get(0).stack())).toString();
    }

    /**
     * An exception to log with the warning: the caller's stack, with those of the snapshots
     * suppressed in it; null without stacks.
     */
    static Throwable stacks(List<Origin> left) {
        if (left.get(0).stack() == null) {
            return null;
        }
        Throwable all = new Throwable("closed here");
        left.stream().limit(DESCRIBED_MAX).forEach(origin -> all.addSuppressed(origin.stack()));
        return all;
    }
}
