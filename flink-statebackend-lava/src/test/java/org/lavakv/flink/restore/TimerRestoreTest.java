// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.restore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.lavakv.flink.testing.BackendFixture.ALL;
import static org.lavakv.flink.testing.BackendFixture.HIGH;
import static org.lavakv.flink.testing.BackendFixture.KEY_GROUPS;
import static org.lavakv.flink.testing.BackendFixture.LOW;
import static org.lavakv.flink.testing.BackendFixture.keysIn;
import static org.lavakv.flink.testing.BackendFixture.remote;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.RunnableFuture;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.runtime.checkpoint.CheckpointOptions;
import org.apache.flink.runtime.execution.CancelTaskException;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.IncrementalRemoteKeyedStateHandle;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.apache.flink.runtime.state.KeyGroupedInternalPriorityQueue;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.apache.flink.streaming.api.operators.TimerHeapInternalTimer;
import org.apache.flink.streaming.api.operators.TimerSerializer;
import org.apache.flink.util.CloseableIterator;
import org.apache.flink.util.IOUtils;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.lavakv.flink.LavaOptions;
import org.lavakv.flink.LavaOptions.TimerService;
import org.lavakv.flink.checkpoint.HeapTimerFile;
import org.lavakv.flink.testing.BackendFixture;
import org.lavakv.flink.testing.CountingStringSerializer;
import org.lavakv.flink.testing.StateContent;

/** Timers in Lava's own checkpoints, with any location before and after the restore. */
@Timeout(120)
class TimerRestoreTest {

    private static final int KEYS = 100;

    @TempDir Path root;
    private BackendFixture fixture;
    private final Map<
                    AbstractKeyedStateBackend<Integer>,
                    Map<
                            String,
                            KeyGroupedInternalPriorityQueue<
                                    TimerHeapInternalTimer<Integer, VoidNamespace>>>>
            queues = new IdentityHashMap<>();

    @BeforeEach
    void open() throws Exception {
        fixture = new BackendFixture(root);
    }

    @AfterEach
    void close() throws Exception {
        fixture.close();
    }

    private void use(TimerService timers) throws Exception {
        fixture.use(fixture.newLava(true).set(LavaOptions.TIMER_SERVICE_FACTORY, timers));
    }

    /** A queue is created once, because its serializer cannot be registered again. */
    private KeyGroupedInternalPriorityQueue<TimerHeapInternalTimer<Integer, VoidNamespace>> queue(
            AbstractKeyedStateBackend<Integer> backend, String name) {
        return queues.computeIfAbsent(backend, key -> new HashMap<>())
                .computeIfAbsent(
                        name,
                        key ->
                                backend.create(
                                        "_timer_state/event_" + key,
                                        new TimerSerializer<>(
                                                IntSerializer.INSTANCE,
                                                VoidNamespaceSerializer.INSTANCE)));
    }

    private void fill(AbstractKeyedStateBackend<Integer> backend, KeyGroupRange range) {
        for (int key : keysIn(range, KEYS)) {
            for (String name : List.of("a", "b")) {
                queue(backend, name)
                        .add(
                                new TimerHeapInternalTimer<>(
                                        1000L - key, key, VoidNamespace.INSTANCE));
            }
            queue(backend, "b").add(new TimerHeapInternalTimer<>(-5L, key, VoidNamespace.INSTANCE));
        }
    }

    private TreeSet<String> timers(AbstractKeyedStateBackend<Integer> backend, KeyGroupRange range)
            throws Exception {
        TreeSet<String> all = new TreeSet<>();
        for (String name : List.of("a", "b")) {
            try (CloseableIterator<TimerHeapInternalTimer<Integer, VoidNamespace>> timers =
                    queue(backend, name).iterator()) {
                while (timers.hasNext()) {
                    TimerHeapInternalTimer<Integer, VoidNamespace> timer = timers.next();
                    all.add(name + " " + timer.getKey() + " at " + timer.getTimestamp());
                    assertThat(
                                    range.contains(
                                            KeyGroupRangeAssignment.assignToKeyGroup(
                                                    timer.getKey(), KEY_GROUPS)))
                            .isTrue();
                }
            }
        }
        return all;
    }

