// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.engine;

import java.io.Closeable;
import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import javax.annotation.Nullable;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.util.Preconditions;
import org.lavakv.DBOptions;
import org.lavakv.ImportSource;
import org.lavakv.LavaDB;
import org.lavakv.LavaDBException;
import org.lavakv.Lease;
import org.lavakv.VolumeOptions;
import org.lavakv.flink.storage.InstanceFiles;
import org.lavakv.flink.storage.KeptFiles;
import org.lavakv.flink.storage.PosixFiles;
import org.lavakv.flink.storage.VolumeFiles;
import org.lavakv.local.OwnedPath;
import org.lavakv.local.PrivateFiles;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Opens the instance of a keyed state backend in a new directory, of the machine or of a volume. A
 * restore first puts the predecessors' files into {@link #files}, and then opens the instance with
 * these files as imports. {@link #finish} or {@link #abandon} ends the opening.
 *
 * <p>Threads: one thread; {@link #kept} may be called from any thread.
 *
 * <p>Ownership: the opener owns the directory, the files and the memory until {@link #open}
 * succeeds. From then on the instance owns them.
 */
public final class InstanceOpener {

    private static final Logger LOG = LoggerFactory.getLogger(InstanceOpener.class);

    private final Parts parts;
    @Nullable private InstanceFiles files;
    @Nullable private LavaInstance instance;
    @Nullable private CloseableRegistry cancel;
    @Nullable private Closeable closing;
    private boolean abandoned;

    /** The parts needed to open an instance. The opener owns the home and the memory. */
    public static final class Parts {
        /** The instance's own ordinary directory, which does not exist yet. */
        public OwnedPath home;

        /** The directory of the volume for the files; null if the files go to the home. */
        @Nullable public File volumes;

        /** For every volume, including those with files of local recovery. */
        public VolumeOptions volumeOptions;

        public DBOptions options;

        /** Minimum size of values that go to value files. */
        public Separation separation;

        /** The key groups of the instance. */
        public KeyGroupRange keyGroupRange;

        /** Number of leading bytes of every key that contain the key group: 1 or 2. */
        public int keyGroupPrefixBytes;

        public Lease lease;

        /** Returns the instance's share of the lease. */
        public AutoCloseable leaseRelease;
    }

    public InstanceOpener(Parts parts) {
        this.parts = parts;
    }

    /**
     * The instance's own ordinary directory, created if necessary; callers put temporary files into
     * it.
     */
    public File directory() throws IOException {
        files();
        return parts.home.path().toFile();
    }

    /** The instance's files. {@link #open} opens the instance on them. */
    public InstanceFiles files() throws IOException {
        if (files == null) {
            files = parts.volumes == null ? filesInDirectory() : filesInVolume();
        }
        return files;
    }

    /** The files that an earlier instance kept for a directory of local recovery. */
    public KeptFiles kept(Path directory) throws IOException {
        return KeptFiles.in(directory, parts.volumeOptions);
    }

    public KeyGroupRange keyGroupRange() {
        return parts.keyGroupRange;
    }

    public int keyGroupPrefixBytes() {
        return parts.keyGroupPrefixBytes;
    }

    /**
     * Opens the instance; may succeed once. Until {@link #finish}, closing the registry closes the
     * instance and abandons files for which a read waits. This also ends a write that waits for
     * background work.
     *
     * @param imports predecessors to adopt, or empty for a new instance
     * @throws IOException also when the registry is closed
     */
    public LavaInstance open(List<ImportSource> imports, CloseableRegistry cancel)
            throws IOException, LavaDBException {
        Preconditions.checkState(
                instance == null && !abandoned, "The instance was already opened or abandoned.");
        LavaInstance opened = newInstance(imports);
        instance = opened;
        this.cancel = cancel;
        closing =
                () -> {
                    opened.onDemandFiles().close();
                    opened.db().close();
                };
        cancel.registerCloseable(closing);
        return opened;
    }

    private LavaInstance newInstance(List<ImportSource> imports)
            throws IOException, LavaDBException {
        InstanceFiles opened = files();
        parts.options
                .setPartitionBytes(parts.keyGroupPrefixBytes)
                .setPartitionFirst(parts.keyGroupRange.getStartKeyGroup())
                .setPartitionLast(parts.keyGroupRange.getEndKeyGroup());
        LavaDB db = opened.open(parts.options, parts.lease, imports);
        return new LavaInstance(
                db,
                parts.leaseRelease,
                parts.home,
                opened,
                parts.keyGroupPrefixBytes,
                parts.keyGroupRange,
                parts.separation);
    }

    /**
     * Detaches the instance from the registry; fails if the registry has already closed the
     * instance.
     */
    public void finish() throws IOException {
        if (!cancel.unregisterCloseable(closing)) {
            throw new IOException("The restore was cancelled.");
        }
    }

    /**
     * After a failure: closes the instance, deletes the directory and the files, and returns the
     * memory. Repeating the call does nothing.
     */
    public void abandon() {
        if (abandoned) {
            return;
        }
        abandoned = true;
        if (instance != null) {
            cancel.unregisterCloseable(closing);
            instance.close();
            return;
        }
        try {
            parts.leaseRelease.close();
        } catch (Exception e) {
            LOG.warn("Returning native memory failed.", e);
        }
        try {
            if (files != null) {
                files.close();
            }
        } catch (IOException e) {
            LOG.warn(
                    "Deleting {} failed. The files are deleted once no instance uses the volume.",
                    files,
                    e);
        }
        try {
            parts.home.close();
        } catch (IOException e) {
            LOG.warn(
                    "Deleting {} failed. The next process that opens the parent directory tries"
                            + " again.",
                    parts.home.path(),
                    e);
        }
    }

    private InstanceFiles filesInDirectory() throws IOException {
        Path directory = parts.home.path().resolve("db");
        createDirectories(directory);
        return new PosixFiles(directory);
    }

    private InstanceFiles filesInVolume() throws IOException {
        Path home = parts.home.path();
        // Also holds temporary files of timers, which are state, too: created for its user only.
        createDirectories(home);
        return VolumeFiles.open(parts.volumes, parts.volumeOptions, home.getFileName().toString());
    }

    private static void createDirectories(Path directory) throws IOException {
        try {
            PrivateFiles.createDirectories(directory);
        } catch (IOException e) {
            throw new IOException(
                    "The directory for the state's files cannot be created: "
                            + directory
                            + ". Check the directories of 'state.backend.lava.localdir'.",
                    e);
        }
    }
}
