package org.lavakv.flink.changelog;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.apache.flink.runtime.state.PhysicalStateHandleID;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The files that belong to the sets of changes in them, until the JobManager has a checkpoint that
 * names them, and owns them. One whose sets nobody needs before is deleted.
 *
 * <p>Threads: any.
 */
final class FileClaims {
    private static final Logger LOG = LoggerFactory.getLogger(FileClaims.class);

    private final Map<PhysicalStateHandleID, Integer> claims = new HashMap<>();
    private final Executor deletions;

    /**
     * @param deletions may block; after it refused, files stay
     */
    FileClaims(Executor deletions) {
        this.deletions = deletions;
    }

    /** A new file. sets: how many are in it, at least one. */
    synchronized void claim(StreamStateHandle file, int sets) {
        claims.put(file.getStreamStateHandleID(), sets);
    }

    /** The JobManager has a checkpoint with it. */
    synchronized void confirm(StreamStateHandle file) {
        claims.remove(file.getStreamStateHandleID());
    }

    /** One of its sets is not needed any more. */
    void release(StreamStateHandle file) {
        synchronized (this) {
            Integer left = claims.computeIfPresent(file.getStreamStateHandleID(), (id, n) -> n - 1);
            if (left == null || left > 0) {
                return;
            }
            claims.remove(file.getStreamStateHandleID());
        }
        delete(file);
    }

    private void delete(StreamStateHandle file) {
        try {
            deletions.execute(() -> deleteNow(file));
        } catch (RejectedExecutionException e) {
            LOG.warn("A file of the changelog stays, since its storage was closed: {}", file);
        }
    }

    /** Deletes a file that nobody knows of. Blocks. */
    static void deleteNow(StreamStateHandle file) {
        try {
            file.discardState();
        } catch (Exception e) {
            LOG.warn("Cannot delete a file of the changelog: {}", file, e);
        }
    }
}
