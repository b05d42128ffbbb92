// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.history;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import javax.annotation.Nullable;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.streaming.api.operators.TimerHeapInternalTimer;

/** The expected keyed state of the whole job. Threads: one. */
final class Model {

    static final List<String> QUEUES =
            List.of("_timer_state/event_timers", "_timer_state/processing_timers");

    private static final Comparator<TimerHeapInternalTimer<Integer, VoidNamespace>> BY_TIME =
            Comparator.<TimerHeapInternalTimer<Integer, VoidNamespace>>comparingLong(
                            TimerHeapInternalTimer::getTimestamp)
                    .thenComparing(TimerHeapInternalTimer::getKey);

    private final int keyGroups;
    private final Map<Integer, Object[]> held = new HashMap<>();
    private final List<TreeSet<TimerHeapInternalTimer<Integer, VoidNamespace>>> timers =
            new ArrayList<>();

    /** An empty model. */
    Model(int keyGroups, int keys, int states) {
        this.keyGroups = keyGroups;
        for (int key = 0; key < keys; key++) {
            held.put(key, new Object[states]);
        }
        QUEUES.forEach(queue -> timers.add(new TreeSet<>(BY_TIME)));
    }

    /** A copy of the model. */
    Model(Model other) {
        keyGroups = other.keyGroups;
        other.held.forEach((key, states) -> held.put(key, Arrays.copyOf(states, states.length)));
        other.timers.forEach(queue -> timers.add(new TreeSet<>(queue)));
    }

    @Nullable
    Object held(int key, int state) {
        return held.get(key)[state];
    }

    void hold(int key, int state, @Nullable Object what) {
        held.get(key)[state] = what;
    }

    /** The timers of one queue. */
    TreeSet<TimerHeapInternalTimer<Integer, VoidNamespace>> timers(int queue) {
        return timers.get(queue);
    }

    /** The timers of one queue in some key groups. */
    TreeSet<TimerHeapInternalTimer<Integer, VoidNamespace>> timers(int queue, KeyGroupRange range) {
        TreeSet<TimerHeapInternalTimer<Integer, VoidNamespace>> some = new TreeSet<>(BY_TIME);
        for (TimerHeapInternalTimer<Integer, VoidNamespace> timer : timers.get(queue)) {
            if (range.contains(keyGroup(timer.getKey()))) {
                some.add(timer);
            }
        }
        return some;
    }

    /** The keys of some key groups. */
    List<Integer> keysIn(KeyGroupRange range) {
        List<Integer> keys = new ArrayList<>();
        for (int key = 0; key < held.size(); key++) {
            if (range.contains(keyGroup(key))) {
                keys.add(key);
            }
        }
        return keys;
    }

    private int keyGroup(int key) {
        return KeyGroupRangeAssignment.assignToKeyGroup(key, keyGroups);
    }
}
