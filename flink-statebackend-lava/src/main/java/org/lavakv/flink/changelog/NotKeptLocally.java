// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.changelog;

import java.io.IOException;
import java.util.Optional;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.core.fs.Path;
import org.apache.flink.runtime.state.PhysicalStateHandleID;
import org.apache.flink.runtime.state.StreamStateHandle;

/**
 * Stands for the changes in a TaskManager's local copy of a checkpoint. A restore from the local
 * copy fails at this object, and then uses the checkpoint itself.
 *
 * <p>Flink assembles the local copy from the last local copy of the state and the changes since
 * then. The copy of the state does not exist after a recovery or when the local disk was full.
 * Flink does not notice that part of the copy is missing and restores the rest; the changes by
 * themselves do not show that the state is missing.
 *
 * <p>Threads: immutable. Java serialization writes this class into the TaskManager's local copy, so
 * its name and package must not change.
 */
final class NotKeptLocally implements StreamStateHandle {
    private static final long serialVersionUID = 1L;

    @Override
    public FSDataInputStream openInputStream() throws IOException {
        throw new IOException(
                "Under the changelog, state is not restored from the TaskManager's local copy,"
                        + " because the copy may be incomplete. The checkpoint itself is tried"
                        + " next.");
    }

    @Override
    public Optional<byte[]> asBytesIfInMemory() {
        return Optional.empty();
    }

    @Override
    public Optional<Path> maybeGetPath() {
        return Optional.empty();
    }

    @Override
    public PhysicalStateHandleID getStreamStateHandleID() {
        return new PhysicalStateHandleID(getClass().getName());
    }

    @Override
    public void discardState() {}

    @Override
    public long getStateSize() {
        return 0;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof NotKeptLocally;
    }

    @Override
    public int hashCode() {
        return getClass().hashCode();
    }
}
