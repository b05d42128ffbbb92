// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.changelog;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import javax.annotation.Nullable;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;
import org.apache.flink.runtime.state.changelog.StateChange;
import org.apache.flink.runtime.state.changelog.StateChangelogHandleReader;
import org.apache.flink.util.CloseableIterator;
import org.apache.flink.util.IOUtils;
import org.lavakv.flink.shared.SharedEntries;

/** Reads changes in the order in which they were appended. Threads: any, without state. */
final class LavaChangelogReader
        implements StateChangelogHandleReader<ChangelogStateHandleStreamImpl> {

    @Override
    public CloseableIterator<StateChange> getChanges(ChangelogStateHandleStreamImpl handle) {
        return new Changes(handle.getHandlesAndOffsets().iterator());
    }

    /**
     * Holds one set, or part of a segment, in memory. Keeps one file open as long as the next set
     * is in the same file.
     */
    private static final class Changes implements CloseableIterator<StateChange> {
        private final Iterator<Tuple2<StreamStateHandle, Long>> sets;
        private CloseableIterator<StateChange> current = CloseableIterator.empty();
        @Nullable private StreamStateHandle file;
        @Nullable private FSDataInputStream in;

        Changes(Iterator<Tuple2<StreamStateHandle, Long>> sets) {
            this.sets = sets;
        }

        @Override
        public boolean hasNext() {
            while (!current.hasNext() && sets.hasNext()) {
                Tuple2<StreamStateHandle, Long> next = sets.next();
                try {
                    current = read(next.f0, next.f1);
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            }
            return current.hasNext();
        }

        @Override
        public StateChange next() {
            if (!hasNext()) {
                throw new NoSuchElementException();
            }
            return current.next();
        }

        private CloseableIterator<StateChange> read(StreamStateHandle next, long offset)
                throws IOException {
            String where = open(next, offset);
            ChangeReader set = ChangeFormat.read(in, next.getStateSize() - offset, where);
            List<StreamStateHandle> segments = new ArrayList<>();
            for (ChangeSet.Part part : set.parts()) {
                if (!sets.hasNext()) {
                    throw ChangeFormat.damaged(where, "the checkpoint does not name its segments");
                }
                Tuple2<StreamStateHandle, Long> segment = sets.next();
                if (segment.f1 != part.offset) {
                    throw ChangeFormat.damaged(where, "the checkpoint names another segment");
                }
                segments.add(segment.f0);
            }
            set.setChangelogSegments((index, part) -> readPart(segments.get(index), part));
            return set;
        }

        private List<byte[]> readPart(StreamStateHandle segment, ChangeSet.Part part)
                throws IOException {
            String where = open(segment, part.offset);
            if (part.bytes() > segment.getStateSize() - part.offset
                    || part.bytes() > Integer.MAX_VALUE) {
                throw ChangeFormat.damaged(
                        where, "the file has fewer than " + part.bytes() + " bytes there");
            }
            byte[] bytes = in.readNBytes((int) part.bytes());
            if (bytes.length < part.bytes()) {
                throw ChangeFormat.damaged(where, "the file ends within its changes");
            }
            try {
                return SharedEntries.decode(part.file, part.offset, bytes);
            } catch (IOException e) {
                throw ChangeFormat.damaged(where, e.getMessage());
            }
        }

        /** Opens the file, and returns its path and the offset, for messages. */
        private String open(StreamStateHandle next, long offset) throws IOException {
            if (!next.equals(file)) {
                close();
                in = next.openInputStream();
                file = next;
            }
            String where =
                    next.maybeGetPath().map(Object::toString).orElseGet(next::toString)
                            + " at offset "
                            + offset;
            if (offset < 0 || offset > next.getStateSize()) {
                throw ChangeFormat.damaged(
                        where, "the file has only " + next.getStateSize() + " bytes");
            }
            in.seek(offset);
            return where;
        }

        @Override
        public void close() {
            IOUtils.closeQuietly(in);
            in = null;
            file = null;
        }
    }
}
