// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.programs;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.apache.flink.runtime.state.KeyGroupedInternalPriorityQueue;
import org.apache.flink.streaming.api.operators.TimerHeapInternalTimer;
import org.apache.flink.util.CloseableIterator;

/** Steps that register, delete, fire and iterate over timers. */
final class TimerSteps {

    private TimerSteps() {}

    private static TimerHeapInternalTimer<Object, Object> timer(
            long time, Object key, Object namespace) {
        return new TimerHeapInternalTimer<>(time, key, namespace);
    }

    /** Adds or removes timers of several keys. */
    static final class Change extends Step {
        private final QueueSpec queue;
        private final boolean adds;
        private final int firstKey;
        private final int keys;
        private final Object namespace;
        private final long time;
        private final int times;

        /**
         * @param firstKey the number of the first key with timers
         * @param times number of timers for each key, one millisecond apart
         */
        Change(
                QueueSpec queue,
                boolean adds,
                int firstKey,
                int keys,
                Object namespace,
                long time,
                int times) {
            this.queue = queue;
            this.adds = adds;
            this.firstKey = firstKey;
            this.keys = keys;
            this.namespace = namespace;
            this.time = time;
            this.times = times;
        }

        @Override
        Object run(Job job) throws Exception {
            for (int key = firstKey; key < firstKey + keys; key++) {
                for (int i = 0; i < times; i++) {
                    change(job, timer(time + i, job.setup().keys.key(key), namespace));
                }
            }
            return heads(job, queue);
        }

        private void change(Job job, TimerHeapInternalTimer<Object, Object> timer) {
            KeyGroupedInternalPriorityQueue<TimerHeapInternalTimer<Object, Object>> timers =
                    job.of(timer.getKey()).queue(queue);
            TimerHeapInternalTimer<Object, Object> before = timers.peek();
            boolean told = adds ? timers.add(timer) : timers.remove(timer);
            TimerHeapInternalTimer<Object, Object> after = timers.peek();
            // Flink sets its next wake-up by this result.
            if (!Objects.equals(time(before), time(after)) && !told) {
                throw new IllegalStateException(
                        "The first timer has changed, but nobody is told: " + Job.shown(timer));
            }
        }

        @Override
        public String toString() {
            return (adds ? "add" : "remove")
                    + " timers "
                    + time
                    + " to "
                    + (time + times - 1)
                    + " of keys number "
                    + firstKey
                    + " to "
                    + (firstKey + keys - 1)
                    + (queue.namespaces == Namespaces.NONE
                            ? ""
                            : " in namespace " + Texts.shown(namespace))
                    + " in "
                    + queue;
        }
    }

    private static Long time(TimerHeapInternalTimer<Object, Object> timer) {
        return timer == null ? null : timer.getTimestamp();
    }

    /** The time of each subtask's first timer, and whether there are any. */
    private static List<String> heads(Job job, QueueSpec queue) {
        List<String> heads = new ArrayList<>();
        for (JobSubtask subtask : job.subtasks()) {
            heads.add(time(subtask.queue(queue).peek()) + " " + subtask.queue(queue).isEmpty());
        }
        return heads;
    }

    /**
     * Fires all timers up to a time, like Flink; some of them register another one. Timers with
     * equal times fire in any order.
     */
    static final class Fire extends Step {
        private final QueueSpec queue;
        private final long upTo;
        private final int again;

        /**
         * @param again some firing timers register another one this much after {@code upTo}; 0:
         *     none
         */
        Fire(QueueSpec queue, long upTo, int again) {
            this.queue = queue;
            this.upTo = upTo;
            this.again = again;
        }

        @Override
        Object run(Job job) throws Exception {
            List<String> fired = new ArrayList<>();
            for (JobSubtask subtask : job.subtasks()) {
                fired.addAll(fire(subtask));
            }
            fired.add(heads(job, queue).toString());
            return fired;
        }

