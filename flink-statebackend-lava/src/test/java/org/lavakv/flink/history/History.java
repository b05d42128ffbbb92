// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.history;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.regex.Pattern;
import javax.annotation.Nullable;
import org.apache.flink.api.common.JobStatus;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.core.execution.RecoveryClaimMode;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.runtime.execution.CancelTaskException;
import org.apache.flink.runtime.state.BackendBuildingException;
import org.apache.flink.runtime.state.CheckpointStreamFactory;
import org.apache.flink.runtime.state.IncrementalLocalKeyedStateHandle;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.apache.flink.runtime.state.KeyGroupsStateHandle;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.util.InstantiationUtil;
import org.lavakv.flink.LavaConfigurableOptions;
import org.lavakv.flink.LavaKeyedStateBackend;
import org.lavakv.flink.LavaOptions;
import org.lavakv.flink.LavaStateBackend;
import org.lavakv.flink.history.Subtask.News;
import org.lavakv.flink.testing.BackendFixture;
import org.lavakv.flink.testing.FaultyStreams;
import org.lavakv.flink.testing.MemoryStorage;
import org.lavakv.flink.testing.MemoryStorage.ReadFault;

/**
 * One random history of a job that writes and takes checkpoints. Uploads hang, fail and are
 * cancelled; notifications come late or never; the job fails and is restored, by itself or from any
 * existing artifact, with another parallelism and other options. After each restore the state is
 * compared with a model. After each step every artifact that may still be restored must have all
 * its files.
 *
 * <p>Threads: one, with others inside; equal seeds give equal histories. Ownership: the directory.
 */
final class History {

    private static final int KEYS = 16;
    private static final int PENDING_MAX = 3;
    private static final Pattern FILE_NAME =
            Pattern.compile("\\.(ksst|vsst)|LAVA-CHECKPOINT|LAVA-TIMERS|the state description");

    private final Random random;
    private final int livesMax;
    private final List<ModelledState<?>> states = ModelledState.all();
    private final org.apache.flink.core.fs.Path checkpoints;
    private final org.apache.flink.core.fs.Path savepoints;
    private final StringBuilder trace = new StringBuilder();
    private final HistoryCounts counts;

    /** Artifacts that belong to users: savepoints, and checkpoints kept when a job was stopped. */
    private final List<Artifact> owned = new ArrayList<>();

    /** Files that Flink forgets, or that belong to incomplete artifacts. */
    private final Set<String> forgotten = new HashSet<>();

    /** Uploads that hang although their task has ended. */
    private final List<AsyncPart> stragglers = new ArrayList<>();

    private final boolean onLavaFs;
    private final boolean localRecovery;
    private final boolean mergesFiles;
    private final int keyGroups;
    private final TaskManager tasks;
    private JobManager jobManager;
    private LavaStateBackend lava;
    private Model model;
    private List<Subtask> subtasks = new ArrayList<>();
    @Nullable private FileMerging merging;
    private int inlineBytes;
    private volatile long now = 1_000_000_000_000L;

    /**
     * @param livesMax maximum number of times the job fails or is stopped
     * @param root empty
     */
    History(long seed, int livesMax, Path root, HistoryCounts counts) throws IOException {
        this.livesMax = livesMax;
        this.random = new Random(seed);
        this.counts = counts;
        String name = "history-" + seed + "-" + System.nanoTime();
        checkpoints = MemoryStorage.directory(name + "/checkpoints");
        savepoints = MemoryStorage.directory(name + "/savepoints");
        onLavaFs = random.nextInt(5) == 0;
        localRecovery = random.nextInt(3) == 0;
        mergesFiles = random.nextInt(5) == 0;
        keyGroups = random.nextInt(4) == 0 ? 200 : 8;
        tasks = new TaskManager(root, keyGroups, localRecovery, () -> now);
        say(
                "%s, %s local recovery, %s checkpoints, %d key groups",
                onLavaFs ? "LavaFS" : "ordinary files",
                localRecovery ? "with" : "without",
                mergesFiles ? "merged" : "plain",
                keyGroups);
    }

    /** The steps of the history, for readers of a failure. */
    String trace() {
        return trace.toString();
    }

    private void say(String what, Object... arguments) {
        trace.append("  ").append(String.format(what, arguments)).append('\n');
    }

