// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.history;

import java.io.DataInputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import javax.annotation.Nullable;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.JobStatus;
import org.apache.flink.core.execution.RecoveryClaimMode;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.core.fs.Path;
import org.apache.flink.runtime.checkpoint.CheckpointOptions;
import org.apache.flink.runtime.checkpoint.CheckpointProperties;
import org.apache.flink.runtime.checkpoint.CheckpointRetentionPolicy;
import org.apache.flink.runtime.checkpoint.CheckpointType;
import org.apache.flink.runtime.checkpoint.Checkpoints;
import org.apache.flink.runtime.checkpoint.CheckpointsCleaner;
import org.apache.flink.runtime.checkpoint.CompletedCheckpoint;
import org.apache.flink.runtime.checkpoint.CompletedCheckpointStore;
import org.apache.flink.runtime.checkpoint.OperatorState;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.checkpoint.SnapshotType;
import org.apache.flink.runtime.checkpoint.StandaloneCompletedCheckpointStore;
import org.apache.flink.runtime.checkpoint.StateAssignmentOperation;
import org.apache.flink.runtime.checkpoint.metadata.CheckpointMetadata;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.runtime.state.CheckpointMetadataOutputStream;
import org.apache.flink.runtime.state.CheckpointStorageLocation;
import org.apache.flink.runtime.state.CompletedCheckpointStorageLocation;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.SharedStateRegistry;
import org.apache.flink.runtime.state.SharedStateRegistryFactory;
import org.apache.flink.runtime.state.filesystem.FsCheckpointStorageAccess;
import org.apache.flink.util.concurrent.Executors;

/**
 * A JobManager's handling of checkpoints for a job with one operator. It consists of Flink's own
 * registry of shared files, store of checkpoints, metadata and storage, called in the order of
 * Flink's coordinator, one step at a time.
 *
 * <p>Threads: one. Ownership: the files of checkpoints, as in Flink.
 */
final class JobManager {

    private static final OperatorID OPERATOR = new OperatorID(1, 2);

    private final JobID job = new JobID();
    private final Path savepoints;
    private final FsCheckpointStorageAccess storage;
    private final int retained;
    private final int keyGroups;
    private final CheckpointProperties properties =
            CheckpointProperties.forCheckpoint(CheckpointRetentionPolicy.RETAIN_ON_CANCELLATION);
    private final TreeMap<Long, Pending> pending = new TreeMap<>();

    /** Models of the checkpoints in the store, by their ids. */
    private final Map<Long, Model> models = new HashMap<>();

    private CheckpointsCleaner cleaner = new CheckpointsCleaner();
    private CompletedCheckpointStore store;
    private RecoveryClaimMode claimMode = RecoveryClaimMode.CLAIM;
    private long nextId = 1;
    private boolean forceFull;

    /**
     * @param checkpoints the directory of the job's checkpoints
     * @param savepoints the directory of its savepoints
     * @param inlineBytes files up to this size are stored in the metadata
     * @param retained number of checkpoints to keep
     */
    JobManager(Path checkpoints, Path savepoints, int inlineBytes, int retained, int keyGroups)
            throws IOException {
        this.savepoints = savepoints;
        this.retained = retained;
        this.keyGroups = keyGroups;
        storage = new FsCheckpointStorageAccess(checkpoints, savepoints, job, inlineBytes, 4096);
        store = newStore(SharedStateRegistry.DEFAULT_FACTORY);
    }

    private CompletedCheckpointStore newStore(SharedStateRegistryFactory factory) {
        return new StandaloneCompletedCheckpointStore(
                retained, factory, Executors.directExecutor(), claimMode);
    }

    /** A running checkpoint. */
    static final class Pending {
        final long id;
        final CheckpointProperties properties;
        final CheckpointOptions options;
        final Model model;
        private final CheckpointStorageLocation location;
        private final OperatorState operator;
        private final int parallelism;
        private int acknowledged;

        private Pending(
                long id,
                CheckpointProperties properties,
                CheckpointOptions options,
                CheckpointStorageLocation location,
                OperatorState operator,
                Model model) {
            this.id = id;
            this.properties = properties;
            this.options = options;
            this.location = location;
            this.operator = operator;
            this.parallelism = operator.getParallelism();
            this.model = model;
        }
    }

    JobID job() {
        return job;
    }

    FsCheckpointStorageAccess storage() {
        return storage;
    }

    /** The ids of running checkpoints. */
    List<Long> pendingIds() {
        return new ArrayList<>(pending.keySet());
    }

