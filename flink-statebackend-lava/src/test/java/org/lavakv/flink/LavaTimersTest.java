// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.TreeSet;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.apache.flink.runtime.state.KeyGroupedInternalPriorityQueue;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.apache.flink.streaming.api.operators.TimerHeapInternalTimer;
import org.apache.flink.streaming.api.operators.TimerSerializer;
import org.apache.flink.util.CloseableIterator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.lavakv.flink.testing.BackendFixture;

/** Compares timers in the engine with a sorted set. The head is much smaller than the queue. */
class LavaTimersTest {

    private static final int CACHE_SIZE = 3;

    @TempDir Path directory;

    private BackendFixture fixture;
    private LavaKeyedStateBackend<Integer> backend;
    private KeyGroupedInternalPriorityQueue<TimerHeapInternalTimer<Integer, VoidNamespace>> queue;

    @BeforeEach
    void open() throws Exception {
        fixture = new BackendFixture(directory);
        fixture.use(fixture.newLava(true).set(LavaOptions.TIMER_SERVICE_CACHE_SIZE, CACHE_SIZE));
        backend = (LavaKeyedStateBackend<Integer>) fixture.create(BackendFixture.ALL);
        queue =
                backend.create(
                        "timers",
                        new TimerSerializer<>(
                                IntSerializer.INSTANCE, VoidNamespaceSerializer.INSTANCE));
    }

    @AfterEach
    void close() throws Exception {
        fixture.close();
    }

    private static TimerHeapInternalTimer<Integer, VoidNamespace> timer(long time, int key) {
        return new TimerHeapInternalTimer<>(time, key, VoidNamespace.INSTANCE);
    }

    private static Comparator<TimerHeapInternalTimer<Integer, VoidNamespace>> order() {
        return Comparator.<TimerHeapInternalTimer<Integer, VoidNamespace>>comparingLong(
                        TimerHeapInternalTimer::getTimestamp)
                .thenComparing(TimerHeapInternalTimer::getKey);
    }

    @Test
    void behavesLikeASortedSet() throws Exception {
        TreeSet<TimerHeapInternalTimer<Integer, VoidNamespace>> model = new TreeSet<>(order());
        Random random = new Random(7);
        for (int step = 0; step < 20_000; step++) {
            int what = random.nextInt(10);
            if (what < 5) {
                TimerHeapInternalTimer<Integer, VoidNamespace> added =
                        timer(random.nextInt(500) - 250, random.nextInt(20));
                queue.add(added);
                model.add(added);
            } else if (what < 7) {
                TimerHeapInternalTimer<Integer, VoidNamespace> removed =
                        timer(random.nextInt(500) - 250, random.nextInt(20));
                queue.remove(removed);
                model.remove(removed);
            } else if (!model.isEmpty()) {
                assertThat(queue.peek().getTimestamp()).isEqualTo(model.first().getTimestamp());
                // Timers with equal times may come in any order.
                assertThat(model.remove(queue.poll())).isTrue();
            }
            assertThat(queue.isEmpty()).isEqualTo(model.isEmpty());
            if (step % 1000 == 0) {
                assertThat(queue.size()).isEqualTo(model.size());
                assertThat(elements()).containsExactlyInAnyOrderElementsOf(model);
                assertSubsets(model);
            }
        }
    }

    private List<TimerHeapInternalTimer<Integer, VoidNamespace>> elements() throws Exception {
        List<TimerHeapInternalTimer<Integer, VoidNamespace>> elements = new ArrayList<>();
        try (CloseableIterator<TimerHeapInternalTimer<Integer, VoidNamespace>> iterator =
                queue.iterator()) {
            iterator.forEachRemaining(elements::add);
        }
        return elements;
    }

    private void assertSubsets(TreeSet<TimerHeapInternalTimer<Integer, VoidNamespace>> model) {
        for (int keyGroup = 0; keyGroup < BackendFixture.KEY_GROUPS; keyGroup++) {
            int group = keyGroup;
            HashSet<Object> expected = new HashSet<>();
            model.stream()
                    .filter(
                            timer ->
                                    KeyGroupRangeAssignment.assignToKeyGroup(
                                                    timer.getKey(), BackendFixture.KEY_GROUPS)
                                            == group)
                    .forEach(expected::add);
            assertThat(new HashSet<Object>(queue.getSubsetForKeyGroup(group))).isEqualTo(expected);
        }
    }

    @Test
    void timersOfANewQueueObjectAreThoseInTheEngine() {
        for (int i = 0; i < 100; i++) {
            queue.add(timer(i, i));
        }
        KeyGroupedInternalPriorityQueue<TimerHeapInternalTimer<Integer, VoidNamespace>> again =
                backend.create(
                        "timers",
                        new TimerSerializer<>(
                                IntSerializer.INSTANCE, VoidNamespaceSerializer.INSTANCE));
        for (int i = 0; i < 100; i++) {
            assertThat(again.poll().getTimestamp()).isEqualTo(i);
        }
        assertThat(again.poll()).isNull();
    }

    @Test
    void pollingDoesNotReadWhatItPolled() throws Exception {
        int timers = 2000;
        for (int i = 0; i < timers; i++) {
            queue.add(timer(i, 1));
        }
        long before = backend.instance().db().getStatistics().scans();
        for (int i = 0; i < timers; i++) {
            assertThat(queue.poll().getTimestamp()).isEqualTo(i);
        }
        // One page for each head, and one for each key group to find out that it is empty.
        assertThat(backend.instance().db().getStatistics().scans() - before)
                .isLessThanOrEqualTo(timers / CACHE_SIZE + 2L * BackendFixture.KEY_GROUPS);
        assertThat(queue.isEmpty()).isTrue();
    }
}