    private boolean oneIn(int n) {
        return random.nextInt(n) == 0;
    }

    private <T> T any(List<T> list) {
        return list.get(random.nextInt(list.size()));
    }

    void run() throws Exception {
        boolean done = false;
        try {
            startNewJob(null);
            for (int life = random.nextInt(livesMax); life >= 0; life--) {
                for (int step = 4 + random.nextInt(14); step > 0; step--) {
                    step();
                    checkArtifacts();
                }
                nextLife();
            }
            checkAll();
            finish();
            done = true;
        } finally {
            stragglers.forEach(AsyncPart::letGo);
            if (!done) {
                closeQuietly();
            }
            MemoryStorage.clear(checkpoints);
            MemoryStorage.clear(savepoints);
        }
        tasks.close();
    }

    /** Suppresses exceptions, which would hide the failure of the history itself. */
    private void closeQuietly() {
        for (Subtask subtask : subtasks) {
            try {
                subtask.end().forEach(AsyncPart::letGo);
            } catch (Exception | AssertionError e) {
                say("and the end of subtask %d failed: %s", subtask.index, e);
            }
        }
    }

    // ---------------------------------------------------------------------- steps

    private void step() throws Exception {
        int what = random.nextInt(100);
        if (what < 30) {
            write(1 + random.nextInt(25));
        } else if (what < 34) {
            overlap();
        } else if (what < 54) {
            trigger(null);
        } else if (what < 59) {
            trigger(oneIn(3) ? SavepointFormatType.CANONICAL : SavepointFormatType.NATIVE);
        } else if (what < 80) {
            advance();
        } else if (what < 84) {
            abort();
        } else if (what < 90) {
            hear();
        } else if (what < 93) {
            now += ModelledState.TIME_STEP_MS;
            say("time goes on");
        } else if (what < 96) {
            Subtask subtask = any(subtasks);
            subtask.backend.compact();
            say("subtask %d compacts", subtask.index);
        } else {
            checkAll();
        }
    }

    /** Overlapping checkpoints without changes between them. */
    private void overlap() throws Exception {
        for (int i = 4 + random.nextInt(9); i > 0; i--) {
            if (oneIn(3)) {
                trigger(null);
            } else {
                advance();
            }
        }
    }

    private void write(int count) throws Exception {
        say("%d writes", count);
        for (int i = 0; i < count; i++) {
            Subtask subtask = any(subtasks);
            List<Integer> keys = model.keysIn(subtask.range);
            if (keys.isEmpty()) {
                continue;
            }
            if (oneIn(5)) {
                subtask.changeTimers(model, random.nextInt(Model.QUEUES.size()), any(keys), random);
            } else {
                subtask.change(model, any(keys), random.nextInt(states.size()), random, now);
            }
        }
        counts.add("changes of state in random histories", count);
    }

    private void trigger(@Nullable SavepointFormatType format) throws Exception {
        if (jobManager.pendingIds().size() >= PENDING_MAX) {
            return;
        }
        JobManager.Pending begun = jobManager.trigger(format, subtasks.size(), new Model(model));
        boolean overlaps = subtasks.stream().anyMatch(subtask -> !subtask.running().isEmpty());
        say("%s %d begins", begun.options.getCheckpointType().getName(), begun.id);
        counts.add("checkpoints and savepoints begun in random histories", 1);
        if (overlaps) {
            counts.add("checkpoints that overlapped others in random histories", 1);
        }
        boolean canonical = Subtask.isCanonical(begun.options.getCheckpointType());
        for (Subtask subtask : subtasks) {
            CheckpointStreamFactory streams =
                    merging != null && format == null
                            ? merging.streams(subtask.index, begun.id, begun.options)
                            : jobManager
                                    .storage()
                                    .resolveCheckpointStorageLocation(
                                            begun.id, begun.options.getTargetLocation());
            subtask.begin(begun.id, begun.options, streams, plan(canonical));
        }
        if (oneIn(2)) {
            for (Subtask subtask : subtasks) {
                advance(subtask, begun.id);
            }
        }
    }

