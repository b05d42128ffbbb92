// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.programs;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.RunnableFuture;
import javax.annotation.Nullable;
import org.apache.flink.core.fs.local.LocalFileSystem;
import org.apache.flink.runtime.operators.testutils.MockEnvironment;
import org.apache.flink.runtime.state.CheckpointStreamFactory;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.SharedStateRegistry;
import org.apache.flink.runtime.state.SharedStateRegistryImpl;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.filesystem.FsCheckpointStreamFactory;
import org.apache.flink.streaming.api.operators.TimerHeapInternalTimer;

/**
 * One of the jobs that run the same program, each on a backend of its own at any time: its
 * subtasks, its clock, and its snapshots.
 *
 * <p>Threads: one. Ownership: its subtasks, until {@link #close}; its files are kept.
 */
final class Job implements AutoCloseable {

    /** Smaller files are kept in memory, like in Flink's checkpoint storage. */
    private static final int MEMORY_FILE_BYTES = 128 << 10;

    /** Its number among the jobs of a program. */
    final int index;

    private final Setup setup;
    private final MockEnvironment environment;
    private final Path root;
    private final List<JobSubtask> subtasks = new ArrayList<>();
    private final Map<Integer, Snapshot> snapshots = new HashMap<>();
    private final SharedStateRegistry registry = new SharedStateRegistryImpl();
    private final Clock clock = new Clock(Setup.BEGIN_MS, () -> System.nanoTime() / 1_000_000);
    private BackendKind kind;
    private int directories;

    /**
     * Creates a job without subtasks.
     *
     * @param environment of all subtasks, and of other jobs
     */
    Job(int index, Setup setup, MockEnvironment environment, Path root) {
        this.index = index;
        this.setup = setup;
        this.environment = environment;
        this.root = root;
        this.kind = setup.kinds.get(index);
    }

    Setup setup() {
        return setup;
    }

    MockEnvironment environment() {
        return environment;
    }

    BackendKind kind() {
        return kind;
    }

    long now() {
        return clock.now();
    }

    Clock clock() {
        return clock;
    }

    /** Its name in messages about different answers. */
    String name() {
        return kind + " (job " + index + ")";
    }

    List<JobSubtask> subtasks() {
        return subtasks;
    }

    /** The subtask to which a key belongs. */
    JobSubtask of(Object key) {
        int keyGroup = KeyGroupRangeAssignment.assignToKeyGroup(key, setup.keyGroups);
        for (JobSubtask subtask : subtasks) {
            if (subtask.range.contains(keyGroup)) {
                return subtask;
            }
        }
        throw new IllegalStateException("No subtask has key group " + keyGroup);
    }

    // ---------------------------------------------------------------------- lifecycle

    /** Starts its subtasks without state. */
    void start(List<KeyGroupRange> ranges) throws Exception {
        clock.start(kind.isLava());
        start(ranges, List.of());
    }

    private void start(List<KeyGroupRange> ranges, List<KeyedStateHandle> handles)
            throws Exception {
        for (KeyGroupRange range : ranges) {
            Path directory = Files.createDirectories(root.resolve("files-" + directories++));
            subtasks.add(new JobSubtask(this, range, handles, directory));
        }
        if (setup.registersAtOnce) {
            for (JobSubtask subtask : subtasks) {
                for (StateSpec state : setup.states) {
                    subtask.state(state);
                }
                setup.queues.forEach(subtask::queue);
            }
        }
    }

    /**
     * Ends, and continues from a snapshot.
     *
     * @param next the backend for the next run if the snapshot can be restored by another one
     */
    void restart(Snapshot from, List<KeyGroupRange> ranges, BackendKind next) throws Exception {
        snapshots.values().forEach(Snapshot::cancel);
        snapshots.values().removeIf(snapshot -> !snapshot.isFinished());
        end();
        kind = from.kind.crosses() ? next : from.backend;
        clock.start(kind.isLava(), from.past());
        start(ranges, from.handles());
    }

    private void end() throws Exception {
        List<JobSubtask> ended = new ArrayList<>(subtasks);
        subtasks.clear();
        for (JobSubtask subtask : ended) {
            subtask.close();
        }
    }

    @Override
    public void close() throws Exception {
        snapshots.values().forEach(Snapshot::cancel);
        end();
    }

    // ---------------------------------------------------------------------- snapshots

    /** Takes a snapshot's synchronous part; later writes are not included in it. */
    void takeSnapshot(int id, Snapshot.Kind of) throws Exception {
        CheckpointStreamFactory streams = streams(id);
        List<RunnableFuture<SnapshotResult<KeyedStateHandle>>> parts = new ArrayList<>();
        for (JobSubtask subtask : subtasks) {
            parts.add(subtask.snapshot(id, of, streams));
        }
        snapshots.put(id, new Snapshot(of, kind, parts, clock.past()));
    }

    private CheckpointStreamFactory streams(int id) throws IOException {
        Path exclusive = Files.createDirectories(root.resolve("snapshot-" + id));
        Path shared = Files.createDirectories(root.resolve("shared"));
        return new FsCheckpointStreamFactory(
                LocalFileSystem.getSharedInstance(),
                new org.apache.flink.core.fs.Path(exclusive.toUri()),
                new org.apache.flink.core.fs.Path(shared.toUri()),
                MEMORY_FILE_BYTES,
                MEMORY_FILE_BYTES);
    }

    /** The job's snapshot with this number, if it exists. */
    @Nullable
    Snapshot snapshot(int id) {
        return snapshots.get(id);
    }

    /**
     * Runs a snapshot's asynchronous part.
     *
     * @param heard whether the subtasks are notified of the completion
     */
    void completeSnapshot(int id, boolean heard) throws Exception {
        Snapshot snapshot = snapshots.get(id);
        snapshot.finish(clock.now());
        for (KeyedStateHandle handle : snapshot.handles()) {
            handle.registerSharedStates(registry, id);
        }
        if (heard && !snapshot.kind.isSavepoint()) {
            for (JobSubtask subtask : subtasks) {
                subtask.backend.notifyCheckpointComplete(id);
            }
        }
    }

    /** The snapshot will not be used for a restore. */
    void abortSnapshot(int id) throws Exception {
        snapshots.remove(id).cancel();
        for (JobSubtask subtask : subtasks) {
            subtask.backend.notifyCheckpointAborted(id);
        }
    }

    // ---------------------------------------------------------------------- content

    /** All unexpired state and all timers, in a form that is the same for all backends. */
    TreeMap<String, String> content() throws Exception {
        TreeMap<String, String> all = new TreeMap<>();
        for (JobSubtask subtask : subtasks) {
            for (StateSpec state : setup.states) {
                for (Cell cell : subtask.cells(state)) {
                    List<Held> live = subtask.live(cell);
                    if (!live.isEmpty()) {
                        all.put(cell.toString(), live.toString());
                    }
                }
            }
            for (QueueSpec queue : setup.queues) {
                all.put(queue.name + " of " + subtask.range, timers(subtask, queue).toString());
            }
        }
        return all;
    }

    private static List<String> timers(JobSubtask subtask, QueueSpec queue) throws Exception {
        List<String> timers = new ArrayList<>();
        subtask.timers(queue).forEach(timer -> timers.add(shown(timer)));
        timers.sort(null);
        return timers;
    }

    static String shown(TimerHeapInternalTimer<Object, Object> timer) {
        return timer.getTimestamp()
                + ":"
                + Texts.shown(timer.getKey())
                + (timer.getNamespace() instanceof VoidNamespace
                        ? ""
                        : "/" + Texts.shown(timer.getNamespace()));
    }
}
