// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.snapshot;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Collectors;
import javax.annotation.Nullable;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.runtime.state.CheckpointStreamFactory;
import org.apache.flink.runtime.state.DirectoryStateHandle;
import org.apache.flink.runtime.state.IncrementalKeyedStateHandle.HandleAndLocalPath;
import org.apache.flink.runtime.state.IncrementalLocalKeyedStateHandle;
import org.apache.flink.runtime.state.IncrementalRemoteKeyedStateHandle;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.LocalRecoveryConfig;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.SnapshotStrategy.SnapshotResultSupplier;
import org.apache.flink.runtime.state.StateUtil;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.util.ResourceGuard;
import org.lavakv.CheckpointFiles;
import org.lavakv.FileInfo;
import org.lavakv.LavaDBException;
import org.lavakv.Snapshot;
import org.lavakv.flink.checkpoint.CheckpointDescription;
import org.lavakv.flink.checkpoint.CheckpointIdentity;
import org.lavakv.flink.checkpoint.HeapTimerFile;
import org.lavakv.flink.checkpoint.UploadedFiles;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The asynchronous part of one checkpoint: waits for the flush, uploads the new files, and creates
 * the handles.
 *
 * <p>Threads: run once, on any thread. Ownership: on any failure, uploads are discarded and the
 * local backup is deleted; the resources release the pin.
 */
final class SnapshotOperation implements SnapshotResultSupplier<KeyedStateHandle> {

    private static final Logger LOG = LoggerFactory.getLogger(SnapshotOperation.class);

    /** The name of Flink's description of the states in messages. */
    private static final String STATE_META = "the state description";

    private final SnapshotContext context;
    private final LavaSnapshotResources resources;
    private final long checkpointId;
    private final CheckpointStreamFactory streamFactory;
    private final UploadMode mode;

    SnapshotOperation(
            SnapshotContext context,
            LavaSnapshotResources resources,
            long checkpointId,
            CheckpointStreamFactory streamFactory,
            UploadMode mode) {
        this.context = context;
        this.resources = resources;
        this.checkpointId = checkpointId;
        this.streamFactory = streamFactory;
        this.mode = mode;
    }

    @Override
    public SnapshotResult<KeyedStateHandle> get(CloseableRegistry registry) throws Exception {
        boolean done = false;
        try {
            SnapshotResult<KeyedStateHandle> result = run(registry);
            done = true;
            return result;
        } finally {
            if (!done) {
                context.history().aborted(checkpointId);
            }
        }
    }

    private SnapshotResult<KeyedStateHandle> run(CloseableRegistry registry) throws Exception {
        long begin = System.nanoTime();
        CheckpointFiles files = flushedFiles(registry);
        long flushed = System.nanoTime();
        UploadPlan plan =
                UploadPlan.of(
                        files.files(),
                        mode.reuses() ? resources.base() : UploadHistory.Base.NONE,
                        mode.reuses()
                                ? context.instance().sharedLog().uploads().confirmed()
                                : Map.of(),
                        streamFactory,
                        context.packLimits());
        DataOutputSerializer out = new DataOutputSerializer(4096);
        resources.stateMeta().write(out);
        CheckpointIdentity identity =
                CheckpointIdentity.of(context.job(), checkpointId, context.keyGroupRange());
        byte[] stateMeta = identity.behind(out.getCopyOfBuffer());
        Path timers = null;
        try {
            FileInfo timersInfo = null;
            if (!resources.heapTimers().isEmpty()) {
                timers = temporaryFile();
                timersInfo = writeTimers(timers, registry);
            }
            byte[] description =
                    CheckpointDescription.of(
                                    context.instance().keyGroupPrefixBytes(),
                                    stateMeta,
                                    timersInfo,
                                    files.metadata(),
                                    plan.packed(),
                                    identity,
                                    resources.ttlTime())
                            .toBytes();
            CheckpointContent content =
                    new CheckpointContent(files, stateMeta, description, timers, timersInfo);
            SnapshotResult<KeyedStateHandle> result = write(content, plan, registry);
            long end = System.nanoTime();
            report(
                    new CheckpointFigures(
                            checkpointId,
                            files,
                            plan,
                            result.getJobManagerOwnedSnapshot(),
                            new CheckpointFigures.Times(
                                    resources.syncNanos(),
                                    flushed - begin,
                                    end - flushed,
                                    end - resources.syncBegin())));
            return result;
        } finally {
            if (timers != null) {
                Files.deleteIfExists(timers);
            }
        }
    }

    private void report(CheckpointFigures figures) {
        context.wrote(figures);
        LOG.info(figures.line(context.instance().files()));
    }

    private Path temporaryFile() {
        return context.instance()
                .directory()
                .toPath()
                .resolve("timers-" + checkpointId + "-" + UUID.randomUUID());
    }

    /**
     * Guarded, because a concurrent close of the instance would delete the directory while it is
     * filled.
     */
    private FileInfo writeTimers(Path file, CloseableRegistry registry) throws IOException {
        ResourceGuard.Lease lease = context.instance().resourceGuard().acquireResource();
        try {
            int prefixBytes = context.instance().keyGroupPrefixBytes();
            List<HeapTimerSource> timers =
                    resources.heapTimers().stream()
                            .map(state -> new HeapTimerSource(state, prefixBytes))
                            .collect(Collectors.toList());
            return HeapTimerFile.write(file, timers, context.keyGroupRange(), registry);
        } finally {
            lease.close();
        }
    }

