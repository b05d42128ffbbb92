// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.snapshot;

import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.stream.Collectors;
import javax.annotation.Nullable;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.runtime.state.CheckpointStreamFactory;
import org.apache.flink.runtime.state.CheckpointStreamWithResultProvider;
import org.apache.flink.runtime.state.CheckpointedStateScope;
import org.apache.flink.runtime.state.IncrementalKeyedStateHandle.HandleAndLocalPath;
import org.apache.flink.runtime.state.LocalRecoveryConfig;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.StateUtil;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.runtime.state.filesystem.FileStateHandle;
import org.apache.flink.util.IOUtils;
import org.lavakv.FileInfo;
import org.lavakv.flink.checkpoint.CheckpointDescription;
import org.lavakv.flink.checkpoint.HeapTimerFile;
import org.lavakv.flink.checkpoint.ParallelTransfer;
import org.lavakv.flink.storage.InstanceFiles;
import org.lavakv.flink.storage.PosixFile;
import org.lavakv.local.PrivateFiles;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Uploads a checkpoint's new content to its storage, with several streams at a time.
 *
 * <p>Threads: one. Ownership: once {@link #run} has returned, this object owns the uploads until
 * {@link #discard}, or the holder of the handles does.
 */
final class CheckpointUpload {

    private static final Logger LOG = LoggerFactory.getLogger(CheckpointUpload.class);

    private final SnapshotContext context;
    private final long checkpointId;
    private final CheckpointStreamFactory storage;
    private final CheckpointedStateScope scope;
    private final List<HandleAndLocalPath> dataFiles = new ArrayList<>();
    private final List<HandleAndLocalPath> descriptions = new ArrayList<>();
    private List<SnapshotResult<StreamStateHandle>> uploaded = new ArrayList<>();

    /**
     * @param scope the scope of the engine's files
     */
    CheckpointUpload(
            SnapshotContext context,
            long checkpointId,
            CheckpointStreamFactory storage,
            CheckpointedStateScope scope) {
        this.context = context;
        this.checkpointId = checkpointId;
        this.storage = storage;
        this.scope = scope;
    }

    /**
     * Uploads everything, once. After a failure nothing of it is left in the checkpoint.
     *
     * @param cancel closing it ends the upload
     */
    void run(CheckpointContent content, UploadPlan plan, CloseableRegistry cancel)
            throws Exception {
        List<ParallelTransfer.Task<SnapshotResult<StreamStateHandle>>> tasks = new ArrayList<>();
        tasks.add(streams -> uploadStateMeta(content.stateMeta(), streams));
        List<String> names = new ArrayList<>();
        FileUpload.Part description =
                FileUpload.Part.of(content.description(), CheckpointDescription.FILE_NAME);
        tasks.add(task(description, CheckpointedStateScope.EXCLUSIVE));
        names.add(CheckpointDescription.FILE_NAME);
        if (content.timers() != null) {
            FileUpload.Part timers =
                    new FileUpload.Part(new PosixFile(content.timers()), content.timersInfo());
            tasks.add(task(timers, CheckpointedStateScope.EXCLUSIVE));
            names.add(HeapTimerFile.FILE_NAME);
        }
        int firstDataFile = names.size();
        for (UploadPlan.Pack pack : plan.packs()) {
            tasks.add(task(pack));
            names.add(pack.name());
        }
        for (FileInfo file : plan.alone()) {
            tasks.add(task(part(file), scope));
            names.add(file.name());
        }
        uploaded = context.transfer().run(tasks, cancel, StateUtil::discardStateObjectQuietly, 0);
        dataFiles.addAll(plan.reused());
        for (int i = 0; i < names.size(); i++) {
            (i < firstDataFile ? descriptions : dataFiles)
                    .add(
                            HandleAndLocalPath.of(
                                    uploaded.get(i + 1).getJobManagerOwnedSnapshot(),
                                    names.get(i)));
        }
    }

    private FileUpload.Part part(FileInfo file) {
        InstanceFiles files = context.instance().files();
        return new FileUpload.Part(files.file(file.name()), file);
    }

    private ParallelTransfer.Task<SnapshotResult<StreamStateHandle>> task(
            FileUpload.Part part, CheckpointedStateScope of) {
        return streams ->
                SnapshotResult.of(
                        FileUpload.upload(List.of(part), part.name(), storage, of, streams));
    }

    private ParallelTransfer.Task<SnapshotResult<StreamStateHandle>> task(UploadPlan.Pack pack) {
        List<FileUpload.Part> parts =
                pack.files().stream().map(this::part).collect(Collectors.toList());
        String name = parts.size() + " small files, " + pack.files().get(0).name() + " the first,";
        return streams ->
                SnapshotResult.of(FileUpload.upload(parts, name, storage, scope, streams));
    }

    private SnapshotResult<StreamStateHandle> uploadStateMeta(
            byte[] stateMeta, CloseableRegistry streams) throws IOException {
        try {
            SnapshotResult<StreamStateHandle> result = writeStateMeta(stateMeta, streams);
            try {
                FileUpload.checkWhole(result.getJobManagerOwnedSnapshot(), stateMeta.length);
            } catch (IOException e) {
                StateUtil.discardStateObjectQuietly(result.getTaskLocalSnapshot());
                throw e;
            }
            return result;
        } catch (IOException e) {
            throw FileUpload.failed("the state description", e);
        }
    }

    private SnapshotResult<StreamStateHandle> writeStateMeta(
            byte[] stateMeta, CloseableRegistry streams) throws IOException {
        CheckpointStreamWithResultProvider out =
                CheckpointStreamWithResultProvider.createSimpleStream(
                        CheckpointedStateScope.EXCLUSIVE, storage);
        boolean open = true;
        try {
            streams.registerCloseable(out);
            out.getCheckpointOutputStream().write(stateMeta);
            if (!streams.unregisterCloseable(out)) {
                open = false;
                throw new IOException("it was cancelled.");
            }
            SnapshotResult<StreamStateHandle> result = out.closeAndFinalizeCheckpointStreamResult();
            open = false;
            StreamStateHandle remote = result.getJobManagerOwnedSnapshot();
            StreamStateHandle local = remote == null ? null : keepStateMeta(stateMeta);
            return local == null ? result : SnapshotResult.withLocalState(remote, local);
        } finally {
            if (open) {
                streams.unregisterCloseable(out);
                IOUtils.closeQuietly(out);
            }
        }
    }

    /**
     * Writes a local copy of the description if there is local recovery. Does not use Flink's own
     * stream, because other users may read the files that it writes.
     *
     * @return null without a copy; the checkpoint does not need one
     */
    @Nullable
    private StreamStateHandle keepStateMeta(byte[] stateMeta) {
        LocalRecoveryConfig localRecovery = context.localRecovery();
        if (!localRecovery.isLocalBackupEnabled()) {
            return null;
        }
        File directory =
                localRecovery
                        .getLocalStateDirectoryProvider()
                        .orElseThrow(LocalRecoveryConfig.localRecoveryNotEnabled())
                        .subtaskSpecificCheckpointDirectory(checkpointId);
        Path file = directory.toPath().resolve(UUID.randomUUID().toString());
        try {
            PrivateFiles.createDirectories(directory.toPath());
            PrivateFiles.write(file, stateMeta);
        } catch (IOException e) {
            LOG.warn(
                    "Checkpoint {} has no local copy, because writing {} failed.",
                    checkpointId,
                    file,
                    e);
            return null;
        }
        return new FileStateHandle(
                org.apache.flink.core.fs.Path.fromLocalFile(file.toFile()), stateMeta.length);
    }

    /**
     * Flink's description of the states, with a copy on this machine if there is local recovery.
     */
    SnapshotResult<StreamStateHandle> stateMeta() {
        return uploaded.get(0);
    }

    /** Lava's own files, which belong to this checkpoint alone. */
    List<HandleAndLocalPath> descriptions() {
        return descriptions;
    }

    /** The engine's files and packs, including reused ones. */
    List<HandleAndLocalPath> dataFiles() {
        return dataFiles;
    }

    /** Size of all uploads, including descriptions. */
    long bytes() {
        return uploaded.stream()
                .mapToLong(result -> result.getJobManagerOwnedSnapshot().getStateSize())
                .sum();
    }

    /** Deletes what was uploaded. */
    void discard() {
        uploaded.forEach(StateUtil::discardStateObjectQuietly);
    }
}
