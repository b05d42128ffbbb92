// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

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
 * Storage in which opening the shared files of checkpoints hangs until they are released, even if
 * interrupted, or fails. Threads: any.
 */
public final class HeldStorage {

    private final Set<String> opened = new LinkedHashSet<>();
    private final Set<String> released = new HashSet<>();
    private final Set<String> away = new HashSet<>();
    private final Set<String> awayOnce = new HashSet<>();
    private boolean holds;

    /** The same checkpoint, with its shared files read through this object. */
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

    /** From now on opening a file hangs. */
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

    /** From now on opening the file fails. */
    public synchronized void takeAway(String name) {
        away.add(name);
    }

    /** The next open of the file fails, or the one that currently hangs. */
    public synchronized void takeAwayOnce(String name) {
        awayOnce.add(name);
    }

    public synchronized void giveBack() {
        away.clear();
    }

    /** The files for which an open was tried, in order. */
    public synchronized List<String> opened() {
        return new ArrayList<>(opened);
    }

    /** Waits until this many opens were tried. */
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
                // Ignores the interrupt: nothing wakes such a read.
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
