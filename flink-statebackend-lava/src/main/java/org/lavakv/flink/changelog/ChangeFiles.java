// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.changelog;

import java.io.BufferedOutputStream;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.apache.flink.core.fs.FileSystem;
import org.apache.flink.core.fs.Path;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.runtime.state.filesystem.FileStateHandle;
import org.apache.flink.util.IOUtils;

/** Writes the files of one job's changelog. Threads: any. */
class ChangeFiles {
    private static final int BUFFER_BYTES = 64 << 10;

    private final FileSystem fileSystem;
    private final Path directory;
    private final boolean compress;

    /**
     * @throws IOException when there is no file system for the directory
     */
    ChangeFiles(ChangelogSettings settings) throws IOException {
        this.directory = settings.directory;
        this.compress = settings.compress;
        this.fileSystem = directory.getFileSystem();
    }

    /**
     * Writes a file with these sets, in their order, and one file for each part of a segment that
     * contains changes of the sets.
     *
     * @return the location of each set
     * @throws IOException naming the file; no file is left behind
     */
    List<UploadedChanges> write(List<ChangeSet> sets) throws IOException {
        List<StreamStateHandle> written = new ArrayList<>();
        boolean whole = false;
        try {
            List<List<UploadedChanges.ChangelogSegment>> segments = new ArrayList<>();
            for (ChangeSet set : sets) {
                segments.add(writeChangelogSegments(set, written));
            }
            List<UploadedChanges> uploaded = writeSets(sets, segments, written);
            whole = true;
            return uploaded;
        } finally {
            if (!whole) {
                written.forEach(FileClaims::deleteNow);
            }
        }
    }

    /** Content to be written. */
    private interface Content {
        void writeTo(OutputStream out) throws IOException;
    }

    private List<UploadedChanges.ChangelogSegment> writeChangelogSegments(
            ChangeSet set, List<StreamStateHandle> written) throws IOException {
        List<UploadedChanges.ChangelogSegment> segments = new ArrayList<>();
        Map<Long, StreamStateHandle> files = new HashMap<>();
        for (ChangeSet.Part part : set.parts()) {
            StreamStateHandle file = files.get(part.segment);
            if (file == null) {
                file =
                        writeFile(
                                out -> {
                                    try (InputStream in = set.log().open(part.segment)) {
                                        in.transferTo(out);
                                    }
                                });
                written.add(file);
                files.put(part.segment, file);
            }
            segments.add(new UploadedChanges.ChangelogSegment(file, part));
        }
        return segments;
    }

    private List<UploadedChanges> writeSets(
            List<ChangeSet> sets,
            List<List<UploadedChanges.ChangelogSegment>> segments,
            List<StreamStateHandle> written)
            throws IOException {
        List<Long> ends = new ArrayList<>();
        StreamStateHandle file =
                writeFile(
                        out -> {
                            long end = 0;
                            for (ChangeSet set : sets) {
                                end += ChangeFormat.write(set, compress, out);
                                ends.add(end);
                            }
                        });
        written.add(file);
        List<UploadedChanges> uploaded = new ArrayList<>();
        long begin = 0;
        for (int i = 0; i < sets.size(); i++) {
            long bytes =
                    ends.get(i)
                            - begin
                            + segments.get(i).stream()
                                    .map(segment -> segment.file)
                                    .distinct()
                                    .mapToLong(StreamStateHandle::getStateSize)
                                    .sum();
            uploaded.add(new UploadedChanges(file, begin, bytes, segments.get(i)));
            begin = ends.get(i);
        }
        return uploaded;
    }

    private StreamStateHandle writeFile(Content content) throws IOException {
        Path path = new Path(directory, UUID.randomUUID().toString());
        boolean whole = false;
        CountingOutput out = null;
        try {
            out =
                    new CountingOutput(
                            new BufferedOutputStream(
                                    fileSystem.create(path, FileSystem.WriteMode.NO_OVERWRITE),
                                    BUFFER_BYTES));
            content.writeTo(out);
            out.close();
            whole = true;
        } catch (IOException e) {
            throw new IOException("Uploading changes to " + path + " failed: " + e.getMessage(), e);
        } finally {
            if (!whole) {
                IOUtils.closeQuietly(out);
                IOUtils.closeQuietly(() -> fileSystem.delete(path, false));
            }
        }
        return new FileStateHandle(path, out.bytes);
    }

    private static final class CountingOutput extends FilterOutputStream {
        private long bytes;

        CountingOutput(OutputStream out) {
            super(out);
        }

        @Override
        public void write(int one) throws IOException {
            out.write(one);
            bytes++;
        }

        @Override
        public void write(byte[] from, int off, int len) throws IOException {
            out.write(from, off, len);
            bytes += len;
        }
    }
}
