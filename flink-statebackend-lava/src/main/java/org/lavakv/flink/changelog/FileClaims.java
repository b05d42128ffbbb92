package org.lavakv.flink.changelog;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
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

    /** These sets are in new files. */
    synchronized void claim(List<UploadedChanges> sets) {
        for (UploadedChanges set : sets) {
            set.files()
                    .forEach(file -> claims.merge(file.getStreamStateHandleID(), 1, Integer::sum));
        }
    }

    /** The JobManager has a checkpoint with this set. */
    synchronized void confirm(UploadedChanges set) {
        set.files().forEach(file -> claims.remove(file.getStreamStateHandleID()));
    }

    /** A set is not needed any more. */
    void release(UploadedChanges set) {
        set.files().forEach(this::release);
    }

    private void release(StreamStateHandle file) {
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

    /** Deletes the files of sets that nobody knows of. Blocks. */
    static void deleteNow(List<UploadedChanges> sets) {
        Set<StreamStateHandle> files = new HashSet<>();
        sets.forEach(set -> files.addAll(set.files()));
        files.forEach(FileClaims::deleteNow);
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
