// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

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
 * Counts how many sets of changes use each file, until the JobManager has a checkpoint that names
 * the file and owns it from then on. A file is deleted if all its sets become unnecessary before
 * that.
 *
 * <p>Threads: any.
 */
final class FileClaims {
    private static final Logger LOG = LoggerFactory.getLogger(FileClaims.class);

    private final Map<PhysicalStateHandleID, Integer> claims = new HashMap<>();
    private final Executor deletions;

    /**
     * @param deletions may block; after it has refused a task, files are left behind
     */
    FileClaims(Executor deletions) {
        this.deletions = deletions;
    }

    /** Registers sets that are in new files. */
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

    /** The set is not needed any more. */
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
            LOG.warn(
                    "A file of the changelog is not deleted, because the storage was closed: {}",
                    file);
        }
    }

    /** Deletes the files of sets that are registered nowhere. Blocks. */
    static void deleteNow(List<UploadedChanges> sets) {
        Set<StreamStateHandle> files = new HashSet<>();
        sets.forEach(set -> files.addAll(set.files()));
        files.forEach(FileClaims::deleteNow);
    }

    /** Deletes a file that is registered nowhere. Blocks. */
    static void deleteNow(StreamStateHandle file) {
        try {
            file.discardState();
        } catch (Exception e) {
            LOG.warn("Cannot delete a file of the changelog: {}", file, e);
        }
    }
}
