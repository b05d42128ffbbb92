package org.lavakv.flink.testing;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.core.fs.Path;
import org.apache.flink.runtime.state.IncrementalKeyedStateHandle.HandleAndLocalPath;
import org.apache.flink.runtime.state.IncrementalRemoteKeyedStateHandle;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.PhysicalStateHandleID;
import org.apache.flink.runtime.state.StreamStateHandle;

/**
 * Storage of which the shared files of checkpoints cannot be opened until they are let go, whatever
 * interrupts who tries; or not at all. Threads: any.
 */
public final class HeldStorage {

    private final Set<String> opened = new LinkedHashSet<>();
    private final Set<String> released = new HashSet<>();
    private final Set<String> away = new HashSet<>();
    private final Set<String> awayOnce = new HashSet<>();
    private boolean holds;

    /** The same checkpoint, its shared files read through this. */
    public IncrementalRemoteKeyedStateHandle hold(KeyedStateHandle handle) {
        IncrementalRemoteKeyedStateHandle checkpoint = (IncrementalRemoteKeyedStateHandle) handle;
        List<HandleAndLocalPath> shared = new ArrayList<>();
        for (HandleAndLocalPath file : checkpoint.getSharedState()) {
            shared.add(
                    HandleAndLocalPath.of(
                            new HeldHandle(this, file.getLocalPath(), file.getHandle()),
                            file.getLocalPath()));
        }
        return new IncrementalRemoteKeyedStateHandle(
                checkpoint.getBackendIdentifier(),
                checkpoint.getKeyGroupRange(),
                checkpoint.getCheckpointId(),
                shared,
                checkpoint.getPrivateState(),
                checkpoint.getMetaDataStateHandle(),
                checkpoint.getCheckpointedSize());
    }

    /** From now on files hang when they are opened. */
    public synchronized void holdAll() {
        holds = true;
        released.clear();
    }

    public synchronized void release(String name) {
        released.add(name);
        notifyAll();
    }

    public synchronized void releaseAll() {
        holds = false;
        notifyAll();
    }

    /** From now on the file cannot be opened. */
    public synchronized void takeAway(String name) {
        away.add(name);
    }

    /** Who opens the file next cannot, nor can who hangs at it now. */
    public synchronized void takeAwayOnce(String name) {
        awayOnce.add(name);
    }

    public synchronized void giveBack() {
        away.clear();
    }

    /** The files that somebody tried to open so far, in that order. */
    public synchronized List<String> opened() {
        return new ArrayList<>(opened);
    }

    /** Waits until somebody has tried to open so many. */
    public synchronized void awaitOpened(int count) throws InterruptedException {
        while (opened.size() < count) {
            wait();
        }
    }

    private synchronized void open(String name) throws IOException {
        opened.add(name);
        notifyAll();
        while (holds && !released.contains(name)) {
            try {
                wait();
            } catch (InterruptedException e) {
                // The point of this class: nothing wakes such a read.
                continue;
            }
        }
        if (awayOnce.remove(name) || away.contains(name)) {
            throw new IOException("the storage has lost " + name);
        }
    }

    /** One file. */
    private static final class HeldHandle implements StreamStateHandle {

        private static final long serialVersionUID = 1L;

        private final transient HeldStorage storage;
        private final String name;
        private final StreamStateHandle handle;

        HeldHandle(HeldStorage storage, String name, StreamStateHandle handle) {
            this.storage = storage;
            this.name = name;
            this.handle = handle;
        }

        @Override
        public FSDataInputStream openInputStream() throws IOException {
            storage.open(name);
            return handle.openInputStream();
        }

        @Override
        public Optional<byte[]> asBytesIfInMemory() {
            return Optional.empty();
        }

        @Override
        public Optional<Path> maybeGetPath() {
            return handle.maybeGetPath();
        }

        @Override
        public PhysicalStateHandleID getStreamStateHandleID() {
            return handle.getStreamStateHandleID();
        }

        @Override
        public void discardState() throws Exception {
            handle.discardState();
        }

        @Override
        public long getStateSize() {
            return handle.getStateSize();
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof HeldHandle && handle.equals(((HeldHandle) other).handle);
        }

        @Override
        public int hashCode() {
            return handle.hashCode();
        }
    }
}
