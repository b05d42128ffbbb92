package org.lavakv.flink.changelog;

import java.io.IOException;
import java.util.Optional;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.core.fs.Path;
import org.apache.flink.runtime.state.PhysicalStateHandleID;
import org.apache.flink.runtime.state.StreamStateHandle;

/**
 * Stands for the changes in what a TaskManager keeps of a checkpoint for its own recovery, and has
 * that recovery go to the checkpoint itself.
 *
 * <p>Flink puts together what is kept from the state's last copy, which there is none of after a
 * recovery or when the local disk was full, and from the changes since. It does not notice that a
 * part is missing, and restores what is there; the changes alone know nothing of the rest.
 *
 * <p>Threads: immutable. Java-serialized into what a TaskManager stores for its recovery, so that
 * the class keeps its name and its package.
 */
final class NotKeptLocally implements StreamStateHandle {
    private static final long serialVersionUID = 1L;

    @Override
    public FSDataInputStream openInputStream() throws IOException {
        throw new IOException(
                "Under the changelog state is not restored from what the TaskManager has kept,"
                        + " which may not be all of it; the checkpoint itself is tried next.");
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