        private List<String> fire(JobSubtask subtask) {
            KeyGroupedInternalPriorityQueue<TimerHeapInternalTimer<Object, Object>> timers =
                    subtask.queue(queue);
            List<String> fired = new ArrayList<>();
            long last = Long.MIN_VALUE;
            TimerHeapInternalTimer<Object, Object> first;
            while ((first = timers.peek()) != null && first.getTimestamp() <= upTo) {
                TimerHeapInternalTimer<Object, Object> polled = timers.poll();
                if (!first.equals(polled)) {
                    throw new IllegalStateException("Another timer is polled than was first.");
                }
                if (first.getTimestamp() < last) {
                    throw new IllegalStateException("Timers do not come in order of their times.");
                }
                last = first.getTimestamp();
                fired.add(Job.shown(first));
                if (again > 0 && Math.floorMod(first.getKey().hashCode(), 2) == 0) {
                    timers.add(timer(upTo + again, first.getKey(), first.getNamespace()));
                }
            }
            fired.sort(null);
            return fired;
        }

        @Override
        public String toString() {
            return "fire timers up to "
                    + upTo
                    + (again > 0 ? ", of which some register another one at " + (upTo + again) : "")
                    + " in "
                    + queue;
        }
    }

    /** The action of a consumer on visited timers. */
    enum Meanwhile {
        NOTHING,
        REMOVE,
        MOVE_AHEAD,
        MOVE_BACK,
        ADD_OTHERS,
        POLL_FIRST
    }

    /**
     * Iterates over a queue's timers while the consumer changes the queue. In Lava's own queue the
     * iterator shows the timers as of its creation. Flink's queue on the heap guarantees nothing,
     * and RocksDB's queue shows the changes in key groups that it has not reached yet; there the
     * timers are copied first.
     */
    static final class Iterate extends Step {
        private final QueueSpec queue;
        private final Meanwhile meanwhile;
        private final long by;

        /**
         * @param by how far timers are moved: past all others, so that the order of visits does not
         *     matter
         */
        Iterate(QueueSpec queue, Meanwhile meanwhile, long by) {
            this.queue = queue;
            this.meanwhile = meanwhile;
            this.by = by;
        }

        @Override
        boolean comparesAll() {
            return meanwhile != Meanwhile.NOTHING;
        }

        @Override
        Object run(Job job) throws Exception {
            List<String> met = new ArrayList<>();
            for (JobSubtask subtask : job.subtasks()) {
                met.add(iterate(job, subtask).toString());
            }
            met.add(heads(job, queue).toString());
            return met;
        }

        private List<String> iterate(Job job, JobSubtask subtask) throws Exception {
            KeyGroupedInternalPriorityQueue<TimerHeapInternalTimer<Object, Object>> timers =
                    subtask.queue(queue);
            List<String> met = new ArrayList<>();
            if (job.kind() == BackendKind.LAVA) {
                int size = timers.size();
                try (CloseableIterator<TimerHeapInternalTimer<Object, Object>> iterator =
                        timers.iterator()) {
                    while (iterator.hasNext() && met.size() <= size) {
                        meet(iterator.next(), timers, met);
                    }
                }
            } else {
                subtask.timers(queue).forEach(timer -> meet(timer, timers, met));
            }
            met.sort(null);
            return met;
        }

        private void meet(
                TimerHeapInternalTimer<Object, Object> timer,
                KeyGroupedInternalPriorityQueue<TimerHeapInternalTimer<Object, Object>> timers,
                List<String> met) {
            met.add(Job.shown(timer));
            // A new object, as in InternalTimerService.
            long time = timer.getTimestamp();
            Object key = timer.getKey();
            Object namespace = timer.getNamespace();
            switch (meanwhile) {
                case REMOVE:
                    timers.remove(timer(time, key, namespace));
                    break;
                case MOVE_AHEAD:
                    timers.remove(timer(time, key, namespace));
                    timers.add(timer(time + by, key, namespace));
                    break;
                case MOVE_BACK:
                    timers.remove(timer(time, key, namespace));
                    timers.add(timer(time - by, key, namespace));
                    break;
                case ADD_OTHERS:
                    timers.add(timer(time + by, key, namespace));
                    timers.add(timer(time - by, key, namespace));
                    break;
                case POLL_FIRST:
                    timers.poll();
                    break;
                default:
                    break;
            }
        }

        @Override
        public String toString() {
            return "go over the timers, meanwhile " + meanwhile + " by " + by + ", in " + queue;
        }
    }
}
