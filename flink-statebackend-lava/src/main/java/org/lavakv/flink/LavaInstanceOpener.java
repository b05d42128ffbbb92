package org.lavakv.flink;

import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import javax.annotation.Nullable;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.util.Preconditions;
import org.lavakv.DBOptions;
import org.lavakv.ImportSource;
import org.lavakv.LavaDB;
import org.lavakv.LavaDBException;
import org.lavakv.VolumeOptions;
import org.lavakv.flink.engine.LavaInstance;
import org.lavakv.flink.engine.LavaInstanceFactory;
import org.lavakv.flink.engine.Separation;
import org.lavakv.flink.memory.SlotMemory;
import org.lavakv.flink.storage.InstanceFiles;
import org.lavakv.flink.storage.KeptFiles;
import org.lavakv.flink.storage.PosixFiles;
import org.lavakv.flink.storage.VolumeFiles;
import org.lavakv.local.OwnedPath;
import org.lavakv.local.PrivateFiles;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Opens the database of one backend in a fresh directory, of the machine or of a volume, with the
 * slot's memory.
 *
 * <p>Threads: one thread.
 */
final class LavaInstanceOpener implements LavaInstanceFactory {

    private static final Logger LOG = LoggerFactory.getLogger(LavaInstanceOpener.class);

    private final OwnedPath home;
    @Nullable private final File volumes;
    private final VolumeOptions volumeOptions;
    private final DBOptions options;
    private final Separation separation;
    private final KeyGroupRange keyGroupRange;
    private final int keyGroupPrefixBytes;
    private final SlotMemory memory;
    @Nullable private InstanceFiles files;
    private boolean open;
    private boolean discarded;

    /**
     * @param home of a directory that does not exist yet; this owns it, and hands it on to the
     *     instance
     * @param volumes where the volume with the files is, or null for files in home
     * @param volumeOptions also for volumes with files of local recovery
     * @param separation from which size on values go to value files
     * @param memory this owns it, and hands it on to the instance
     */
    LavaInstanceOpener(
            OwnedPath home,
            @Nullable File volumes,
            VolumeOptions volumeOptions,
            DBOptions options,
            Separation separation,
            KeyGroupRange keyGroupRange,
            int keyGroupPrefixBytes,
            SlotMemory memory) {
        this.home = home;
        this.volumes = volumes;
        this.volumeOptions = volumeOptions;
        this.options = options;
        this.separation = separation;
        this.keyGroupRange = keyGroupRange;
        this.keyGroupPrefixBytes = keyGroupPrefixBytes;
        this.memory = memory;
    }

    @Override
    public File directory() throws IOException {
        files();
        return home.path().toFile();
    }

    @Override
    public InstanceFiles files() throws IOException {
        if (files == null) {
            files = volumes == null ? filesInDirectory() : filesInVolume();
        }
        return files;
    }

    @Override
    public KeptFiles kept(Path directory) throws IOException {
        return KeptFiles.in(directory, volumeOptions);
    }

    private InstanceFiles filesInDirectory() throws IOException {
        Path directory = home.path().resolve("db");
        try {
            PrivateFiles.createDirectories(directory);
        } catch (IOException e) {
            throw notCreated(directory, e);
        }
        return new PosixFiles(directory);
    }

    private InstanceFiles filesInVolume() throws IOException {
        try {
            // Timers are state, too.
            PrivateFiles.createDirectories(home.path());
        } catch (IOException e) {
            throw notCreated(home.path(), e);
        }
        return VolumeFiles.open(volumes, volumeOptions, home.path().getFileName().toString());
    }

    private static IOException notCreated(Path directory, IOException cause) {
        return new IOException(
                "The directory for the state's files cannot be created: "
                        + directory
                        + ". Check the directories of '"
                        + LavaOptions.LOCAL_DIRECTORIES.key()
                        + "'.",
                cause);
    }

    @Override
    public KeyGroupRange keyGroupRange() {
        return keyGroupRange;
    }

    @Override
    public int keyGroupPrefixBytes() {
        return keyGroupPrefixBytes;
    }

    @Override
    public LavaInstance open(List<ImportSource> imports) throws IOException, LavaDBException {
        Preconditions.checkState(!open && !discarded, "The instance was opened or given up.");
        InstanceFiles opened = files();
        options.setPartitionBytes(keyGroupPrefixBytes)
                .setPartitionFirst(keyGroupRange.getStartKeyGroup())
                .setPartitionLast(keyGroupRange.getEndKeyGroup());
        LavaDB db = opened.open(options, memory.lease(), imports);
        open = true;
        return new LavaInstance(
                db, memory, home, opened, keyGroupPrefixBytes, keyGroupRange, separation);
    }

    @Override
    public void discard() {
        if (open || discarded) {
            return;
        }
        discarded = true;
        memory.close();
        try {
            if (files != null) {
                files.close();
            }
        } catch (IOException e) {
            LOG.warn("Deleting {} failed; it goes when no instance uses the volume.", files, e);
        }
        try {
            home.close();
        } catch (IOException e) {
            LOG.warn(
                    "Deleting {} failed; the next process that opens the directory tries again.",
                    home.path(),
                    e);
        }
    }
}
