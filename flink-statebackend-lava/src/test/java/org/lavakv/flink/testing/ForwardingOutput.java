// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.testing;

import java.io.IOException;
import org.apache.flink.runtime.state.CheckpointStateOutputStream;
import org.apache.flink.runtime.state.StreamStateHandle;

/** A stream of a checkpoint that forwards all calls; tests override some of them. */
public class ForwardingOutput extends CheckpointStateOutputStream {

    protected final CheckpointStateOutputStream out;

    public ForwardingOutput(CheckpointStateOutputStream out) {
        this.out = out;
    }

    @Override
    public void write(int b) throws IOException {
        out.write(b);
    }

    @Override
    public void write(byte[] from, int offset, int length) throws IOException {
        out.write(from, offset, length);
    }

    @Override
    public StreamStateHandle closeAndGetHandle() throws IOException {
        return out.closeAndGetHandle();
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
    public void close() throws IOException {
        out.close();
    }
}
