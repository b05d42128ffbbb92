// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.snapshot;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.UUID;
import java.util.stream.Collectors;
import javax.annotation.Nullable;
import org.apache.flink.runtime.state.DirectoryStateHandle;
import org.apache.flink.runtime.state.LocalSnapshotDirectoryProvider;
import org.apache.flink.runtime.state.SnapshotDirectory;
import org.apache.flink.util.FileUtils;
import org.lavakv.FileInfo;
import org.lavakv.flink.checkpoint.CheckpointDescription;
import org.lavakv.flink.checkpoint.HeapTimerFile;
import org.lavakv.flink.storage.CopySeal;
import org.lavakv.flink.storage.HardLinks;
import org.lavakv.flink.storage.InstanceFiles;
import org.lavakv.local.PrivateFiles;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A second copy of a checkpoint on the local disk, for local recovery, in a directory that belongs
 * to Flink. It contains the engine's files as hard links, or as copies if the directory is on
 * another file system. Files of a volume stay in the volume, where a marker in the directory keeps
 * them.
 *
 * <p>Threads: one. Ownership: this object owns the directory until {@link #complete}, then the
 * handle does; {@link #discard} deletes it in either case.
 */
final class LocalBackup {

    private static final Logger LOG = LoggerFactory.getLogger(LocalBackup.class);

    private final SnapshotDirectory directory;

    private LocalBackup(SnapshotDirectory directory) {
        this.directory = directory;
    }

    /**
     * Creates the backup of one checkpoint.
     *
     * @param content tells which of the files belong to the checkpoint
     * @param description the content of the checkpoint's private file
     * @param timers the file of timers on the heap, or null
     */
    static LocalBackup create(
            LocalSnapshotDirectoryProvider directories,
            long checkpointId,
            UUID backendUid,
            InstanceFiles files,
            List<FileInfo> content,
            byte[] description,
            @Nullable Path timers)
            throws IOException {
        // Several operators of a chain share the checkpoint's directory.
        Path path =
                directories
                        .subtaskSpecificCheckpointDirectory(checkpointId)
                        .toPath()
                        .resolve(backendUid.toString().replace("-", ""));
        FileUtils.deleteDirectory(path.toFile());
        PrivateFiles.createDirectories(path);
        LocalBackup backup = new LocalBackup(SnapshotDirectory.permanent(path));
        try {
            List<String> names = content.stream().map(FileInfo::name).collect(Collectors.toList());
            files.keep(path, names);
            CopySeal.put(path, names);
            if (timers != null) {
                HardLinks.linkOrCopy(timers, path.resolve(HeapTimerFile.FILE_NAME));
            }
            PrivateFiles.write(path.resolve(CheckpointDescription.FILE_NAME), description);
            return backup;
        } catch (IOException | RuntimeException e) {
            backup.discard();
            throw e;
        }
    }

    /** Hands the directory over to a handle. */
    DirectoryStateHandle complete() throws IOException {
        return directory.completeSnapshotAndGetHandle();
    }

    /** Deletes the directory; problems are logged. */
    void discard() {
        try {
            if (directory.isSnapshotCompleted()) {
                DirectoryStateHandle handle = directory.completeSnapshotAndGetHandle();
                if (handle != null) {
                    handle.discardState();
                }
            } else {
                directory.cleanup();
            }
        } catch (Exception e) {
            LOG.warn("Deleting the local backup {} failed.", directory, e);
        }
    }
}
