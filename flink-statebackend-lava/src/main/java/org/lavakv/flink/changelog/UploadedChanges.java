// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.changelog;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.runtime.state.StreamStateHandle;

/** The location of an uploaded set of changes. Threads: immutable. Units: bytes. */
final class UploadedChanges {
    final StreamStateHandle file;
    final long offset;

    /** Size of the set and of its segments' files. */
    final long bytes;

    /** The files of segments that contain changes of the set: one for each of its parts. */
    final List<ChangelogSegment> segments;

    /** A segment's file, which belongs to this set alone. Threads: immutable. */
    static final class ChangelogSegment {
        final StreamStateHandle file;
        final ChangeSet.Part part;

        ChangelogSegment(StreamStateHandle file, ChangeSet.Part part) {
            this.file = file;
            this.part = part;
        }
    }

    UploadedChanges(
            StreamStateHandle file, long offset, long bytes, List<ChangelogSegment> segments) {
        this.file = file;
        this.offset = offset;
        this.bytes = bytes;
        this.segments = segments;
    }

    /** The set's file and the segments' files, each once. */
    Set<StreamStateHandle> files() {
        Set<StreamStateHandle> files = new LinkedHashSet<>();
        files.add(file);
        segments.forEach(segment -> files.add(segment.file));
        return files;
    }

    /** The files and offsets as a checkpoint names them: the set, then each of its parts. */
    List<Tuple2<StreamStateHandle, Long>> locations() {
        List<Tuple2<StreamStateHandle, Long>> locations = new ArrayList<>();
        locations.add(Tuple2.of(file, offset));
        segments.forEach(segment -> locations.add(Tuple2.of(segment.file, segment.part.offset)));
        return locations;
    }
}
