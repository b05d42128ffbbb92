package org.lavakv.flink.snapshot;

import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.apache.flink.runtime.checkpoint.filemerging.FileMergingSnapshotManager;
import org.apache.flink.runtime.state.IncrementalKeyedStateHandle.HandleAndLocalPath;
import org.apache.flink.runtime.state.PlaceholderStreamStateHandle;
import org.apache.flink.runtime.state.StreamStateHandle;

/**
 * Which files and packs each checkpoint uploaded, from the last completed one on: what the next
 * checkpoint may name instead of uploading it again.
 *
 * <p>Only files and packs of the last completed checkpoint count. One that was uploaded by a
 * checkpoint that is not confirmed yet may be deleted at any moment (FLINK-25395), so it is
 * uploaded again under a new name. And once a later checkpoint did without a file or pack, because
 * it uploaded a file, or what was left in a pack, again, the older name is of no use any more: the
 * JobManager deletes it when it completes that later checkpoint, which this side may not have heard
 * of yet.
 *
 * <p>Threads: any.
 */
final class UploadHistory {

    private final TreeMap<Long, UploadedFiles> uploads;
    private long lastCompleted;

    UploadHistory(SortedMap<Long, UploadedFiles> uploads, long lastCompleted) {
        this.uploads = new TreeMap<>(uploads);
        this.lastCompleted = lastCompleted;
    }

    /** A view for a checkpoint that begins now; later calls do not change it. */
    synchronized Base base() {
        return new Base(lastCompleted, new TreeMap<>(uploads.tailMap(lastCompleted, true)));
    }

    /** A checkpoint that may serve as a base has been written. */
    synchronized void uploaded(long checkpointId, UploadedFiles files) {
        uploads.put(checkpointId, files);
    }

    /** Ids that were never uploaded here, as those of savepoints, change nothing. */
    synchronized void completed(long checkpointId) {
        if (checkpointId > lastCompleted && uploads.containsKey(checkpointId)) {
            uploads.headMap(checkpointId, false).clear();
            lastCompleted = checkpointId;
        }
    }

    synchronized void aborted(long checkpointId) {
        uploads.remove(checkpointId);
    }

    /** What one checkpoint may reuse. */
    static final class Base {

        /** Nothing may be reused. */
        static final Base NONE = new Base(-1, Collections.emptySortedMap());

        private final long completed;
        private final SortedMap<Long, UploadedFiles> uploads;

        private Base(long completed, SortedMap<Long, UploadedFiles> uploads) {
            this.completed = completed;
            this.uploads = uploads;
        }

        /**
         * By the name of a file or pack, a stand-in for each handle that the JobManager knows
         * already, and will keep for whoever names it.
         */
        Map<String, PlaceholderStreamStateHandle> reusable() {
            Map<String, PlaceholderStreamStateHandle> handles = new HashMap<>();
            UploadedFiles confirmed = uploads.get(completed);
            if (confirmed == null) {
                return handles;
            }
            for (HandleAndLocalPath file : confirmed.handles()) {
                handles.put(file.getLocalPath(), placeholder(file.getHandle()));
            }
            for (UploadedFiles later : uploads.tailMap(completed + 1).values()) {
                handles.keySet().retainAll(later.reused());
            }
            return handles;
        }

        /** Where files lie in packs, also in ones that are not reusable. */
        PackedFiles packed() {
            UploadedFiles confirmed = uploads.get(completed);
            return confirmed == null ? PackedFiles.NONE : confirmed.packed();
        }

        private static PlaceholderStreamStateHandle placeholder(StreamStateHandle handle) {
            return new PlaceholderStreamStateHandle(
                    handle.getStreamStateHandleID(),
                    handle.getStateSize(),
                    FileMergingSnapshotManager.isFileMergingHandle(handle));
        }
    }
}
