// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.bench;

import java.io.IOException;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.flink.runtime.state.CheckpointStateOutputStream;
import org.apache.flink.runtime.state.CheckpointStreamFactory;
import org.apache.flink.runtime.state.CheckpointedStateScope;
import org.apache.flink.runtime.state.StreamStateHandle;

/**
 * Counts the bytes written to a checkpoint's streams, including streams that are discarded later.
 * Threads: any.
 */
final class CountingStreams implements CheckpointStreamFactory {
    private final CheckpointStreamFactory streams;
    private final AtomicLong bytes;

    /**
     * @param streams the target
     * @param bytes counter to which written bytes are added
     */
    CountingStreams(CheckpointStreamFactory streams, AtomicLong bytes) {
        this.streams = streams;
        this.bytes = bytes;
    }

    @Override
    public CheckpointStateOutputStream createCheckpointStateOutputStream(
            CheckpointedStateScope scope) throws IOException {
        return new Counting(streams.createCheckpointStateOutputStream(scope), bytes);
    }

    @Override
    public boolean canFastDuplicate(StreamStateHandle handle, CheckpointedStateScope scope)
            throws IOException {
        return streams.canFastDuplicate(handle, scope);
    }

    @Override
    public List<StreamStateHandle> duplicate(
            List<StreamStateHandle> handles, CheckpointedStateScope scope) throws IOException {
        return streams.duplicate(handles, scope);
    }

    @Override
    public void reusePreviousStateHandle(Collection<? extends StreamStateHandle> handles) {
        streams.reusePreviousStateHandle(handles);
    }

    @Override
    public boolean couldReuseStateHandle(StreamStateHandle handle) {
        return streams.couldReuseStateHandle(handle);
    }

    /** One thread at a time. */
    private static final class Counting extends CheckpointStateOutputStream {
        private final CheckpointStateOutputStream out;
        private final AtomicLong bytes;

        private Counting(CheckpointStateOutputStream out, AtomicLong bytes) {
            this.out = out;
            this.bytes = bytes;
        }

        @Override
        public void write(int b) throws IOException {
            out.write(b);
            bytes.incrementAndGet();
        }

        @Override
        public void write(byte[] from, int offset, int length) throws IOException {
            out.write(from, offset, length);
            bytes.addAndGet(length);
        }

        @Override
        public long getPos() throws IOException {
            return out.getPos();
        }

        @Override
        public void flush() throws IOException {
            out.flush();
        }

        @Override
        public void sync() throws IOException {
            out.sync();
        }

        @Override
        public StreamStateHandle closeAndGetHandle() throws IOException {
            return out.closeAndGetHandle();
        }

        @Override
        public void close() throws IOException {
            out.close();
        }
    }
}
