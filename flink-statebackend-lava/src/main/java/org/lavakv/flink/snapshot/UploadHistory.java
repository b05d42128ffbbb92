// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

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
 * Which files and packs each checkpoint uploaded, from the last completed one on. The next
 * checkpoint may name these files instead of uploading them again.
 *
 * <p>Only files and packs of the last completed checkpoint may be reused. A file uploaded by an
 * unconfirmed checkpoint may be deleted at any moment (FLINK-25395), so it is uploaded again under
 * a new name.
 *
 * <p>An older name cannot be reused once a later checkpoint omits it, either because the checkpoint
 * has the file, or the rest of the pack, under another name. The JobManager deletes the older name
 * when it completes that later checkpoint, and this side may learn of the completion late. The same
 * applies to a checkpoint that has begun: it uploads again all files that it may not name. Whether
 * a begun checkpoint still names a pack need not be known: a pack that is half dead for it is at
 * least half dead for any later one.
 *
 * <p>Threads: any.
 */
final class UploadHistory {

    /**
     * The restored checkpoint comes before all new ones: under the changelog ids start again,
     * because materializations have ids of their own.
     */
    private static final long RESTORED = -1;

    private final TreeMap<Long, UploadedFiles> uploads = new TreeMap<>();

    /** The bases of checkpoints that have begun and are not written yet. */
    private final TreeMap<Long, Base> underWay = new TreeMap<>();

    private long lastCompleted = RESTORED;

    /**
     * @param uploads the uploads of checkpoints before the opening
     * @param restored the checkpoint among them that was restored, or any other number
     */
    UploadHistory(SortedMap<Long, UploadedFiles> uploads, long restored) {
        UploadedFiles files = uploads.get(restored);
        if (files != null) {
            this.uploads.put(RESTORED, files);
        }
    }

    /** The base for a checkpoint that begins now; later calls do not change it. */
    synchronized Base base() {
        return new Base(
                uploads.get(lastCompleted),
                List.copyOf(uploads.tailMap(lastCompleted, false).values()),
                List.copyOf(underWay.tailMap(lastCompleted, false).values()));
    }

    /** A checkpoint that may become a base has begun. It names only files of the given base. */
    synchronized void began(long checkpointId, Base base) {
        underWay.put(checkpointId, base);
    }

    /** A checkpoint that may become a base has been written. */
    synchronized void uploaded(long checkpointId, UploadedFiles files) {
        underWay.remove(checkpointId);
        uploads.put(checkpointId, files);
    }

    /** Ignores ids that were never uploaded here, such as those of savepoints. */
    synchronized void completed(long checkpointId) {
        if (checkpointId > lastCompleted && uploads.containsKey(checkpointId)) {
            uploads.headMap(checkpointId, false).clear();
            underWay.headMap(checkpointId, false).clear();
            lastCompleted = checkpointId;
        }
    }

    /** The checkpoint will not be completed. */
    synchronized void aborted(long checkpointId) {
        uploads.remove(checkpointId);
        underWay.remove(checkpointId);
    }

    /** The files that one checkpoint may reuse. Threads: any. */
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
         * By the name of a file or pack, a placeholder for each handle that the JobManager already
         * knows and keeps for checkpoints that name it.
         */
        synchronized Map<String, PlaceholderStreamStateHandle> reusable() {
            if (reusable == null) {
                reusable = find();
                // Otherwise each base would keep all earlier ones alive.
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

        /** Keeps only handles that are the same there. */
        private static void retainNamed(
                Map<String, PlaceholderStreamStateHandle> handles,
                Map<String, ? extends StreamStateHandle> named) {
            handles.entrySet().removeIf(file -> !isSame(file.getValue(), named.get(file.getKey())));
        }

        private static boolean isSame(StreamStateHandle a, @Nullable StreamStateHandle b) {
            return b != null && a.getStreamStateHandleID().equals(b.getStreamStateHandleID());
        }

        /** The locations of files in packs, including packs that are not reusable. */
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