    private FaultyStreams.Plan plan(boolean canonical) {
        FaultyStreams.Plan plan = new FaultyStreams.Plan();
        if (oneIn(4)) {
            plan.hangs = random.nextInt(24);
        }
        if (oneIn(7)) {
            plan.fails = random.nextInt(24);
            plan.failsUntil = oneIn(2) ? plan.fails + 1 : FaultyStreams.Plan.NEVER;
        } else if (oneIn(30) && !canonical) {
            plan.loses = random.nextInt(24);
        }
        return plan;
    }

    private void advance() throws Exception {
        Subtask subtask = any(subtasks);
        if (subtask.running().isEmpty()) {
            return;
        }
        advance(subtask, any(new ArrayList<>(subtask.running().keySet())));
    }

    private void advance(Subtask subtask, long checkpoint) throws Exception {
        AsyncPart part = subtask.running().get(checkpoint);
        if (part == null) {
            return;
        }
        if (!part.goOn()) {
            say("the upload of checkpoint %d of subtask %d hangs", checkpoint, subtask.index);
            counts.add("uploads that hung in random histories", 1);
            return;
        }
        SnapshotResult<KeyedStateHandle> result;
        try {
            result = part.result();
        } catch (ExecutionException e) {
            failed(subtask, checkpoint, part, e.getCause());
            return;
        }
        assertThat(part.streams().failed()).as("a checkpoint without its files succeeds").isFalse();
        assertThat(part.streams().lost()).as("a checkpoint with cut files succeeds").isFalse();
        say("subtask %d acknowledges checkpoint %d", subtask.index, checkpoint);
        subtask.completed(checkpoint, result);
        KeyedStateHandle handle = result.getJobManagerOwnedSnapshot();
        tell(
                checkpoint,
                jobManager.acknowledge(checkpoint, subtask.index, InstantiationUtil.clone(handle)));
    }

    private void failed(Subtask subtask, long checkpoint, AsyncPart part, Throwable cause)
            throws Exception {
        subtask.running().remove(checkpoint);
        stragglers.add(part);
        if (!part.streams().failed() && !part.streams().lost()) {
            throw new AssertionError("checkpoint " + checkpoint + " failed by itself", cause);
        }
        say("checkpoint %d fails on subtask %d: %s", checkpoint, subtask.index, cause.getMessage());
        counts.add("checkpoints that storage failed in random histories", 1);
        if (!part.uploadsItself()) {
            assertThat(cause.getMessage()).containsPattern(FILE_NAME);
        }
        if (jobManager.abort(checkpoint)) {
            tellAll(new Subtask.Notification(News.ABORT, checkpoint));
        }
    }

    private void abort() throws Exception {
        List<Long> pending = jobManager.pendingIds();
        if (!pending.isEmpty()) {
            long id = any(pending);
            say("checkpoint %d takes too long", id);
            jobManager.abort(id);
            counts.add("checkpoints aborted in random histories", 1);
            tellAll(new Subtask.Notification(News.ABORT, id));
        }
    }

    // ---------------------------------------------------------------------- notifications

    private void tell(long checkpoint, JobManager.Outcome outcome) throws Exception {
        if (outcome.forgotten) {
            say("which comes too late");
            forgotten.addAll(MemoryStorage.filesIn(checkpoints.getParent()));
        }
        for (long dropped : outcome.dropped) {
            tellAll(new Subtask.Notification(News.ABORT, dropped));
        }
        if (outcome.completed == null) {
            return;
        }
        say(
                "%s %d is complete",
                outcome.completed.savepoint ? "savepoint" : "checkpoint", checkpoint);
        counts.add("checkpoints and savepoints completed in random histories", 1);
        if (outcome.completed.savepoint) {
            owned.add(outcome.completed);
        } else {
            tellAll(new Subtask.Notification(News.COMPLETE, checkpoint));
            if (outcome.subsumed >= 0 && merging != null) {
                tellAll(new Subtask.Notification(News.SUBSUME, outcome.subsumed));
            }
        }
    }

    /** Each subtask receives the notification now, later, or never. */
    private void tellAll(Subtask.Notification notification) throws Exception {
        for (Subtask subtask : subtasks) {
            int fate = random.nextInt(10);
            if (fate < 2) {
                say("subtask %d never hears %s", subtask.index, notification);
                counts.add("notifications lost in random histories", 1);
                continue;
            }
            subtask.tell(notification);
            if (fate < 4) {
                say("subtask %d hears %s later", subtask.index, notification);
                counts.add("notifications late in random histories", 1);
            } else {
                hear(subtask, subtask.unheard() - 1);
            }
        }
    }

