// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.history;

import java.util.Map;
import java.util.TreeMap;

/** Counts how often random histories did each action. Threads: any. */
final class HistoryCounts {

    private final Map<String, Long> counts = new TreeMap<>();

    synchronized void add(String what, long count) {
        counts.merge(what, count, Long::sum);
    }

    /** In the format of bin/floors.py. */
    @Override
    public synchronized String toString() {
        StringBuilder lines = new StringBuilder();
        counts.forEach(
                (what, count) ->
                        lines.append("COUNT ").append(count).append(' ').append(what).append('\n'));
        return lines.toString();
    }
}