    /** Begins a checkpoint, or a savepoint if there is a format. */
    Pending trigger(@Nullable SavepointFormatType format, int parallelism, Model model)
            throws IOException {
        long id = nextId++;
        CheckpointProperties props =
                format == null ? properties : CheckpointProperties.forSavepoint(false, format);
        SnapshotType type = props.getCheckpointType();
        if (forceFull && format == null) {
            type = CheckpointType.FULL_CHECKPOINT;
        }
        CheckpointStorageLocation location;
        if (format == null) {
            storage.initializeBaseLocationsForCheckpoint();
            location = storage.initializeLocationForCheckpoint(id);
        } else {
            location = storage.initializeLocationForSavepoint(id, savepoints.toString());
        }
        Pending begun =
                new Pending(
                        id,
                        props,
                        new CheckpointOptions(type, location.getLocationReference()),
                        location,
                        new OperatorState("operator", "uid", OPERATOR, parallelism, keyGroups),
                        model);
        pending.put(id, begun);
        return begun;
    }

    /** The result of an acknowledgement. */
    static final class Outcome {
        /** The artifact that is now complete, or null. */
        @Nullable Artifact completed;

        /** The checkpoints that were dropped because a later one is complete. */
        List<Long> dropped = new ArrayList<>();

        /** Whether the acknowledgement came too late, so that Flink forgets the new files in it. */
        boolean forgotten;

        /** The id of the checkpoint that was subsumed, or -1. */
        long subsumed = -1;
    }

    /**
     * A subtask acknowledges its part, possibly late: the checkpoint may not be pending any more.
     */
    Outcome acknowledge(long id, int subtask, @Nullable KeyedStateHandle handle) throws Exception {
        Outcome outcome = new Outcome();
        Pending checkpoint = pending.get(id);
        OperatorSubtaskState state =
                handle == null
                        ? OperatorSubtaskState.builder().build()
                        : OperatorSubtaskState.builder().setManagedKeyedState(handle).build();
        if (checkpoint == null || !checkpoint.properties.isSavepoint()) {
            try {
                state.registerSharedStates(store.getSharedStateRegistry(), id);
            } catch (IllegalStateException e) {
                if (checkpoint != null) {
                    throw e;
                }
                // The part names files that were deleted with an older checkpoint after this one
                // was abandoned.
                outcome.forgotten = true;
                return outcome;
            }
        }
        if (checkpoint == null) {
            state.discardState();
            return outcome;
        }
        checkpoint.operator.putState(subtask, state);
        if (++checkpoint.acknowledged < checkpoint.parallelism) {
            return outcome;
        }
        pending.remove(id);
        complete(checkpoint, outcome);
        return outcome;
    }

    private void complete(Pending checkpoint, Outcome outcome) throws Exception {
        CheckpointMetadata metadata =
                new CheckpointMetadata(
                        checkpoint.id,
                        List.of(checkpoint.operator),
                        Collections.emptyList(),
                        checkpoint.properties);
        CompletedCheckpointStorageLocation location;
        try (CheckpointMetadataOutputStream out =
                checkpoint.location.createMetadataOutputStream()) {
            Checkpoints.storeCheckpointMetadata(metadata, out);
            location = out.closeAndFinalizeCheckpoint();
        }
        CompletedCheckpoint completed =
                new CompletedCheckpoint(
                        job,
                        checkpoint.id,
                        0,
                        0,
                        Map.of(OPERATOR, checkpoint.operator),
                        Collections.emptyList(),
                        checkpoint.properties,
                        location,
                        null);
        outcome.completed =
                new Artifact(completed, checkpoint.properties.isSavepoint(), checkpoint.model);
        if (checkpoint.properties.isSavepoint()) {
            return;
        }
        models.put(checkpoint.id, checkpoint.model);
        CompletedCheckpoint subsumed =
                store.addCheckpointAndSubsumeOldestOne(completed, cleaner, () -> {});
        forceFull = false;
        if (subsumed != null && subsumed.shouldBeDiscardedOnSubsume()) {
            outcome.subsumed = subsumed.getCheckpointID();
        }
        for (long id : pendingIds()) {
            if (id < checkpoint.id && !pending.get(id).properties.isSavepoint()) {
                abort(id);
                outcome.dropped.add(id);
            }
        }
    }

    /** A checkpoint has failed or timed out. Returns false when it is not pending. */
    boolean abort(long id) throws Exception {
        Pending checkpoint = pending.remove(id);
        if (checkpoint == null) {
            return false;
        }
        checkpoint.operator.discardState();
        checkpoint.location.disposeOnFailure();
        return true;
    }

    /** The checkpoints in the store, oldest first. */
    List<Artifact> retained() throws Exception {
        List<Artifact> all = new ArrayList<>();
        for (CompletedCheckpoint checkpoint : store.getAllCheckpoints()) {
            all.add(new Artifact(checkpoint, false, models.get(checkpoint.getCheckpointID())));
        }
        return all;
    }

    /**
     * Whether the only checkpoint is the artifact that the job was started from and does not own.
     */
    boolean lastIsUnclaimed() throws Exception {
        CompletedCheckpoint last = store.getLatestCheckpoint();
        return last != null && last.getProperties().isUnclaimed();
    }