    private void hear() throws Exception {
        Subtask subtask = any(subtasks);
        if (subtask.unheard() > 0) {
            hear(subtask, random.nextInt(subtask.unheard()));
        }
    }

    private void hear(Subtask subtask, int which) throws Exception {
        List<AsyncPart> before = new ArrayList<>(subtask.running().values());
        say("subtask %d hears %s", subtask.index, subtask.hear(which));
        before.removeAll(subtask.running().values());
        stragglers.addAll(before);
    }

    // ---------------------------------------------------------------------- lives

    private void nextLife() throws Exception {
        checkAll();
        int parallelism = subtasks.size();
        endTasks();
        int what = random.nextInt(10);
        if (what < 3) {
            say("the tasks fail");
            restoreLatest(oneIn(3) ? 1 + random.nextInt(4) : parallelism);
        } else if (what < 5) {
            say("the JobManager fails");
            forgotten.addAll(MemoryStorage.filesIn(checkpoints.getParent()));
            jobManager.failOver();
            restoreLatest(1 + random.nextInt(4));
        } else {
            say("the job is stopped");
            boolean hasOwn = !jobManager.lastIsUnclaimed();
            List<Artifact> left = jobManager.retained();
            jobManager.shutDown(JobStatus.CANCELED);
            forgotten.addAll(MemoryStorage.filesIn(checkpoints.getParent()));
            for (Artifact artifact : left) {
                if (!artifact.checkpoint.getProperties().isUnclaimed()) {
                    owned.add(artifact);
                }
            }
            assertThat(hasOwn || left.size() == 1).isTrue();
            boolean fromNothing = owned.isEmpty() || oneIn(12);
            // Usually from the last one: its files are the most likely to be missing.
            startNewJob(fromNothing ? null : oneIn(2) ? owned.get(owned.size() - 1) : any(owned));
        }
        if (oneIn(3)) {
            stragglers.forEach(AsyncPart::letGo);
            stragglers.clear();
        }
    }

    private void endTasks() throws Exception {
        for (Subtask subtask : subtasks) {
            stragglers.addAll(subtask.end());
        }
        subtasks = new ArrayList<>();
        if (merging != null) {
            merging.close();
        }
    }

    private void startNewJob(@Nullable Artifact from) throws Exception {
        tasks.newJob();
        inlineBytes = new int[] {0, 0, 700, 20 << 10}[random.nextInt(4)];
        jobManager =
                new JobManager(
                        checkpoints, savepoints, inlineBytes, 1 + random.nextInt(3), keyGroups);
        lava = newLava();
        if (from == null) {
            say("a new job");
            model = new Model(keyGroups, KEYS, states.size());
            open(1 + random.nextInt(4), null);
            return;
        }
        RecoveryClaimMode mode = oneIn(2) ? RecoveryClaimMode.CLAIM : RecoveryClaimMode.NO_CLAIM;
        say("a new job from %s, %s", from.pointer, mode);
        counts.add("jobs started from artifacts in random histories", 1);
        jobManager.startFrom(from, mode);
        if (mode == RecoveryClaimMode.CLAIM) {
            claim(from);
        }
        restoreLatest(1 + random.nextInt(4));
    }

    /** The files that it shares with other checkpoints may be deleted with it. */
    private void claim(Artifact artifact) {
        owned.removeIf(
                other ->
                        other == artifact
                                || !other.savepoint
                                        && other.checkpoint
                                                .getJobId()
                                                .equals(artifact.checkpoint.getJobId()));
    }

