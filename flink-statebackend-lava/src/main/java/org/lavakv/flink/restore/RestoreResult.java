// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.restore;

import java.util.Collections;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.UUID;
import javax.annotation.Nullable;
import org.lavakv.TtlTime;
import org.lavakv.flink.checkpoint.UploadedFiles;
import org.lavakv.flink.engine.LavaInstance;
import org.lavakv.flink.engine.StateTables;

/**
 * A restored backend's database and states, and the information needed to continue its checkpoints.
 *
 * <p>Threads: one. Ownership: the caller closes the instance.
 */
public final class RestoreResult {

    private final LavaInstance instance;
    private final StateTables tables;
    private final UUID backendUid;
    private final long lastCompletedCheckpointId;
    private final SortedMap<Long, UploadedFiles> uploadedFiles;
    @Nullable private final TtlTime ttlTime;

    private RestoreResult(
            LavaInstance instance,
            StateTables tables,
            UUID backendUid,
            long lastCompletedCheckpointId,
            SortedMap<Long, UploadedFiles> uploadedFiles,
            @Nullable TtlTime ttlTime) {
        this.instance = instance;
        this.tables = tables;
        this.backendUid = backendUid;
        this.lastCompletedCheckpointId = lastCompletedCheckpointId;
        this.uploadedFiles = uploadedFiles;
        this.ttlTime = ttlTime;
    }

    /**
     * A backend whose first checkpoint cannot name files of earlier ones.
     *
     * @param ttlTime the time of the restored data; null if nothing was restored
     */
    static RestoreResult fresh(
            LavaInstance instance, StateTables tables, @Nullable TtlTime ttlTime) {
        return new RestoreResult(
                instance, tables, UUID.randomUUID(), -1L, Collections.emptySortedMap(), ttlTime);
    }

    /** A backend that continues from a checkpoint of the same key groups. */
    static RestoreResult continued(
            LavaInstance instance,
            StateTables tables,
            UUID backendUid,
            long checkpointId,
            UploadedFiles files,
            TtlTime ttlTime) {
        TreeMap<Long, UploadedFiles> uploaded = new TreeMap<>();
        uploaded.put(checkpointId, files);
        return new RestoreResult(instance, tables, backendUid, checkpointId, uploaded, ttlTime);
    }

    public LavaInstance instance() {
        return instance;
    }

    /** The restored states; empty for a new backend. */
    public StateTables tables() {
        return tables;
    }

    /** Identifies the backend in Flink's handles; unrelated to the engine's origins. */
    public UUID backendUID() {
        return backendUid;
    }

    /** The restored checkpoint if the next one may name its files, or -1. */
    public long lastCompletedCheckpointId() {
        return lastCompletedCheckpointId;
    }

    /**
     * The time of the restored data, for {@link org.lavakv.LavaDB#continueTime}; null without data.
     */
    @Nullable
    public TtlTime ttlTime() {
        return ttlTime;
    }

    /** By checkpoint, the files and packs that the next checkpoint may name. */
    public SortedMap<Long, UploadedFiles> uploadedFiles() {
        return uploadedFiles;
    }
}
