// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.changelog;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.stream.Collectors;
import javax.annotation.Nullable;
import org.apache.flink.api.common.operators.MailboxExecutor;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;
import org.apache.flink.runtime.state.changelog.SequenceNumber;
import org.apache.flink.runtime.state.changelog.StateChange;
import org.apache.flink.runtime.state.changelog.StateChangelogWriter;
import org.apache.flink.util.ExceptionUtils;
import org.lavakv.flink.shared.SharedLog;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The changes of one operator. The writer collects them in memory, in sets with a sequence number
 * each. A set is uploaded when a checkpoint needs it or when many changes have accumulated. An
 * uploaded set serves all later checkpoints until a materialization makes it superfluous. A set
 * whose upload failed keeps its changes, and the next checkpoint tries again.
 *
 * <p>Threads: the task's mailbox only; results of uploads return through it.
 *
 * <p>Ownership: files belong to this process until {@link #confirm}, then to the JobManager.
 */
final class LavaChangelogWriter implements StateChangelogWriter<ChangelogStateHandleStreamImpl> {
    private static final Logger LOG = LoggerFactory.getLogger(LavaChangelogWriter.class);
    private static final SequenceNumber INITIAL = SequenceNumber.of(0);

    /** A segment becomes a file of the state, and such files should be larger than sets. */
    private static final int SEGMENT_SHARE = 4;

    private final String operatorId;
    private final KeyGroupRange keyGroups;
    private final ChangelogSettings settings;
    private final ChangeUploads uploads;
    private final boolean localBackups;
    private final MailboxExecutor mailbox;
    @Nullable private final SharedLog log;

    /** All sets that are not truncated, except the active one. */
    private final NavigableMap<SequenceNumber, SetUpload> setUploads = new TreeMap<>();

    private final List<Persist> persists = new ArrayList<>();
    private ChangeSet active = new ChangeSet();
    private SequenceNumber activeNumber = INITIAL;
    private SequenceNumber truncatedTo = INITIAL;
    private long failedBytes;
    private boolean closed;

    /**
     * @param log of the instance that has the state; null if no instance shares its log
     */
    LavaChangelogWriter(
            String operatorId,
            KeyGroupRange keyGroups,
            ChangelogSettings settings,
            ChangeUploads uploads,
            boolean localBackups,
            MailboxExecutor mailbox,
            @Nullable SharedLog log) {
        this.operatorId = operatorId;
        this.keyGroups = keyGroups;
        this.settings = settings;
        this.uploads = uploads;
        this.localBackups = localBackups;
        this.mailbox = mailbox;
        boolean binds = settings.sharedBytesMin < Long.MAX_VALUE;
        this.log = binds ? log : null;
        if (log != null) {
            log.use(binds);
        }
    }

    @Override
    public SequenceNumber initialSequenceNumber() {
        return INITIAL;
    }

    /**
     * Separates earlier changes from later ones: the changes appended from now on belong to the
     * returned number.
     */
    @Override
    public SequenceNumber nextSequenceNumber() {
        endSet();
        return activeNumber;
    }

    @Override
    public void appendMeta(byte[] change) throws IOException {
        append(StateChange.META_KEY_GROUP, change);
    }

    /**
     * Appends a change. The change is durable once a subsequent {@link #persist} has completed.
     *
     * @throws IOException when uploads have failed for so long that memory is short; the cause
     *     tells the reason
     */
    @Override
    public void append(int keyGroup, byte[] change) throws IOException {
        if (closed) {
            throw new IllegalStateException(
                    "The changelog of operator " + operatorId + " is closed.");
        }
        if (failedBytes > settings.inFlightBytesMax) {
            throw new IOException(
                    "Uploads of changes of operator "
                            + operatorId
                            + " to "
                            + settings.directory
                            + " fail, so that "
                            + failedBytes
                            + " bytes of changes wait in memory and in segments. Check the"
                            + " storage.",
                    lastFailure());
        }
        SharedLog.Location shared = bind(change);
        if (shared != null) {
            active.add(keyGroup, log, shared);
        } else {
            active.add(keyGroup, change);
        }
        if (active.length() >= settings.persistBytes
                || active.partBytes() >= settings.persistBytes * SEGMENT_SHARE) {
            endSet();
            // Failed sets are left to the next checkpoint, which comes less often.
            upload(
                    setUploads.values().stream()
                            .filter(SetUpload::isNew)
                            .collect(Collectors.toList()));
        }
    }

    @Nullable
    private SharedLog.Location bind(byte[] change) {
        return log == null || change.length < settings.sharedBytesMin ? null : log.bind(change);
    }

    @Override
    public CompletableFuture<SnapshotResult<ChangelogStateHandleStreamImpl>> persist(
            SequenceNumber from, long checkpointId) {
        if (from.compareTo(truncatedTo) < 0 || from.compareTo(activeNumber) > 0) {
            throw new IllegalArgumentException(
                    "Checkpoint "
                            + checkpointId
                            + " asks for changes of operator "
                            + operatorId
                            + " from "
                            + from
                            + ", but the changelog has changes from "
                            + truncatedTo
                            + " to "
                            + activeNumber
                            + ".");
        }
        endSet();
        List<SetUpload> range = new ArrayList<>(setUploads.tailMap(from, true).values());
        List<SetUpload> missing =
                range.stream()
                        .filter(upload -> upload.uploaded == null && !upload.isUnderWay)
                        .collect(Collectors.toList());
        Persist persist = new Persist(range);
        if (persist.isComplete()) {
            persist.complete();
        } else {
            persists.add(persist);
        }
        upload(missing);
        return persist.result;
    }

    /** A checkpoint whose materialization contains all changes before {@code to} is complete. */
    @Override
    public void truncate(SequenceNumber to) {
        if (to.compareTo(activeNumber) > 0) {
            throw new IllegalArgumentException(
                    "Truncating to " + to + ", but the changelog ends at " + activeNumber + ".");
        }
        truncatedTo = to;
        drop(setUploads.headMap(to, false));
    }

    /** The JobManager has a checkpoint with these changes, and owns their files. */
    @Override
    public void confirm(SequenceNumber from, SequenceNumber to, long checkpointId) {
        if (from.compareTo(to) > 0 || to.compareTo(activeNumber) > 0) {
            throw new IllegalArgumentException(
                    "Checkpoint "
                            + checkpointId
                            + " confirms changes from "
                            + from
                            + " to "
                            + to
                            + ", but the changelog ends at "
                            + activeNumber
                            + ".");
        }
        for (SetUpload upload : setUploads.subMap(from, true, to, false).values()) {
            if (upload.uploaded != null) {
                uploads.claims().confirm(upload.uploaded);
                for (UploadedChanges.ChangelogSegment segment : upload.uploaded.segments) {
                    log.uploads().confirmed(segment.part.file, segment.file);
                }
            }
        }
    }

    /**
     * Does nothing: uploaded sets still belong to this process, and the next checkpoint names them
     * again.
     */
    @Override
    public void reset(SequenceNumber from, SequenceNumber to, long checkpointId) {}

    @Override
    public void truncateAndClose(SequenceNumber from) {
        drop(setUploads.tailMap(from, true));
        close();
    }

    /** Uploaded files may be part of a checkpoint, and are kept. */
    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        active = new ChangeSet();
        setUploads.values().stream().filter(upload -> upload.isUnderWay).forEach(SetUpload::drop);
        setUploads.clear();
        for (Persist persist : persists) {
            persist.result.completeExceptionally(
                    new CancellationException(
                            "The changelog of operator " + operatorId + " was closed."));
        }
        persists.clear();
    }

    private void endSet() {
        if (active.isEmpty()) {
            return;
        }
        if (active.log() != null) {
            log.roll();
        }
        setUploads.put(activeNumber, new SetUpload(active));
        activeNumber = activeNumber.next();
        active = new ChangeSet();
    }

    private void drop(Map<SequenceNumber, SetUpload> range) {
        for (SetUpload upload : range.values()) {
            upload.drop();
            if (upload.failure != null) {
                failedBytes -= upload.length();
            }
            if (upload.uploaded != null) {
                upload.uploaded.segments.forEach(
                        segment -> log.uploads().forget(segment.part.file));
                uploads.claims().release(upload.uploaded);
            } else if (!upload.isUnderWay) {
                done(upload.set);
            }
        }
        range.clear();
    }

    /** The set's changes are not read from the segments any more. */
    private void done(ChangeSet set) {
        set.parts().forEach(part -> log.done(part.segment));
    }

    private void upload(Collection<SetUpload> missing) {
        if (missing.isEmpty()) {
            return;
        }
        List<SetUpload> begun = new ArrayList<>(missing);
        List<ChangeSet> sets = new ArrayList<>();
        for (SetUpload upload : begun) {
            if (upload.failure != null) {
                failedBytes -= upload.length();
                upload.failure = null;
            }
            upload.isUnderWay = true;
            sets.add(upload.set);
        }
        uploads.submit(
                sets,
                new ChangeUploads.Listener() {
                    @Override
                    public void uploaded(List<UploadedChanges> changes) {
                        if (!inMailbox(() -> LavaChangelogWriter.this.uploaded(begun, changes))) {
                            changes.forEach(uploads.claims()::release);
                        }
                    }

                    @Override
                    public void failed(Throwable why) {
                        inMailbox(() -> LavaChangelogWriter.this.failed(begun, why));
                    }
                });
    }

    /** Returns false when the task has ended. */
    private boolean inMailbox(Runnable what) {
        try {
            mailbox.execute(what::run, "upload of changes of operator %s", operatorId);
            return true;
        } catch (RejectedExecutionException e) {
            return false;
        }
    }

    private void uploaded(List<SetUpload> begun, List<UploadedChanges> changes) {
        for (int i = 0; i < begun.size(); i++) {
            done(begun.get(i).set);
            begun.get(i).uploaded(changes.get(i));
        }
        completePersists();
        for (SetUpload upload : begun) {
            // Not earlier: a checkpoint that began before may name the set. That checkpoint is not
            // needed any more, so the set may go now.
            if (upload.isDropped) {
                uploads.claims().release(upload.uploaded);
            }
        }
    }

    private void failed(List<SetUpload> begun, Throwable why) {
        LOG.warn("Changes of operator {} were not uploaded.", operatorId, why);
        for (SetUpload upload : begun) {
            upload.isUnderWay = false;
            if (upload.isDropped) {
                done(upload.set);
            } else {
                upload.failure = why;
                failedBytes += upload.length();
            }
        }
        persists.removeIf(persist -> persist.failIfAmong(begun, why));
    }

    private void completePersists() {
        List<Persist> complete =
                persists.stream().filter(Persist::isComplete).collect(Collectors.toList());
        persists.removeAll(complete);
        complete.forEach(Persist::complete);
    }

    @Nullable
    private Throwable lastFailure() {
        return setUploads.descendingMap().values().stream()
                .map(upload -> upload.failure)
                .filter(failure -> failure != null)
                .findFirst()
                .map(ExceptionUtils::stripExecutionException)
                .orElse(null);
    }

    /** A set and the state of its upload. */
    private static final class SetUpload {
        @Nullable private ChangeSet set;
        @Nullable private UploadedChanges uploaded;
        @Nullable private Throwable failure;
        private boolean isUnderWay;
        private boolean isDropped;

        SetUpload(ChangeSet set) {
            this.set = set;
        }

        /** Whether no upload of the set was tried yet. */
        boolean isNew() {
            return uploaded == null && failure == null && !isUnderWay;
        }

        long length() {
            return set == null ? 0 : set.length() + set.partBytes();
        }

        void uploaded(UploadedChanges at) {
            uploaded = at;
            set = null;
            isUnderWay = false;
        }

        void drop() {
            isDropped = true;
        }
    }

    /** A checkpoint that waits for sets. */
    private final class Persist {
        private final CompletableFuture<SnapshotResult<ChangelogStateHandleStreamImpl>> result =
                new CompletableFuture<>();
        private final List<SetUpload> range;
        private final List<SetUpload> uploadedFor;

        Persist(List<SetUpload> range) {
            this.range = range;
            this.uploadedFor =
                    range.stream()
                            .filter(upload -> upload.uploaded == null)
                            .collect(Collectors.toList());
        }

        boolean isComplete() {
            return uploadedFor.stream().allMatch(upload -> upload.uploaded != null);
        }

        void complete() {
            List<Tuple2<StreamStateHandle, Long>> locations = new ArrayList<>();
            long bytes = 0;
            for (SetUpload upload : range) {
                locations.addAll(upload.uploaded.locations());
                bytes += upload.uploaded.bytes;
            }
            long newBytes = uploadedFor.stream().mapToLong(upload -> upload.uploaded.bytes).sum();
            ChangelogStateHandleStreamImpl handle = handle(locations, bytes, newBytes);
            // Without changes, the local copy of the rest is complete.
            result.complete(
                    localBackups && bytes > 0
                            ? SnapshotResult.withLocalState(
                                    handle,
                                    handle(List.of(Tuple2.of(new NotKeptLocally(), 0L)), bytes, 0))
                            : SnapshotResult.of(handle));
        }

        private ChangelogStateHandleStreamImpl handle(
                List<Tuple2<StreamStateHandle, Long>> locations, long bytes, long newBytes) {
            return new ChangelogStateHandleStreamImpl(
                    locations, keyGroups, bytes, newBytes, LavaChangelogStorageFactory.IDENTIFIER);
        }

        boolean failIfAmong(List<SetUpload> failed, Throwable why) {
            if (failed.stream().noneMatch(uploadedFor::contains)) {
                return false;
            }
            result.completeExceptionally(
                    new IOException(
                            "Changes of operator "
                                    + operatorId
                                    + " were not uploaded to "
                                    + settings.directory
                                    + ": "
                                    + why.getMessage(),
                            why));
            return true;
        }
    }
}