    private LavaStateBackend newLava() {
        boolean incremental = !oneIn(6);
        int separation = new int[] {0, 1, 60, 500, 4096}[random.nextInt(5)];
        int memtable = new int[] {64, 64, 256, 4096}[random.nextInt(4)] << 10;
        LavaOptions.TimerService timers =
                oneIn(3) ? LavaOptions.TimerService.HEAP : LavaOptions.TimerService.LAVA;
        int threads = 1 + random.nextInt(4);
        say(
                "%s checkpoints, values from %d bytes on separate, memtables of %d, timers in %s, %d"
                        + " threads",
                incremental ? "incremental" : "full", separation, memtable, timers, threads);
        return new LavaStateBackend(incremental)
                .set(
                        LavaOptions.FILE_SYSTEM,
                        onLavaFs
                                ? LavaOptions.FileSystemType.LAVAFS
                                : LavaOptions.FileSystemType.POSIX)
                .set(LavaOptions.HOST_REPORT_INTERVAL, Duration.ZERO)
                .set(LavaOptions.LOCAL_DIRECTORIES, tasks.instances().toString())
                .set(LavaOptions.CHECKPOINT_TRANSFER_THREAD_NUM, threads)
                .set(LavaOptions.TIMER_SERVICE_FACTORY, timers)
                .set(LavaConfigurableOptions.MEMTABLE_SIZE, new MemorySize(memtable))
                .set(LavaConfigurableOptions.TARGET_FILE_SIZE, new MemorySize(64 << 10))
                .set(LavaConfigurableOptions.VALUE_FILE_SIZE, new MemorySize(64 << 10))
                .set(LavaConfigurableOptions.LEVEL_BASE_SIZE, new MemorySize(256 << 10))
                .set(
                        LavaConfigurableOptions.VALUE_SEPARATION_THRESHOLD,
                        new MemorySize(separation));
    }

    // ---------------------------------------------------------------------- restore

    private void restoreLatest(int parallelism) throws Exception {
        Artifact latest = jobManager.restart();
        model =
                latest == null
                        ? new Model(keyGroups, KEYS, states.size())
                        : new Model(latest.model);
        open(parallelism, latest);
        checkAll();
    }

    private void open(int parallelism, @Nullable Artifact from) throws Exception {
        say(
                "%d subtasks from %s",
                parallelism,
                from == null ? "nothing" : "checkpoint " + from.checkpoint.getCheckpointID());
        if (from != null) {
            counts.add("restores in random histories", 1);
            if (parallelism != JobManager.parallelismOf(from)) {
                counts.add("restores with another parallelism in random histories", 1);
            }
        }
        merging =
                mergesFiles
                        ? new FileMerging(
                                jobManager,
                                tasks.vertex(),
                                parallelism,
                                inlineBytes,
                                1 << (10 + random.nextInt(6)),
                                oneIn(2))
                        : null;
        boolean registersAll = oneIn(2);
        for (int index = 0; index < parallelism; index++) {
            KeyGroupRange range =
                    KeyGroupRangeAssignment.computeKeyGroupRangeForOperatorIndex(
                            keyGroups, parallelism, index);
            List<KeyedStateHandle> handles = new ArrayList<>();
            KeyedStateHandle local = null;
            if (from != null) {
                for (KeyedStateHandle handle :
                        JobManager.handlesFor(from, index, parallelism, range)) {
                    handles.add(InstantiationUtil.clone(handle));
                }
                local = localCopy(from, index, parallelism);
                if (merging != null) {
                    merging.restore(index, from.checkpoint.getCheckpointID(), handles);
                }
            }
            if (!handles.isEmpty() && oneIn(6)) {
                restoreWithFault(index, range, handles);
            }
            LavaKeyedStateBackend<Integer> backend =
                    tasks.create(lava, index, range, local, handles, new CloseableRegistry());
            Subtask subtask =
                    new Subtask(index, range, backend, states, tasks.localCopies(), merging);
            subtasks.add(subtask);
            if (registersAll) {
                subtask.registerAll();
            }
        }
    }

    @Nullable
    private KeyedStateHandle localCopy(Artifact from, int subtask, int parallelism)
            throws Exception {
        long id = from.checkpoint.getCheckpointID();
        tasks.localCopies().restored(subtask, id);
        if (parallelism != JobManager.parallelismOf(from) || oneIn(4)) {
            return null;
        }
        KeyedStateHandle local = tasks.localCopies().get(subtask, id);
        if (local == null) {
            return null;
        }
        say("subtask %d has a local copy", subtask);
        counts.add("restores from local copies in random histories", 1);
        List<Path> files =
                BackendFixture.filesIn(
                        ((IncrementalLocalKeyedStateHandle) local)
                                .getDirectoryStateHandle()
                                .getDirectory());
        if (!files.isEmpty() && oneIn(4)) {
            Path lost = any(files);
            Files.delete(lost);
            say("which has lost %s", lost.getFileName());
        }
        return InstantiationUtil.clone(local);
    }

