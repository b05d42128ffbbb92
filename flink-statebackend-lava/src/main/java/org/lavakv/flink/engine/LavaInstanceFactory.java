package org.lavakv.flink.engine;

import java.io.File;
import java.io.IOException;
import java.util.List;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.lavakv.ImportSource;
import org.lavakv.LavaDBException;

/**
 * Opens the one database of a keyed state backend. A restore first puts the predecessors' files
 * into {@link #directory} and then opens with them as imports.
 *
 * <p>Threads: one thread. Ownership: what {@link #open} returns is the caller's to close; until
 * then the factory owns the directory, and {@link #discard} deletes it.
 */
public interface LavaInstanceFactory {

    /**
     * The database's directory: exists and is empty until files are put there. {@link #open} opens
     * the database in it.
     */
    File directory() throws IOException;

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
     * Deletes what is in the directory and gives the lease back, unless {@link #open} succeeded
     * (then the instance owns both). For failed restores. Idempotent.
     */
    void discard();
}
