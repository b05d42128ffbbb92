package org.lavakv.flink.snapshot;

import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import javax.annotation.Nullable;
import org.apache.flink.runtime.checkpoint.filemerging.FileMergingSnapshotManager;
import org.apache.flink.runtime.state.IncrementalKeyedStateHandle.HandleAndLocalPath;
import org.apache.flink.runtime.state.PlaceholderStreamStateHandle;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.lavakv.flink.checkpoint.PackedFiles;
import org.lavakv.flink.checkpoint.UploadedFiles;

/**
 * Which files and packs each checkpoint uploaded, from the last completed one on: what the next
 * checkpoint may name instead of uploading it again.
 *
 * <p>Only files and packs of the last completed checkpoint count. One that was uploaded by a
 * checkpoint that is not confirmed yet may be deleted at any moment (FLINK-25395), so it is
 * uploaded again under a new name. And once a later checkpoint does without a file or pack, because
 * it has the file, or what was left in the pack, under another name, the older name is of no use
 * any more: the JobManager deletes it when it completes that later checkpoint, which this side may
 * not have heard of yet. That holds, too, for one that is still under way and may not name the file
 * itself, and will upload it again. Whether one under way still names a pack need not be known: of
 * a pack that is half dead for it, a later one has no more.
 *
 * <p>Threads: any.
 */
final class UploadHistory {

    /**
     * What was restored comes before all that is written: under the changelog ids begin anew, since
     * materializations have ids of their own.
     */
    private static final long RESTORED = -1;

    private final TreeMap<Long, UploadedFiles> uploads = new TreeMap<>();

    /** What may be named by checkpoints that have begun and not been written yet. */
    private final TreeMap<Long, Base> underWay = new TreeMap<>();

    private long lastCompleted = RESTORED;

    /**
     * @param uploads of checkpoints before this run
     * @param restored the one of them that it began with, or any other number
     */
    UploadHistory(SortedMap<Long, UploadedFiles> uploads, long restored) {
        UploadedFiles files = uploads.get(restored);
        if (files != null) {
            this.uploads.put(RESTORED, files);
        }
    }

    /** A view for a checkpoint that begins now; later calls do not change it. */
    synchronized Base base() {
        return new Base(
                uploads.get(lastCompleted),
                List.copyOf(uploads.tailMap(lastCompleted, false).values()),
                List.copyOf(underWay.tailMap(lastCompleted, false).values()));
    }

    /** A checkpoint that may serve as a base has begun, and names files of that base only. */
    synchronized void began(long checkpointId, Base base) {
        underWay.put(checkpointId, base);
    }

    /** A checkpoint that may serve as a base has been written. */
    synchronized void uploaded(long checkpointId, UploadedFiles files) {
        underWay.remove(checkpointId);
        uploads.put(checkpointId, files);
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
        static final Base NONE = new Base(null, List.of(), List.of());

        @Nullable private final UploadedFiles confirmed;
        private List<UploadedFiles> later;
        private List<Base> underWay;
        @Nullable private Map<String, PlaceholderStreamStateHandle> reusable;

        private Base(
                @Nullable UploadedFiles confirmed, List<UploadedFiles> later, List<Base> underWay) {
            this.confirmed = confirmed;
            this.later = later;
            this.underWay = underWay;
        }

        /**
         * By the name of a file or pack, a stand-in for each handle that the JobManager knows
         * already, and will keep for whoever names it.
         */
        synchronized Map<String, PlaceholderStreamStateHandle> reusable() {
            if (reusable == null) {
                reusable = find();
                // Or each base would keep all before it.
                later = List.of();
                underWay = List.of();
            }
            return reusable;
        }

        private Map<String, PlaceholderStreamStateHandle> find() {
            if (confirmed == null) {
                return Collections.emptyMap();
            }
            Map<String, PlaceholderStreamStateHandle> handles = new HashMap<>();
            for (HandleAndLocalPath file : confirmed.handles()) {
                handles.put(file.getLocalPath(), placeholder(file.getHandle()));
            }
            for (UploadedFiles other : later) {
                retainNamed(handles, byName(other.handles()));
            }
            for (Base other : underWay) {
                retainNamed(handles, other.reusable());
            }
            return handles;
        }

        private static Map<String, StreamStateHandle> byName(Collection<HandleAndLocalPath> files) {
            Map<String, StreamStateHandle> handles = new HashMap<>();
            files.forEach(file -> handles.put(file.getLocalPath(), file.getHandle()));
            return handles;
        }

        /** Only what is the same there. */
        private static void retainNamed(
                Map<String, PlaceholderStreamStateHandle> handles,
                Map<String, ? extends StreamStateHandle> named) {
            handles.entrySet().removeIf(file -> !isSame(file.getValue(), named.get(file.getKey())));
        }

        private static boolean isSame(StreamStateHandle a, @Nullable StreamStateHandle b) {
            return b != null && a.getStreamStateHandleID().equals(b.getStreamStateHandleID());
        }

        /** Where files lie in packs, also in ones that are not reusable. */
        PackedFiles packed() {
            return confirmed == null ? PackedFiles.NONE : confirmed.packed();
        }

        static PlaceholderStreamStateHandle placeholder(StreamStateHandle handle) {
            return new PlaceholderStreamStateHandle(
                    handle.getStreamStateHandleID(),
                    handle.getStateSize(),
                    FileMergingSnapshotManager.isFileMergingHandle(handle));
        }
    }
}
