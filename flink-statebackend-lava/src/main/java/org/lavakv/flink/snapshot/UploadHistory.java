package org.lavakv.flink.snapshot;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;
import javax.annotation.Nullable;
import org.apache.flink.runtime.checkpoint.filemerging.FileMergingSnapshotManager;
import org.apache.flink.runtime.state.IncrementalKeyedStateHandle.HandleAndLocalPath;
import org.apache.flink.runtime.state.PlaceholderStreamStateHandle;
import org.apache.flink.runtime.state.StreamStateHandle;

/**
 * Which files each checkpoint uploaded, from the last completed one on: what the next checkpoint
 * may name instead of uploading it again.
 *
 * <p>Only files of the last completed checkpoint count. One that was uploaded by a checkpoint that
 * is not confirmed yet may be deleted at any moment (FLINK-25395), so it is uploaded again under a
 * new name. And once a later checkpoint has a file under another name, the older name is of no use
 * any more: the JobManager deletes it when it completes that later checkpoint, which this side may
 * not have heard of yet. That holds, too, for one that is still under way and may not name the file
 * itself, and will upload it again.
 *
 * <p>Threads: any.
 */
final class UploadHistory {

    private final TreeMap<Long, Collection<HandleAndLocalPath>> uploads;

    /** What may be named by checkpoints that have begun and not been written yet. */
    private final TreeMap<Long, Base> underWay = new TreeMap<>();

    private long lastCompleted;

    UploadHistory(SortedMap<Long, Collection<HandleAndLocalPath>> uploads, long lastCompleted) {
        this.uploads = new TreeMap<>(uploads);
        this.lastCompleted = lastCompleted;
    }

    /** A view for a checkpoint that begins now; later calls do not change it. */
    synchronized Base base() {
        return new Base(
                lastCompleted,
                new TreeMap<>(uploads.tailMap(lastCompleted, true)),
                new ArrayList<>(underWay.tailMap(lastCompleted, false).values()));
    }

    /** A checkpoint that may serve as a base has begun, and names files of that base only. */
    synchronized void began(long checkpointId, Base base) {
        underWay.put(checkpointId, base);
    }

    /** A checkpoint that may serve as a base has been written. */
    synchronized void uploaded(long checkpointId, List<HandleAndLocalPath> files) {
        underWay.remove(checkpointId);
        // Copies: in a local cluster the JobManager puts its own handles into the given ones.
        uploads.put(
                checkpointId,
                files.stream()
                        .map(file -> HandleAndLocalPath.of(file.getHandle(), file.getLocalPath()))
                        .collect(Collectors.toUnmodifiableList()));
    }

    /** Ids that were never uploaded here, as those of savepoints, change nothing. */
    synchronized void completed(long checkpointId) {
        if (checkpointId > lastCompleted && uploads.containsKey(checkpointId)) {
            uploads.headMap(checkpointId, false).clear();
            underWay.headMap(checkpointId, false).clear();
            lastCompleted = checkpointId;
        }
    }

    /** It will not be completed. */
    synchronized void aborted(long checkpointId) {
        uploads.remove(checkpointId);
        underWay.remove(checkpointId);
    }

    /** What one checkpoint may reuse. Threads: any. */
    static final class Base {

        /** Nothing may be reused. */
        static final Base NONE = new Base(-1, Collections.emptySortedMap(), List.of());

        private final long completed;
        private SortedMap<Long, Collection<HandleAndLocalPath>> uploads;
        private List<Base> underWay;
        @Nullable private Map<String, PlaceholderStreamStateHandle> reusable;

        private Base(
                long completed,
                SortedMap<Long, Collection<HandleAndLocalPath>> uploads,
                List<Base> underWay) {
            this.completed = completed;
            this.uploads = uploads;
            this.underWay = underWay;
        }

        /** By file name, a stand-in for each handle that the JobManager knows already. */
        synchronized Map<String, PlaceholderStreamStateHandle> reusable() {
            if (reusable == null) {
                reusable = find();
                // Or each base would keep all before it.
                uploads = Collections.emptySortedMap();
                underWay = List.of();
            }
            return reusable;
        }

        private Map<String, PlaceholderStreamStateHandle> find() {
            Map<String, PlaceholderStreamStateHandle> files = new HashMap<>();
            Collection<HandleAndLocalPath> confirmed = uploads.get(completed);
            if (confirmed == null) {
                return files;
            }
            for (HandleAndLocalPath file : confirmed) {
                files.put(file.getLocalPath(), placeholder(file.getHandle()));
            }
            uploads.tailMap(completed + 1).values().stream()
                    .flatMap(Collection::stream)
                    .filter(file -> !isSame(file.getHandle(), files.get(file.getLocalPath())))
                    .forEach(file -> files.remove(file.getLocalPath()));
            for (Base other : underWay) {
                Map<String, PlaceholderStreamStateHandle> named = other.reusable();
                files.entrySet()
                        .removeIf(file -> !isSame(file.getValue(), named.get(file.getKey())));
            }
            return files;
        }

        private static boolean isSame(StreamStateHandle a, @Nullable StreamStateHandle b) {
            return b != null && a.getStreamStateHandleID().equals(b.getStreamStateHandleID());
        }

        private static PlaceholderStreamStateHandle placeholder(StreamStateHandle handle) {
            return new PlaceholderStreamStateHandle(
                    handle.getStreamStateHandleID(),
                    handle.getStateSize(),
                    FileMergingSnapshotManager.isFileMergingHandle(handle));
        }
    }
}
