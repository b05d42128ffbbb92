// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.programs;

import java.util.List;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.lavakv.flink.LavaKeyedStateBackend;

/** Steps of whole jobs: snapshots, restarts, compactions and clocks. */
final class JobSteps {

    private JobSteps() {}

    /** The clock for TTL jumps. */
    static final class StepClock extends Step {
        private final long millis;

        StepClock(long millis) {
            this.millis = millis;
        }

        @Override
        Object run(Job job) {
            job.clock().step(millis);
            return job.now();
        }

        @Override
        boolean showsExpiredAgain() {
            return millis < 0;
        }

        @Override
        public String toString() {
            return "the clock goes " + (millis < 0 ? "back" : "on") + " by " + Math.abs(millis);
        }
    }

    /** Compacts all of Lava's state; the other backends do nothing. */
    static final class Compact extends Step {
        @Override
        Object run(Job job) throws Exception {
            if (job.kind().isLava()) {
                job.clock().accept();
                for (JobSubtask subtask : job.subtasks()) {
                    ((LavaKeyedStateBackend<?>) subtask.backend).compact();
                }
            }
            return "done";
        }

        @Override
        boolean comparesAll() {
            return true;
        }

        @Override
        public String toString() {
            return "compact";
        }
    }

    /** The synchronous part of a snapshot. */
    static final class Take extends Step {
        private final int id;
        private final Snapshot.Kind kind;

        Take(int id, Snapshot.Kind kind) {
            this.id = id;
            this.kind = kind;
        }

        @Override
        Object run(Job job) throws Exception {
            job.takeSnapshot(id, kind);
            return "taken";
        }

        @Override
        public String toString() {
            return "take snapshot " + id + ", a " + kind;
        }
    }

    /** How a snapshot ends. */
    enum End {
        COMPLETE,
        /** Its parts have run, but no notification arrives. */
        UNHEARD,
        ABORT
    }

    /** A snapshot's asynchronous part, and its outcome. */
    static final class Finish extends Step {
        private final int id;
        private final End end;

        Finish(int id, End end) {
            this.id = id;
            this.end = end;
        }

        @Override
        Object run(Job job) throws Exception {
            if (job.snapshot(id) == null) {
                return "none";
            }
            switch (end) {
                case COMPLETE:
                    job.completeSnapshot(id, true);
                    break;
                case UNHEARD:
                    job.completeSnapshot(id, false);
                    break;
                default:
                    job.abortSnapshot(id);
                    break;
            }
            return "done";
        }

        @Override
        public String toString() {
            return "snapshot " + id + ": " + end;
        }
    }

    /** All jobs continue from one of their snapshots, if it was finished. */
    static final class Restart extends Step {
        private final int id;
        private final List<KeyGroupRange> ranges;
        private final List<BackendKind> next;

        /**
         * @param next the jobs' next backends if the snapshot can be restored by another backend
         */
        Restart(int id, List<KeyGroupRange> ranges, List<BackendKind> next) {
            this.id = id;
            this.ranges = ranges;
            this.next = next;
        }

        @Override
        Object run(Job job) throws Exception {
            Snapshot snapshot = job.snapshot(id);
            if (snapshot == null || !snapshot.isFinished()) {
                return "none";
            }
            job.restart(snapshot, ranges, next.get(job.index));
            return "restarted";
        }

        @Override
        boolean showsExpiredAgain() {
            return true;
        }

        @Override
        boolean comparesAll() {
            return true;
        }

        @Override
        public String toString() {
            return "restart from snapshot "
                    + id
                    + " with "
                    + ranges
                    + ", on "
                    + next
                    + " if it crosses";
        }
    }

    /** Compares the whole content. */
    static final class CompareAll extends Step {
        @Override
        Object run(Job job) {
            return "done";
        }

        @Override
        boolean comparesAll() {
            return true;
        }

        @Override
        public String toString() {
            return "compare everything";
        }
    }
}
