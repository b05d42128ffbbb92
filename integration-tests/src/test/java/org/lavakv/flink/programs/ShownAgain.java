// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.programs;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import javax.annotation.Nullable;

/**
 * Values that reappear when a clock is set back, although Lava may legitimately have dropped them
 * meanwhile.
 *
 * <p>Each such value may be present or not in a job that may have dropped it. All other values must
 * be present. Afterwards such values are removed from all jobs, so that later steps of a program do
 * not depend on them.
 *
 * <p>Threads: one.
 */
final class ShownAgain {

    /** Number of values with a TTL that were compared. */
    static final class Counts {
        /** Values that were never expired. */
        long neverExpired;

        /** Values that were expired, but by no clock by which a job drops values. */
        long expired;

        /** Values that a job may have dropped. */
        long doubtful;

        /** Values that a job had dropped. */
        long gone;

        void add(Counts more) {
            neverExpired += more.neverExpired;
            expired += more.expired;
            doubtful += more.doubtful;
            gone += more.gone;
        }
    }

    private final List<Job> jobs;
    private final StateSpec state;
    private final Counts counts;
    private final Map<Long, boolean[]> mayBeGone = new HashMap<>();

    private ShownAgain(List<Job> jobs, StateSpec state, Counts counts) {
        this.jobs = jobs;
        this.state = state;
        this.counts = counts;
    }

    /**
     * Compares all values with a TTL, and removes those that a job may have dropped.
     *
     * @return the difference, or null
     */
    @Nullable
    static String settle(List<Job> jobs, List<StateSpec> states, Counts counts) throws Exception {
        for (StateSpec state : states) {
            if (state.ttl != null) {
                String difference = new ShownAgain(jobs, state, counts).settle();
                if (difference != null) {
                    return difference;
                }
            }
        }
        return null;
    }

    @Nullable
    private String settle() throws Exception {
        Map<String, Cell> cells = new LinkedHashMap<>();
        for (Job job : jobs) {
            for (JobSubtask subtask : job.subtasks()) {
                subtask.cells(state).forEach(cell -> cells.put(cell.toString(), cell));
            }
        }
        for (Cell cell : cells.values()) {
            List<List<Held>> live = new ArrayList<>();
            for (Job job : jobs) {
                live.add(job.of(cell.key).live(cell));
            }
            String difference = difference(cell, live);
            if (difference != null) {
                return difference;
            }
            takeAway(cell, live);
        }
        return null;
    }

    @Nullable
    private String difference(Cell cell, List<List<Held>> live) {
        List<Set<String>> doubtful = new ArrayList<>();
        Map<String, Held> all = new LinkedHashMap<>();
        Set<String> certain = new LinkedHashSet<>();
        for (List<Held> one : live) {
            Set<String> own = new LinkedHashSet<>();
            for (Held held : one) {
                if (isDoubtful(held)) {
                    own.add(held.toString());
                    all.putIfAbsent(held.toString(), held);
                }
            }
            doubtful.add(own);
            certain.add(certain(one).toString());
        }
        boolean same = certain.size() == 1;
        for (int job = 0; job < jobs.size(); job++) {
            for (Map.Entry<String, Held> each : all.entrySet()) {
                same &=
                        doubtful.get(job).contains(each.getKey())
                                || mayBeGone(each.getValue())[job];
            }
        }
        if (same) {
            count(certain(live.get(0)), doubtful, all.size());
            return null;
        }
        StringBuilder text = new StringBuilder("what the clock shows again differs in " + cell);
        for (int job = 0; job < jobs.size(); job++) {
            text.append("\n  ").append(jobs.get(job).name()).append(": ").append(live.get(job));
        }
        return text + "\n  of these may be gone: " + all.keySet();
    }

    private void count(List<Held> certain, List<Set<String>> doubtful, int all) {
        for (Held held : certain) {
            if (jobs.get(0).clock().wasExpired(state, held.written)) {
                counts.expired++;
            } else {
                counts.neverExpired++;
            }
        }
        counts.doubtful += all;
        counts.gone += all - doubtful.stream().mapToInt(Set::size).min().orElse(all);
    }

    /** The rest of a list is rewritten, the same for all jobs. */
    private void takeAway(Cell cell, List<List<Held>> live) throws Exception {
        Set<String> userKeys = new LinkedHashSet<>();
        boolean any = false;
        for (List<Held> one : live) {
            for (Held held : one) {
                if (isDoubtful(held)) {
                    any = true;
                    userKeys.add((String) held.userKey);
                }
            }
        }
        if (!any) {
            return;
        }
        for (int job = 0; job < jobs.size(); job++) {
            JobSubtask subtask = jobs.get(job).of(cell.key);
            List<Held> left = certain(live.get(job));
            if (state.kind == StateSpec.Kind.MAP) {
                for (String userKey : userKeys) {
                    StateSteps.map(subtask.at(cell)).remove(userKey);
                }
            } else if (left.isEmpty()) {
                subtask.at(cell).clear();
            } else {
                StateSteps.list(subtask.at(cell))
                        .update(
                                left.stream()
                                        .map(held -> (String) held.value)
                                        .collect(Collectors.toList()));
            }
        }
    }

    private List<Held> certain(List<Held> live) {
        return live.stream().filter(held -> !isDoubtful(held)).collect(Collectors.toList());
    }

    private boolean isDoubtful(Held held) {
        for (boolean one : mayBeGone(held)) {
            if (one) {
                return true;
            }
        }
        return false;
    }

    /** For each job, whether it may have dropped a value; cached until all values are compared. */
    private boolean[] mayBeGone(Held held) {
        return mayBeGone.computeIfAbsent(
                held.written,
                written -> {
                    boolean[] of = new boolean[jobs.size()];
                    for (int job = 0; job < of.length; job++) {
                        of[job] = jobs.get(job).clock().mayBeGone(state, written);
                    }
                    return of;
                });
    }
}