    @ParameterizedTest(name = "timers in {0}, then {1}, then {2}")
    @CsvSource({
        "HEAP,HEAP,HEAP",
        "HEAP,LAVA,HEAP",
        "LAVA,HEAP,LAVA",
        "LAVA,LAVA,LAVA",
        "HEAP,HEAP,LAVA",
        "LAVA,HEAP,HEAP"
    })
    void outAndInAgain(TimerService first, TimerService second, TimerService third)
            throws Exception {
        use(first);
        AbstractKeyedStateBackend<Integer> whole = fixture.create(ALL);
        fill(whole, ALL);
        TreeSet<String> expected = timers(whole, ALL);
        assertThat(expected).hasSize(3 * KEYS);
        KeyedStateHandle before = remote(fixture.checkpoint(whole, 1));
        use(second);
        List<KeyedStateHandle> halves = new ArrayList<>();
        TreeSet<String> ofHalves = new TreeSet<>();
        for (KeyGroupRange range : List.of(LOW, HIGH)) {
            AbstractKeyedStateBackend<Integer> half = fixture.create(range, before);
            ofHalves.addAll(timers(half, range));
            halves.add(remote(fixture.checkpoint(half, 2)));
        }
        assertThat(ofHalves).isEqualTo(expected);
        use(third);
        whole = fixture.create(ALL, halves);
        assertThat(timers(whole, ALL)).isEqualTo(expected);
        assertThat(timers(fixture.create(ALL, remote(fixture.checkpoint(whole, 3))), ALL))
                .isEqualTo(expected);
    }

    @Test
    void restoredTimersAreSetsAndInOrder() throws Exception {
        use(TimerService.HEAP);
        AbstractKeyedStateBackend<Integer> backend = fixture.create(ALL);
        fill(backend, ALL);
        use(TimerService.LAVA);
        backend = fixture.create(ALL, remote(fixture.checkpoint(backend, 1)));
        fill(backend, ALL);
        KeyGroupedInternalPriorityQueue<TimerHeapInternalTimer<Integer, VoidNamespace>> queue =
                queue(backend, "a");
        assertThat(queue.size()).isEqualTo(KEYS);
        long last = Long.MIN_VALUE;
        for (int i = 0; i < KEYS; i++) {
            long next = queue.poll().getTimestamp();
            assertThat(next).isGreaterThanOrEqualTo(last);
            last = next;
        }
        assertThat(queue.isEmpty()).isTrue();
    }

    @Test
    void timersOfTheHeapAreThoseOfTheSynchronousPart() throws Exception {
        use(TimerService.HEAP);
        AbstractKeyedStateBackend<Integer> backend = fixture.create(ALL);
        fill(backend, ALL);
        TreeSet<String> expected = timers(backend, ALL);
        RunnableFuture<SnapshotResult<KeyedStateHandle>> future =
                backend.snapshot(
                        1,
                        0,
                        fixture.streams(1),
                        CheckpointOptions.forCheckpointWithDefaultLocation());
        queue(backend, "a").poll();
        queue(backend, "a").add(new TimerHeapInternalTimer<>(1L, 1, VoidNamespace.INSTANCE));
        future.run();
        assertThat(timers(fixture.create(ALL, remote(future.get())), ALL)).isEqualTo(expected);
    }

    @Test
    void localCopyHasThemAndNoTemporaryFileStays() throws Exception {
        fixture.enableLocalRecovery();
        use(TimerService.HEAP);
        AbstractKeyedStateBackend<Integer> backend = fixture.create(ALL);
        fill(backend, ALL);
        StateContent.change(backend, keysIn(ALL, KEYS), 0);
        TreeSet<String> expected = timers(backend, ALL);
        SnapshotResult<KeyedStateHandle> checkpoint = fixture.checkpoint(backend, 1);
        assertThat(BackendFixture.filesIn(fixture.instances()))
                .noneMatch(file -> file.getFileName().toString().contains("timers"));
        fixture.close(backend);
        for (Path file : BackendFixture.filesIn(fixture.checkpoints())) {
            Files.delete(file);
        }
        backend = fixture.create(ALL, checkpoint.getTaskLocalSnapshot());
        assertThat(timers(backend, ALL)).isEqualTo(expected);
        assertThat(BackendFixture.filesIn(fixture.instances()))
                .noneMatch(file -> file.getFileName().toString().contains("timers"));
    }

