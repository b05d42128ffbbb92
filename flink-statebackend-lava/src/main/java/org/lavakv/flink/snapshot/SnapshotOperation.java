package org.lavakv.flink.snapshot;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import javax.annotation.Nullable;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.runtime.state.CheckpointStreamFactory;
import org.apache.flink.runtime.state.CheckpointStreamWithResultProvider;
import org.apache.flink.runtime.state.CheckpointedStateScope;
import org.apache.flink.runtime.state.DirectoryStateHandle;
import org.apache.flink.runtime.state.IncrementalKeyedStateHandle.HandleAndLocalPath;
import org.apache.flink.runtime.state.IncrementalLocalKeyedStateHandle;
import org.apache.flink.runtime.state.IncrementalRemoteKeyedStateHandle;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.LocalRecoveryConfig;
import org.apache.flink.runtime.state.PlaceholderStreamStateHandle;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.SnapshotStrategy.SnapshotResultSupplier;
import org.apache.flink.runtime.state.StateUtil;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.util.IOUtils;
import org.apache.flink.util.ResourceGuard;
import org.lavakv.CheckpointFiles;
import org.lavakv.FileInfo;
import org.lavakv.LavaDBException;
import org.lavakv.Snapshot;
import org.lavakv.flink.storage.InstanceFiles;
import org.lavakv.flink.storage.LocalFile;
import org.lavakv.flink.storage.PosixFile;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The asynchronous part of one checkpoint: waits for the flush, uploads what must be uploaded, and
 * makes the handles.
 *
 * <p>Threads: run once, on any thread. Ownership: on any failure, what was uploaded is discarded
 * and the local backup deleted; the pin is released by the resources.
 */
final class SnapshotOperation implements SnapshotResultSupplier<KeyedStateHandle> {

    private static final Logger LOG = LoggerFactory.getLogger(SnapshotOperation.class);