    /** The restore fails, names the faulty file, and leaves nothing behind. */
    private void restoreWithFault(int index, KeyGroupRange range, List<KeyedStateHandle> handles)
            throws Exception {
        CloseableRegistry cancel = new CloseableRegistry();
        ReadFault.Kind kind =
                ReadFault.Kind.values()[random.nextInt(ReadFault.Kind.values().length)];
        ReadFault fault = new ReadFault(kind, random.nextInt(8), random.nextDouble());
        if (kind == ReadFault.Kind.OPENS) {
            fault.whenStruck(
                    () -> {
                        try {
                            cancel.close();
                        } catch (IOException e) {
                            throw new AssertionError(e);
                        }
                    });
        }
        List<Path> before = tasks.instanceDirectories();
        org.apache.flink.core.fs.Path storage = checkpoints.getParent();
        MemoryStorage.failReads(storage, fault);
        LavaKeyedStateBackend<Integer> backend;
        try {
            backend = tasks.create(lava, index, range, null, handles, cancel);
        } catch (BackendBuildingException e) {
            assertThat(fault.struck()).as("a restore fails by itself: " + e).isNotNull();
            counts.add("restores that storage failed in random histories", 1);
            say("the restore of subtask %d fails: %s", index, e.getMessage());
            if (kind == ReadFault.Kind.OPENS) {
                assertThat(e).hasCauseInstanceOf(CancelTaskException.class);
            } else {
                assertThat(e).hasMessageContaining(fault.struck().getName());
            }
            if (kind == ReadFault.Kind.ENDS_EARLY) {
                assertThat(e).hasMessageContaining("offset");
            }
            assertThat(tasks.instanceDirectories()).isEqualTo(before);
            return;
        } finally {
            MemoryStorage.failReads(storage, null);
        }
        backend.close();
        backend.dispose();
        // The faulty part of the file may belong to another subtask.
        boolean partOfAFile =
                (mergesFiles || handles.get(0) instanceof KeyGroupsStateHandle)
                        && kind != ReadFault.Kind.DOES_NOT_OPEN;
        if (!partOfAFile) {
            assertThat(fault.struck()).as("a restore without a file succeeds").isNull();
        }
    }

    // ---------------------------------------------------------------------- checks

    private void checkAll() throws Exception {
        say("everything is compared");
        for (Subtask subtask : subtasks) {
            subtask.check(model, now);
        }
        counts.add("comparisons of all state in random histories", 1);
    }

    private void checkArtifacts() throws Exception {
        for (Artifact artifact : owned) {
            artifact.checkFiles();
        }
        for (Artifact artifact : jobManager.retained()) {
            artifact.checkFiles();
        }
    }

    /** The job ends; users' artifacts can still be restored, and nothing else is left. */
    private void finish() throws Exception {
        endTasks();
        for (AsyncPart straggler : stragglers) {
            straggler.awaitGone();
        }
        if (!jobManager.shutDown(JobStatus.FINISHED)) {
            forgotten.addAll(MemoryStorage.filesIn(checkpoints.getParent()));
        }
        for (Artifact artifact : owned) {
            artifact.checkFiles();
        }
        // Merged files belong to TaskManagers, which may not know yet that the files can be
        // deleted.
        if (!mergesFiles) {
            assertThat(leftEventually()).as("files that nobody knows").isEmpty();
        }
        if (!owned.isEmpty()) {
            startNewJob(any(owned));
            endTasks();
        }
        counts.add("random histories of jobs", 1);
    }

    /** Late uploads need a moment to undo their work. */
    private Set<String> leftEventually() throws InterruptedException {
        Set<String> expected = new HashSet<>(forgotten);
        for (Artifact artifact : owned) {
            for (StreamStateHandle file : Artifact.filesOf(artifact.checkpoint)) {
                file.maybeGetPath().ifPresent(path -> expected.add(path.getPath()));
            }
        }
        Set<String> left = Set.of("not looked yet");
        for (int i = 0; i < 1000 && !left.isEmpty(); i++) {
            if (i > 0) {
                Thread.sleep(5);
            }
            left = new HashSet<>(MemoryStorage.filesIn(checkpoints.getParent()));
            left.removeAll(expected);
        }
        return left;
    }
}