    /**
     * The tasks have failed, which ends all pending checkpoints. Returns the artifact to restore,
     * or null without one.
     */
    @Nullable
    Artifact restart() throws Exception {
        for (long id : pendingIds()) {
            abort(id);
        }
        CompletedCheckpoint latest = store.getLatestCheckpoint();
        if (latest == null) {
            return null;
        }
        forceFull = latest.getProperties().isUnclaimed();
        return new Artifact(latest, false, models.get(latest.getCheckpointID()));
    }

    /**
     * The JobManager's process has failed, and its successor knows only stored data. {@link
     * #restart} must follow.
     */
    void failOver() throws Exception {
        for (long id : pendingIds()) {
            abort(id);
        }
        List<CompletedCheckpoint> stored = new ArrayList<>();
        for (CompletedCheckpoint checkpoint : store.getAllCheckpoints()) {
            stored.add(
                    load(
                            checkpoint.getExternalPointer(),
                            checkpoint.getProperties(),
                            checkpoint.getRestoredProperties().isPresent()));
        }
        SharedStateRegistry registry =
                SharedStateRegistry.DEFAULT_FACTORY.create(
                        Executors.directExecutor(), stored, claimMode);
        cleaner = new CheckpointsCleaner();
        store = newStore((executor, checkpoints, mode) -> registry);
        for (CompletedCheckpoint checkpoint : stored) {
            store.addCheckpointAndSubsumeOldestOne(checkpoint, cleaner, () -> {});
        }
    }

    /** A new job starts from another job's artifact. {@link #restart} must follow. */
    void startFrom(Artifact artifact, RecoveryClaimMode mode) throws Exception {
        claimMode = mode;
        store = newStore(SharedStateRegistry.DEFAULT_FACTORY);
        CompletedCheckpoint checkpoint =
                load(
                        artifact.pointer,
                        mode == RecoveryClaimMode.CLAIM
                                ? properties
                                : CheckpointProperties.forUnclaimedSnapshot(),
                        true);
        checkpoint.registerSharedStatesAfterRestored(store.getSharedStateRegistry(), mode);
        models.put(checkpoint.getCheckpointID(), artifact.model);
        store.addCheckpointAndSubsumeOldestOne(checkpoint, cleaner, () -> {});
        nextId = checkpoint.getCheckpointID() + 1;
    }

    private CompletedCheckpoint load(
            String pointer, CheckpointProperties props, boolean rememberRestored)
            throws IOException {
        CompletedCheckpointStorageLocation location = storage.resolveCheckpoint(pointer);
        CheckpointMetadata metadata;
        try (DataInputStream in =
                new DataInputStream(location.getMetadataHandle().openInputStream())) {
            metadata = Checkpoints.loadCheckpointMetadata(in, getClass().getClassLoader(), pointer);
        }
        Map<OperatorID, OperatorState> operators = new HashMap<>();
        for (OperatorState operator : metadata.getOperatorStates()) {
            operators.put(operator.getOperatorID(), operator);
        }
        return new CompletedCheckpoint(
                job,
                metadata.getCheckpointId(),
                0,
                0,
                operators,
                metadata.getMasterStates(),
                props,
                location,
                null,
                rememberRestored ? metadata.getCheckpointProperties() : null);
    }

    /** The handles of a checkpoint that a subtask restores. */
    static List<KeyedStateHandle> handlesFor(
            Artifact artifact, int subtask, int parallelism, KeyGroupRange range) {
        OperatorState operator = artifact.checkpoint.getOperatorStates().get(OPERATOR);
        if (operator.getParallelism() != parallelism) {
            return StateAssignmentOperation.getManagedKeyedStateHandles(operator, range);
        }
        OperatorSubtaskState own = operator.getState(subtask);
        return own == null ? Collections.emptyList() : new ArrayList<>(own.getManagedKeyedState());
    }

    /** The parallelism of the job that took the checkpoint. */
    static int parallelismOf(Artifact artifact) {
        return artifact.checkpoint.getOperatorStates().get(OPERATOR).getParallelism();
    }

    /**
     * The job ends, and Flink removes its own unneeded files. Returns whether it removes all of
     * them. Flink keeps uploads that belong to no checkpoint while it keeps any checkpoint, for
     * example one that the job was started from and does not own. A claimed native savepoint that
     * is still the last one also prevents the removal, because Flink removes its directory before
     * the shared files in it.
     */
    boolean shutDown(JobStatus status) throws Exception {
        for (long id : pendingIds()) {
            abort(id);
        }
        boolean keepsSome = false;
        boolean stops = false;
        for (CompletedCheckpoint checkpoint : store.getAllCheckpoints()) {
            keepsSome |= !checkpoint.shouldBeDiscardedOnShutdown(status);
            stops |=
                    checkpoint
                            .getRestoredProperties()
                            .filter(CheckpointProperties::isSavepoint)
                            .isPresent();
        }
        try {
            store.shutdown(status, cleaner);
        } catch (IOException e) {
            if (!stops) {
                throw e;
            }
            return false;
        }
        return !keepsSome;
    }
}
