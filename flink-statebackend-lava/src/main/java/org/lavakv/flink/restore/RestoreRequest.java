// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.restore;

import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import javax.annotation.Nullable;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.StateBackend.CustomInitializationMetrics;
import org.apache.flink.runtime.state.StateSerializerProvider;
import org.apache.flink.runtime.state.heap.HeapPriorityQueueSetFactory;
import org.apache.flink.runtime.state.heap.HeapPriorityQueueSnapshotRestoreWrapper;
import org.lavakv.flink.engine.InstanceOpener;
import org.lavakv.flink.engine.RestoreProgress;

/**
 * The arguments of a restore.
 *
 * <p>Threads: one. Ownership: everything stays the caller's, except the opener, which the restore
 * finishes or abandons.
 */
public final class RestoreRequest<K> {

    private final Builder<K> b;

    private RestoreRequest(Builder<K> builder) {
        this.b = builder;
    }

    InstanceOpener opener() {
        return b.opener;
    }

    KeyGroupRange keyGroupRange() {
        return b.opener.keyGroupRange();
    }

    int keyGroupPrefixBytes() {
        return b.opener.keyGroupPrefixBytes();
    }

    int numberOfKeyGroups() {
        return b.numberOfKeyGroups;
    }

    CloseableRegistry cancelStreamRegistry() {
        return b.cancelStreamRegistry;
    }

    ClassLoader userCodeClassLoader() {
        return b.userCodeClassLoader;
    }

    StateSerializerProvider<K> keySerializerProvider() {
        return b.keySerializerProvider;
    }

    List<KeyedStateHandle> stateHandles() {
        return b.stateHandles;
    }

    int transferThreads() {
        return b.transferThreads;
    }

    /** Whether the engine's files may be fetched while the job runs. */
    boolean onDemand() {
        return b.onDemand;
    }

    RestoreProgress progress() {
        return b.progress;
    }

    CustomInitializationMetrics metrics() {
        return b.metrics;
    }

    /** Null when timers are in the engine. */
    @Nullable
    HeapPriorityQueueSetFactory heapTimers() {
        return b.heapTimers;
    }

    Map<String, HeapPriorityQueueSnapshotRestoreWrapper<?>> heapTimerStates() {
        return b.heapTimerStates;
    }

    /** Builds a request. Threads: one. */
    public static final class Builder<K> {
        private InstanceOpener opener;
        private int numberOfKeyGroups;
        private CloseableRegistry cancelStreamRegistry;
        private ClassLoader userCodeClassLoader;
        private StateSerializerProvider<K> keySerializerProvider;
        private List<KeyedStateHandle> stateHandles = Collections.emptyList();
        private int transferThreads = 1;
        private boolean onDemand;
        private RestoreProgress progress = new RestoreProgress();
        private CustomInitializationMetrics metrics = (name, value) -> {};
        @Nullable private HeapPriorityQueueSetFactory heapTimers;
        private Map<String, HeapPriorityQueueSnapshotRestoreWrapper<?>> heapTimerStates =
                new HashMap<>();

        /** Opens the instance; also defines its key groups. */
        public Builder<K> setOpener(InstanceOpener opener) {
            this.opener = opener;
            return this;
        }

        /** The job's maximum parallelism. */
        public Builder<K> setNumberOfKeyGroups(int numberOfKeyGroups) {
            this.numberOfKeyGroups = numberOfKeyGroups;
            return this;
        }

        /** Closing the registry cancels the restore. */
        public Builder<K> setCancelStreamRegistry(CloseableRegistry registry) {
            this.cancelStreamRegistry = registry;
            return this;
        }

        public Builder<K> setUserCodeClassLoader(ClassLoader classLoader) {
            this.userCodeClassLoader = classLoader;
            return this;
        }

        /** The restore checks the serializer against the checkpoint's, and may reconfigure it. */
        public Builder<K> setKeySerializerProvider(StateSerializerProvider<K> provider) {
            this.keySerializerProvider = provider;
            return this;
        }

        /** The handles to restore from; nulls are ignored. */
        public Builder<K> setStateHandles(Collection<KeyedStateHandle> handles) {
            this.stateHandles =
                    handles.stream().filter(Objects::nonNull).collect(Collectors.toList());
            return this;
        }

        /** Number of files to fetch at a time. */
        public Builder<K> setTransferThreads(int threads) {
            this.transferThreads = threads;
            return this;
        }

        /**
         * Whether to open the instance without the files that are not on this machine, and fetch
         * them later.
         */
        public Builder<K> setOnDemand(boolean onDemand) {
            this.onDemand = onDemand;
            return this;
        }

        /** Informed of every fetched file. */
        public Builder<K> setProgress(RestoreProgress progress) {
            this.progress = progress;
            return this;
        }

        public Builder<K> setCustomInitializationMetrics(CustomInitializationMetrics metrics) {
            this.metrics = metrics;
            return this;
        }

        /** Creates the queues of timers on the heap; null if timers are in the engine. */
        public Builder<K> setHeapTimers(@Nullable HeapPriorityQueueSetFactory factory) {
            this.heapTimers = factory;
            return this;
        }

        /** Receives the restored timers on the heap, by state name. */
        public Builder<K> setHeapTimerStates(
                Map<String, HeapPriorityQueueSnapshotRestoreWrapper<?>> states) {
            this.heapTimerStates = states;
            return this;
        }

        public RestoreRequest<K> build() {
            Objects.requireNonNull(opener, "opener");
            Objects.requireNonNull(cancelStreamRegistry, "cancelStreamRegistry");
            Objects.requireNonNull(userCodeClassLoader, "userCodeClassLoader");
            Objects.requireNonNull(keySerializerProvider, "keySerializerProvider");
            return new RestoreRequest<>(this);
        }
    }
}
