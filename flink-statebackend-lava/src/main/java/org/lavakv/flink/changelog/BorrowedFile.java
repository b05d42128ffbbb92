package org.lavakv.flink.changelog;

import java.io.IOException;
import java.util.Objects;
import java.util.Optional;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.core.fs.Path;
import org.apache.flink.runtime.state.PhysicalStateHandleID;
import org.apache.flink.runtime.state.StreamStateHandle;

/**
 * A file of the changelog, as what a TaskManager keeps for its own recovery names it: not its to
 * delete. Threads: immutable.
 */
final class BorrowedFile implements StreamStateHandle {
    private static final long serialVersionUID = 1L;

    private final StreamStateHandle file;

    BorrowedFile(StreamStateHandle file) {
        this.file = file;
    }

    @Override
    public FSDataInputStream openInputStream() throws IOException {
        return file.openInputStream();
    }

    @Override
    public Optional<byte[]> asBytesIfInMemory() {
        return file.asBytesIfInMemory();
    }

    @Override
    public Optional<Path> maybeGetPath() {
        return file.maybeGetPath();
    }

    @Override
    public PhysicalStateHandleID getStreamStateHandleID() {
        return file.getStreamStateHandleID();
    }

    @Override
    public void discardState() {}

    @Override
    public long getStateSize() {
        return file.getStateSize();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof BorrowedFile && file.equals(((BorrowedFile) other).file);
    }

    @Override
    public int hashCode() {
        return Objects.hash(file);
    }

    @Override
    public String toString() {
        return file.toString();
    }
}
