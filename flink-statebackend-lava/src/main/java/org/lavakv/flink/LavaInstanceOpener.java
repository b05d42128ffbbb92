package org.lavakv.flink;

import java.io.File;
import java.io.IOException;
import java.util.List;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.util.FileUtils;
import org.apache.flink.util.Preconditions;
import org.lavakv.DBOptions;
import org.lavakv.ImportSource;
import org.lavakv.LavaDB;
import org.lavakv.LavaDBException;
import org.lavakv.flink.engine.LavaInstance;
import org.lavakv.flink.engine.LavaInstanceFactory;
import org.lavakv.flink.memory.SlotMemory;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Opens the database of one backend in a fresh directory, with the slot's memory.
 *
 * <p>Threads: one thread.
 */
final class LavaInstanceOpener implements LavaInstanceFactory {

    private static final Logger LOG = LoggerFactory.getLogger(LavaInstanceOpener.class);

    private final File baseDirectory;
    private final DBOptions options;
    private final long separationBytes;
    private final KeyGroupRange keyGroupRange;
    private final int keyGroupPrefixBytes;
    private final SlotMemory memory;
    private boolean open;
    private boolean discarded;

    /**
     * @param baseDirectory does not exist yet; this owns it
     * @param separationBytes from which size on values go to value files; 0: never
     * @param memory this owns it, and hands it on to the instance
     */
    LavaInstanceOpener(
            File baseDirectory,
            DBOptions options,
            long separationBytes,
            KeyGroupRange keyGroupRange,
            int keyGroupPrefixBytes,
            SlotMemory memory) {
        this.baseDirectory = baseDirectory;
        this.options = options;
        this.separationBytes = separationBytes;
        this.keyGroupRange = keyGroupRange;
        this.keyGroupPrefixBytes = keyGroupPrefixBytes;
        this.memory = memory;
    }

    @Override
    public File directory() throws IOException {
        File directory = new File(baseDirectory, "db");
        if (!directory.isDirectory() && !directory.mkdirs()) {
            throw new IOException(
                    "The directory for the state's files cannot be created: "
                            + directory
                            + ". Check the directories of '"
                            + LavaOptions.LOCAL_DIRECTORIES.key()
                            + "'.");
        }
        return directory;
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
        File directory = directory();
        options.setPartitionBytes(keyGroupPrefixBytes)
                .setPartitionFirst(keyGroupRange.getStartKeyGroup())
                .setPartitionLast(keyGroupRange.getEndKeyGroup());
        LavaDB db = LavaDB.open(options, directory.getPath(), memory.lease(), imports);
        open = true;
        return new LavaInstance(
                db,
                memory,
                baseDirectory,
                directory,
                keyGroupPrefixBytes,
                keyGroupRange,
                separationBytes);
    }

    @Override
    public void discard() {
        if (open || discarded) {
            return;
        }
        discarded = true;
        memory.close();
        try {
            FileUtils.deleteDirectory(baseDirectory);
        } catch (IOException e) {
            LOG.warn("Deleting {} failed; delete it by hand.", baseDirectory, e);
        }
    }
}