    /** What Flink's description of the states is called in messages. */
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
        CheckpointFiles files = flushedFiles(registry);
        DataOutputSerializer out = new DataOutputSerializer(4096);
        resources.stateMeta().write(out);
        byte[] stateMeta = out.getCopyOfBuffer();
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
                                    files.metadata())
                            .toBytes();
            return write(new Content(files, stateMeta, description, timers, timersInfo), registry);
        } finally {
            if (timers != null) {
                Files.deleteIfExists(timers);
            }
        }
    }

    private Path temporaryFile() {
        return context.instance()
                .directory()
                .toPath()
                .resolve("timers-" + checkpointId + "-" + UUID.randomUUID());
    }

    /** Guarded: a close of the instance meanwhile would delete a directory that still fills. */
    private FileInfo writeTimers(Path file, CloseableRegistry registry) throws IOException {
        ResourceGuard.Lease lease = context.instance().resourceGuard().acquireResource();
        try {
            return HeapTimerFile.write(
                    file,
                    resources.heapTimers(),
                    context.keyGroupRange(),
                    context.instance().keyGroupPrefixBytes(),
                    registry);
        } finally {
            lease.close();
        }
    }

    private SnapshotResult<KeyedStateHandle> write(Content content, CloseableRegistry registry)
            throws Exception {
        LocalBackup backup = localBackup(content);
        boolean complete = false;
        try {
            Upload upload = upload(content, registry);
            try {
                SnapshotResult<KeyedStateHandle> result = handles(upload, backup);
                streamFactory.reusePreviousStateHandle(upload.reused);
                if (registry.isClosed()) {
                    throw new IOException("Checkpoint " + checkpointId + " was cancelled.");
                }
                if (mode.remembered()) {
                    context.history().uploaded(checkpointId, upload.dataFiles);
                }
                complete = true;
                return result;
            } finally {
                if (!complete) {
                    upload.uploaded.forEach(StateUtil::discardStateObjectQuietly);
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

    /** Local recovery is a help, so that its failure does not fail the checkpoint. */
    @Nullable
    private LocalBackup localBackup(Content content) {
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
                    content.files.files(),
                    content.description,
                    content.timers);
        } catch (IOException | RuntimeException e) {
            LOG.warn(
                    "Checkpoint {} goes without a copy for local recovery; free some space on the"
                            + " local disk or set execution.checkpointing.local-backup.dirs.",
                    checkpointId,
                    e);
            return null;
        }
    }

    private Upload upload(Content content, CloseableRegistry registry) throws Exception {
        Upload upload = new Upload();
        List<FileInfo> fresh = new ArrayList<>();
        Map<String, PlaceholderStreamStateHandle> reusable =
                mode.reuses() ? resources.base().reusable() : Collections.emptyMap();
        for (FileInfo file : content.files.files()) {
            PlaceholderStreamStateHandle known = reusable.get(file.name());
            if (known != null && streamFactory.couldReuseStateHandle(known)) {
                upload.reused.add(known);
                upload.dataFiles.add(HandleAndLocalPath.of(known, file.name()));
            } else {
                fresh.add(file);
            }
        }
        List<ParallelTransfer.Task<SnapshotResult<StreamStateHandle>>> tasks = new ArrayList<>();
        tasks.add(streams -> uploadStateMeta(content.stateMeta, streams));
        tasks.addAll(descriptionTasks(content));
        int firstDataFile = tasks.size();
        InstanceFiles files = context.instance().files();
        for (FileInfo file : fresh) {
            tasks.add(fileTask(files.file(file.name()), file, mode.scope()));
        }
        List<SnapshotResult<StreamStateHandle>> done =
                context.transfer().run(tasks, registry, StateUtil::discardStateObjectQuietly, 0);
        upload.uploaded.addAll(done);
        upload.stateMeta = done.get(0);
        upload.descriptions.add(named(done.get(1), CheckpointDescription.FILE_NAME));
        if (content.timers != null) {
            upload.descriptions.add(named(done.get(2), HeapTimerFile.FILE_NAME));
        }
        for (int i = 0; i < fresh.size(); i++) {
            upload.dataFiles.add(named(done.get(firstDataFile + i), fresh.get(i).name()));
        }
        return upload;
    }

    private static HandleAndLocalPath named(
            SnapshotResult<StreamStateHandle> uploaded, String name) {
        return HandleAndLocalPath.of(uploaded.getJobManagerOwnedSnapshot(), name);
    }

    private List<ParallelTransfer.Task<SnapshotResult<StreamStateHandle>>> descriptionTasks(
            Content content) {
        List<ParallelTransfer.Task<SnapshotResult<StreamStateHandle>>> tasks = new ArrayList<>();
        tasks.add(
                streams ->
                        SnapshotResult.of(
                                FileUpload.upload(
                                        content.description,
                                        CheckpointDescription.FILE_NAME,
                                        streamFactory,
                                        CheckpointedStateScope.EXCLUSIVE,
                                        streams)));
        if (content.timers != null) {
            tasks.add(
                    fileTask(
                            new PosixFile(content.timers),
                            content.timersInfo,
                            CheckpointedStateScope.EXCLUSIVE));
        }
        return tasks;
    }

    private ParallelTransfer.Task<SnapshotResult<StreamStateHandle>> fileTask(
            LocalFile file, FileInfo info, CheckpointedStateScope scope) {
        return streams ->
                SnapshotResult.of(FileUpload.upload(file, info, streamFactory, scope, streams));
    }

    private SnapshotResult<StreamStateHandle> uploadStateMeta(
            byte[] stateMeta, CloseableRegistry streams) throws Exception {
        SnapshotResult<StreamStateHandle> result;
        try {
            result = writeStateMeta(stateMeta, streams);
        } catch (IOException e) {
            throw FileUpload.failed(STATE_META, 0, e);
        }
        try {
            FileUpload.checkWhole(
                    result.getJobManagerOwnedSnapshot(), STATE_META, stateMeta.length);
        } catch (IOException e) {
            StateUtil.discardStateObjectQuietly(result.getTaskLocalSnapshot());
            throw e;
        }
        return result;
    }

    private SnapshotResult<StreamStateHandle> writeStateMeta(
            byte[] stateMeta, CloseableRegistry streams) throws Exception {
        LocalRecoveryConfig localRecovery = context.localRecovery();
        CheckpointStreamWithResultProvider out =
                localRecovery.isLocalBackupEnabled()
                        ? CheckpointStreamWithResultProvider.createDuplicatingStream(
                                checkpointId,
                                CheckpointedStateScope.EXCLUSIVE,
                                streamFactory,
                                localRecovery
                                        .getLocalStateDirectoryProvider()
                                        .orElseThrow(LocalRecoveryConfig.localRecoveryNotEnabled()))
                        : CheckpointStreamWithResultProvider.createSimpleStream(
                                CheckpointedStateScope.EXCLUSIVE, streamFactory);
        boolean open = true;
        try {
            streams.registerCloseable(out);
            out.getCheckpointOutputStream().write(stateMeta);
            if (!streams.unregisterCloseable(out)) {
                open = false;
                throw new IOException("The upload of the states' description was cancelled.");
            }
            SnapshotResult<StreamStateHandle> result = out.closeAndFinalizeCheckpointStreamResult();
            open = false;
            return result;
        } finally {
            if (open) {
                streams.unregisterCloseable(out);
                IOUtils.closeQuietly(out);
            }
        }
    }

    private SnapshotResult<KeyedStateHandle> handles(Upload upload, @Nullable LocalBackup backup)
            throws IOException {
        long uploadedBytes =
                upload.uploaded.stream()
                        .mapToLong(result -> result.getJobManagerOwnedSnapshot().getStateSize())
                        .sum();
        List<HandleAndLocalPath> sharedFiles = new ArrayList<>();
        List<HandleAndLocalPath> privateFiles = new ArrayList<>();
        privateFiles.addAll(upload.descriptions);
        (mode.sharedState() ? sharedFiles : privateFiles).addAll(upload.dataFiles);
        IncrementalRemoteKeyedStateHandle remote =
                new IncrementalRemoteKeyedStateHandle(
                        context.backendUid(),
                        context.keyGroupRange(),
                        checkpointId,
                        sharedFiles,
                        privateFiles,
                        upload.stateMeta.getJobManagerOwnedSnapshot(),
                        uploadedBytes);
        StreamStateHandle localMeta = upload.stateMeta.getTaskLocalSnapshot();
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

    /** What goes into the checkpoint. */
    private static final class Content {
        private final CheckpointFiles files;
        private final byte[] stateMeta;
        private final byte[] description;
        @Nullable private final Path timers;
        @Nullable private final FileInfo timersInfo;

        Content(
                CheckpointFiles files,
                byte[] stateMeta,
                byte[] description,
                @Nullable Path timers,
                @Nullable FileInfo timersInfo) {
            this.files = files;
            this.stateMeta = stateMeta;
            this.description = description;
            this.timers = timers;
            this.timersInfo = timersInfo;
        }
    }

    /** What became of the uploads. */
    private static final class Upload {
        private final List<SnapshotResult<StreamStateHandle>> uploaded = new ArrayList<>();
        private final List<HandleAndLocalPath> dataFiles = new ArrayList<>();
        private final List<HandleAndLocalPath> descriptions = new ArrayList<>();
        private final List<StreamStateHandle> reused = new ArrayList<>();
        private SnapshotResult<StreamStateHandle> stateMeta;
    }
}
