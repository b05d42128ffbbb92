// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.restore;

import java.io.IOException;
import java.util.Optional;
import javax.annotation.Nullable;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.core.fs.FSDataInputStreamWrapper;
import org.apache.flink.core.fs.Path;
import org.apache.flink.runtime.state.PhysicalStateHandleID;
import org.apache.flink.runtime.state.StreamStateHandle;

/**
 * A handle with buffered streams. Closing a registry ends them, so that a cancelled task does not
 * wait.
 */
final class CancellableHandle implements StreamStateHandle {

    private static final long serialVersionUID = 1L;

    private final StreamStateHandle handle;
    private final transient CloseableRegistry registry;
    @Nullable private transient FSDataInputStream opened;

    CancellableHandle(StreamStateHandle handle, CloseableRegistry registry) {
        this.handle = handle;
        this.registry = registry;
    }

    @Override
    public FSDataInputStream openInputStream() throws IOException {
        FSDataInputStream in = handle.openInputStream();
        registry.registerCloseable(in);
        opened = new BufferedInput(in);
        return new FSDataInputStreamWrapper(opened) {
            @Override
            public void close() throws IOException {
                if (registry.unregisterCloseable(in)) {
                    in.close();
                }
            }
        };
    }

    /** How far the most recently opened stream was read. */
    long position() throws IOException {
        return opened.getPos();
    }

    /** The file and how far it was read, for messages. */
    String describePosition() {
        String file =
                handle.maybeGetPath()
                        .map(Path::toString)
                        .orElseGet(() -> handle.getStreamStateHandleID().getKeyString());
        try {
            return opened == null ? file : file + " at offset " + opened.getPos();
        } catch (IOException e) {
            return file;
        }
    }

    @Override
    public Optional<byte[]> asBytesIfInMemory() {
        return handle.asBytesIfInMemory();
    }

    @Override
    public Optional<Path> maybeGetPath() {
        return handle.maybeGetPath();
    }

    @Override
    public PhysicalStateHandleID getStreamStateHandleID() {
        return handle.getStreamStateHandleID();
    }

    /** Restores discard nothing. */
    @Override
    public void discardState() {
        throw new UnsupportedOperationException("A restore never discards a checkpoint.");
    }

    @Override
    public long getStateSize() {
        return handle.getStateSize();
    }
}