    private SnapshotResult<KeyedStateHandle> write(
            CheckpointContent content, UploadPlan plan, CloseableRegistry registry)
            throws Exception {
        awaitFiles(content.files(), plan, registry);
        LocalBackup backup =
                lacksFiles(content.files(), plan) ? noLocalBackup() : localBackup(content);
        boolean complete = false;
        try {
            CheckpointUpload upload =
                    new CheckpointUpload(context, checkpointId, streamFactory, mode.scope());
            upload.run(content, plan, registry);
            try {
                SnapshotResult<KeyedStateHandle> result = handles(upload, backup);
                streamFactory.reusePreviousStateHandle(
                        plan.reused().stream()
                                .map(HandleAndLocalPath::getHandle)
                                .collect(Collectors.toList()));
                if (registry.isClosed()) {
                    throw new IOException("Checkpoint " + checkpointId + " was cancelled.");
                }
                if (mode.remembered()) {
                    context.history()
                            .uploaded(
                                    checkpointId,
                                    new UploadedFiles(upload.dataFiles(), plan.packed()));
                }
                complete = true;
                return result;
            } finally {
                if (!complete) {
                    upload.discard();
                }
            }
        } finally {
            if (!complete && backup != null) {
                backup.discard();
            }
        }
    }

    /** Closing the registry closes the snapshot, which ends the wait. */
    private CheckpointFiles flushedFiles(CloseableRegistry registry)
            throws IOException, LavaDBException {
        Snapshot snapshot = resources.snapshot();
        Closeable cancel = snapshot::close;
        registry.registerCloseable(cancel);
        try {
            snapshot.waitFlushed();
            return snapshot.getFiles();
        } finally {
            registry.unregisterCloseable(cancel);
        }
    }

    /** A local copy that lacks files is useless, and the checkpoint does not wait for them. */
    @Nullable
    private LocalBackup noLocalBackup() {
        if (context.localRecovery().isLocalBackupEnabled()) {
            LOG.info(
                    "Checkpoint {} has no copy for local recovery, because some files of the"
                            + " restored state have not been fetched yet.",
                    checkpointId);
        }
        return null;
    }

    /** Local recovery is optional, so its failure does not fail the checkpoint. */
    @Nullable
    private LocalBackup localBackup(CheckpointContent content) {
        LocalRecoveryConfig localRecovery = context.localRecovery();
        if (!localRecovery.isLocalBackupEnabled()) {
            return null;
        }
        try {
            return LocalBackup.create(
                    localRecovery
                            .getLocalStateDirectoryProvider()
                            .orElseThrow(LocalRecoveryConfig.localRecoveryNotEnabled()),
                    checkpointId,
                    context.backendUid(),
                    context.instance().files(),
                    content.files().files(),
                    content.description(),
                    content.timers());
        } catch (IOException | RuntimeException e) {
            LOG.warn(
                    "Checkpoint {} has no copy for local recovery. Free some space on the local"
                            + " disk, or set execution.checkpointing.local-backup.dirs.",
                    checkpointId,
                    e);
            return null;
        }
    }

    /** Waits for files that must be uploaded; reused files need not be here. */
    private void awaitFiles(CheckpointFiles files, UploadPlan plan, CloseableRegistry registry)
            throws IOException, InterruptedException {
        if (files.missing().isEmpty()) {
            return;
        }
        List<String> needed =
                plan.fresh().stream()
                        .map(FileInfo::name)
                        .filter(files.missing()::contains)
                        .collect(Collectors.toList());
        try {
            context.instance().onDemandFiles().require(needed, registry);
        } catch (IOException e) {
            throw new IOException(
                    "Checkpoint "
                            + checkpointId
                            + " must upload all files of the restored state, but some could not"
                            + " be fetched: "
                            + e.getMessage(),
                    e);
        }
    }

    /** Whether reused files are missing on this machine. */
    private static boolean lacksFiles(CheckpointFiles files, UploadPlan plan) {
        return plan.reusedFiles().stream().map(FileInfo::name).anyMatch(files.missing()::contains);
    }

    private SnapshotResult<KeyedStateHandle> handles(
            CheckpointUpload upload, @Nullable LocalBackup backup) throws IOException {
        List<HandleAndLocalPath> sharedFiles = new ArrayList<>();
        List<HandleAndLocalPath> privateFiles = new ArrayList<>(upload.descriptions());
        (mode.sharedState() ? sharedFiles : privateFiles).addAll(upload.dataFiles());
        privateFiles.add(RocksDbRefusal.entry(privateFiles.get(0).getHandle()));
        IncrementalRemoteKeyedStateHandle remote =
                new IncrementalRemoteKeyedStateHandle(
                        context.backendUid(),
                        context.keyGroupRange(),
                        checkpointId,
                        sharedFiles,
                        privateFiles,
                        upload.stateMeta().getJobManagerOwnedSnapshot(),
                        upload.bytes());
        StreamStateHandle localMeta = upload.stateMeta().getTaskLocalSnapshot();
        if (backup == null || localMeta == null) {
            StateUtil.discardStateObjectQuietly(localMeta);
            if (backup != null) {
                backup.discard();
            }
            return SnapshotResult.of(remote);
        }
        DirectoryStateHandle directory = backup.complete();
        return SnapshotResult.withLocalState(
                remote,
                new IncrementalLocalKeyedStateHandle(
                        context.backendUid(),
                        checkpointId,
                        directory,
                        context.keyGroupRange(),
                        localMeta,
                        sharedFiles));
    }
}