    @ParameterizedTest(name = "timers in {0}, cancelled by interrupt: {1}")
    @CsvSource({"HEAP,true", "HEAP,false", "LAVA,true", "LAVA,false"})
    void cancelledRestoreEnds(TimerService before, boolean interrupt) throws Exception {
        int count = 3000;
        use(before);
        AbstractKeyedStateBackend<Integer> backend = fixture.create(ALL);
        KeyGroupedInternalPriorityQueue<TimerHeapInternalTimer<String, VoidNamespace>> queue =
                backend.create(
                        "_timer_state/event_many",
                        new TimerSerializer<>(
                                new CountingStringSerializer(), VoidNamespaceSerializer.INSTANCE));
        for (int i = 0; i < count; i++) {
            queue.add(new TimerHeapInternalTimer<>(i, "key " + i, VoidNamespace.INSTANCE));
        }
        KeyedStateHandle checkpoint = remote(fixture.checkpoint(backend, 1));
        use(TimerService.HEAP);
        CountingStringSerializer.reset();
        CountingStringSerializer.whenDeserializing(
                () -> {
                    if (interrupt) {
                        Thread.currentThread().interrupt();
                    } else {
                        IOUtils.closeQuietly(fixture.cancel());
                    }
                });
        try {
            assertThatThrownBy(() -> fixture.create(ALL, checkpoint))
                    .hasCauseInstanceOf(CancelTaskException.class)
                    .hasRootCauseMessage("Restoring timers was cancelled.");
            assertThat(Thread.interrupted()).isEqualTo(interrupt);
            assertThat(CountingStringSerializer.deserialized()).isBetween(1, 256);
        } finally {
            CountingStringSerializer.reset();
        }
    }

    @Test
    void timerOfTheHeapMayBeLargerThanAnyKeyOfTheEngine() throws Exception {
        use(TimerService.HEAP);
        TimerSerializer<String, VoidNamespace> serializer =
                new TimerSerializer<>(StringSerializer.INSTANCE, VoidNamespaceSerializer.INSTANCE);
        String key = "k".repeat(2 << 20);
        AbstractKeyedStateBackend<Integer> backend = fixture.create(ALL);
        KeyGroupedInternalPriorityQueue<TimerHeapInternalTimer<String, VoidNamespace>> queue =
                backend.create("_timer_state/event_large", serializer);
        queue.add(new TimerHeapInternalTimer<>(7L, key, VoidNamespace.INSTANCE));
        backend = fixture.create(ALL, remote(fixture.checkpoint(backend, 1)));
        queue = backend.create("_timer_state/event_large", serializer);
        assertThat(queue.poll().getKey()).isEqualTo(key);
        assertThat(queue.isEmpty()).isTrue();
    }

    @Test
    void damagedTimersAreRefused() throws Exception {
        use(TimerService.HEAP);
        AbstractKeyedStateBackend<Integer> backend = fixture.create(ALL);
        // Few timers, so that every byte can be damaged and every length tried.
        fill(backend, KeyGroupRange.of(0, 0));
        IncrementalRemoteKeyedStateHandle handle =
                (IncrementalRemoteKeyedStateHandle) remote(fixture.checkpoint(backend, 1));
        fixture.close(backend);
        Path file =
                handle.getPrivateState().stream()
                        .filter(one -> one.getLocalPath().equals(HeapTimerFile.FILE_NAME))
                        .map(one -> Path.of(one.getHandle().maybeGetPath().get().toUri()))
                        .findFirst()
                        .orElseThrow();
        byte[] good = Files.readAllBytes(file);
        for (int at = 0; at < good.length; at++) {
            byte[] flipped = good.clone();
            flipped[at] ^= (byte) (1 << (at % 8));
            for (byte[] damaged : List.of(flipped, Arrays.copyOf(good, at))) {
                // Creates a new file, because some file systems wait for the disk when a file is
                // overwritten.
                Files.delete(file);
                Files.write(file, damaged);
                assertThatThrownBy(() -> fixture.create(ALL, handle))
                        .hasMessageContaining(file.getFileName().toString())
                        .hasMessageContaining("offset")
                        .hasMessageContaining("timers");
            }
        }
        assertThat(BackendFixture.filesIn(fixture.instances())).isEmpty();
    }
}
