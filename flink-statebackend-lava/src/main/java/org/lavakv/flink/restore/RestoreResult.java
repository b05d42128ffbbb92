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
 * A restored backend's database and states, and how its checkpoints go on.
 *
 * <p>Threads: one. Ownership: whoever takes the result closes the instance.
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
     * A backend whose first checkpoint can name no earlier one's files.
     *
     * @param ttlTime of what was restored; null: nothing was
     */
    static RestoreResult fresh(
            LavaInstance instance, StateTables tables, @Nullable TtlTime ttlTime) {
        return new RestoreResult(
                instance, tables, UUID.randomUUID(), -1L, Collections.emptySortedMap(), ttlTime);
    }

    /** A backend that goes on where a checkpoint of the same key groups stood. */
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

    /** Identifies the backend in Flink's handles; nothing to do with the engine's origins. */
    public UUID backendUID() {
        return backendUid;
    }

    /** The checkpoint that was restored, when the next one may name its files, or -1. */
    public long lastCompletedCheckpointId() {
        return lastCompletedCheckpointId;
    }

    /** The time of the restored data, for {@link org.lavakv.LavaDB#continueTime}; null: none. */
    @Nullable
    public TtlTime ttlTime() {
        return ttlTime;
    }

    /** By checkpoint, the files and packs that the next one may name. */
    public SortedMap<Long, UploadedFiles> uploadedFiles() {
        return uploadedFiles;
    }
}
