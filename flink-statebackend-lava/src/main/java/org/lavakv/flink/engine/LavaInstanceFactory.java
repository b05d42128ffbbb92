package org.lavakv.flink.engine;

import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.lavakv.ImportSource;
import org.lavakv.LavaDBException;
import org.lavakv.flink.storage.InstanceFiles;
import org.lavakv.flink.storage.KeptFiles;

/**
 * Opens the one database of a keyed state backend. A restore first puts the predecessors' files
 * into {@link #files} and then opens with them as imports.
 *
 * <p>Threads: one thread. Ownership: what {@link #open} returns is the caller's to close; until
 * then the factory owns directory and files, and {@link #discard} deletes both.
 */
public interface LavaInstanceFactory {

    /** The instance's own ordinary directory, which exists; others put temporary files into it. */
    File directory() throws IOException;

    /**
     * Where the database's files are to be; none until they are put there. {@link #open} opens the
     * database on them.
     */
    InstanceFiles files() throws IOException;

    /** The files that an instance of before kept for a directory of local recovery. */
    KeptFiles kept(Path directory) throws IOException;

    /** The key groups that the instance will hold. */
    KeyGroupRange keyGroupRange();

    /** Leading bytes of every key that name the key group: 1 or 2. */
    int keyGroupPrefixBytes();

    /**
     * Opens the database; may succeed once.
     *
     * @param imports predecessors to adopt, or empty for a new database
     */
    LavaInstance open(List<ImportSource> imports) throws IOException, LavaDBException;

    /**
     * Deletes directory and files and gives the lease back, unless {@link #open} succeeded (then
     * the instance owns both). For failed restores. Idempotent.
     */
    void discard();
}
