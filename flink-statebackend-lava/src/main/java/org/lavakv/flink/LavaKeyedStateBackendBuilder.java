// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink;

import java.io.File;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import javax.annotation.Nullable;
import org.apache.flink.runtime.execution.CancelTaskException;
import org.apache.flink.runtime.execution.Environment;
import org.apache.flink.runtime.state.AbstractKeyedStateBackendBuilder;
import org.apache.flink.runtime.state.AbstractStateBackend;
import org.apache.flink.runtime.state.BackendBuildingException;
import org.apache.flink.runtime.state.CompositeKeySerializationUtils;
import org.apache.flink.runtime.state.InternalKeyContextImpl;
import org.apache.flink.runtime.state.LocalRecoveryConfig;
import org.apache.flink.runtime.state.LocalSnapshotDirectoryProvider;
import org.apache.flink.runtime.state.StateBackend.KeyedStateBackendParameters;
import org.apache.flink.runtime.state.StreamCompressionDecorator;
import org.apache.flink.runtime.state.heap.HeapPriorityQueueSetFactory;
import org.apache.flink.runtime.state.heap.HeapPriorityQueueSnapshotRestoreWrapper;
import org.apache.flink.runtime.state.metrics.LatencyTrackingStateConfig;
import org.apache.flink.runtime.state.metrics.SizeTrackingStateConfig;
import org.lavakv.flink.engine.EngineClock;
import org.lavakv.flink.engine.InstanceOpener;
import org.lavakv.flink.engine.LavaInstance;
import org.lavakv.flink.engine.StateContext;
import org.lavakv.flink.host.HostReports;
import org.lavakv.flink.memory.SlotMemory;
import org.lavakv.flink.metrics.LavaMetrics;
import org.lavakv.flink.metrics.RestoreMetrics;
import org.lavakv.flink.restore.LavaRestore;
import org.lavakv.flink.restore.RestoreRequest;
import org.lavakv.flink.restore.RestoreResult;
import org.lavakv.flink.shared.SharedLogs;
import org.lavakv.flink.snapshot.LavaSnapshotStrategy;
import org.lavakv.flink.storage.VolumeFiles;
import org.lavakv.local.OwnedPath;

/**
 * Builds a {@link LavaKeyedStateBackend}: gets memory, restores, and assembles the parts. A failed
 * build leaves no memory, directory or native object behind.
 *
 * <p>Threads: one thread. Errors: {@link BackendBuildingException}. Its cause is a {@link
 * CancelTaskException} when the task was cancelled meanwhile.
 */
public class LavaKeyedStateBackendBuilder<K> extends AbstractKeyedStateBackendBuilder<K> {

    private static final int HEAP_TIMERS_INITIAL = 128;
    private static final String VOLUMES = "lavafs-volumes";

    private final KeyedStateBackendParameters<K> parameters;
    private final LavaSettings settings;
    private final File directory;
    private final boolean incremental;
    private final LocalRecoveryConfig localRecovery;

    LavaKeyedStateBackendBuilder(
            KeyedStateBackendParameters<K> parameters,
            LavaSettings settings,
            File directory,
            LatencyTrackingStateConfig latencyTracking,
            SizeTrackingStateConfig sizeTracking,
            boolean incremental) {
        super(
                parameters.getKvStateRegistry(),
                parameters.getKeySerializer(),
                parameters.getEnv().getUserCodeClassLoader().asClassLoader(),
                parameters.getNumberOfKeyGroups(),
                parameters.getKeyGroupRange(),
                parameters.getEnv().getExecutionConfig(),
                parameters.getTtlTimeProvider(),
                latencyTracking,
                sizeTracking,
                parameters.getStateHandles(),
                compression(parameters.getEnv()),
                parameters.getCancelStreamRegistry());
        this.parameters = parameters;
        this.settings = settings;
        this.directory = directory;
        this.incremental = incremental;
        this.localRecovery = parameters.getEnv().getTaskStateManager().createLocalRecoveryConfig();
    }

    private static StreamCompressionDecorator compression(Environment environment) {
        return AbstractStateBackend.getCompressionDecorator(environment.getExecutionConfig());
    }

    @Override
    public LavaKeyedStateBackend<K> build() throws BackendBuildingException {
        Map<String, HeapPriorityQueueSnapshotRestoreWrapper<?>> heapTimerStates =
                new LinkedHashMap<>();
        HeapPriorityQueueSetFactory heapTimers = heapTimers();
        RestoreResult restored =
                LavaRestore.restore(restoreRequest(newOpener(), heapTimers, heapTimerStates));
        LavaInstance instance = restored.instance();
        try {
            return newBackend(restored, heapTimers, heapTimerStates);
        } catch (Throwable e) {
            instance.close();
            throw failure(e);
        }
    }

    private InstanceOpener newOpener() throws BackendBuildingException {
        Environment environment = parameters.getEnv();
        SlotMemory memory;
        try {
            memory =
                    SlotMemory.acquire(
                            settings.memory(),
                            environment,
                            parameters.getManagedMemoryFraction(),
                            LavaSettings.taskManagerBytes(
                                    environment.getTaskManagerInfo().getConfiguration()));
        } catch (Exception e) {
            throw failure(e);
        }
        // Operator identifiers contain characters that file systems refuse.
        String operator = parameters.getOperatorIdentifier().replaceAll("[^a-zA-Z0-9\\-]", "_");
        String name = "job_" + environment.getJobID() + "_op_" + operator + "_";
        OwnedPath home;
        try {
            home = OwnedPath.claim(directory.toPath(), name, "");
        } catch (IOException | RuntimeException e) {
            memory.close();
            throw failure(e);
        }
        File volumes = volumes();
        if (volumes == null) {
            VolumeFiles.removeUnused(new File(directory, VOLUMES));
        }
        InstanceOpener.Parts parts = new InstanceOpener.Parts();
        parts.home = home;
        parts.volumes = volumes;
        parts.volumeOptions = settings.volumeOptions();
        parts.options =
                settings.dbOptions()
                        .setCollectionUploadCostPercent(
                                incremental ? settings.uploadCostPercent() : 0)
                        .setEventBufferBytes(HostReports.EVENT_BUFFER_BYTES);
        parts.separation = settings.separation();
        parts.keyGroupRange = keyGroupRange;
        parts.keyGroupPrefixBytes =
                CompositeKeySerializationUtils.computeRequiredBytesInKeyGroupPrefix(
                        numberOfKeyGroups);
        parts.lease = memory.lease();
        parts.leaseRelease = memory;
        return new InstanceOpener(parts);
    }

    /** The directory of volumes, or null. */
    @Nullable
    private File volumes() {
        if (settings.fileSystem() == LavaOptions.FileSystemType.POSIX) {
            return null;
        }
        if (settings.localDirectories().isEmpty() && localRecovery.isLocalBackupEnabled()) {
            // Flink empties the working directory when a TaskManager restarts. It keeps the root of
            // local state, where it deletes only the directories of allocations.
            return localRecovery
                    .getLocalStateDirectoryProvider()
                    .map(LavaKeyedStateBackendBuilder::anyRoot)
                    .map(root -> new File(root, VOLUMES))
                    .orElseThrow(LocalRecoveryConfig.localRecoveryNotEnabled());
        }
        return new File(directory, VOLUMES);
    }

    private static File anyRoot(LocalSnapshotDirectoryProvider directories) {
        int any = ThreadLocalRandom.current().nextInt(directories.allocationBaseDirsCount());
        return directories.selectAllocationBaseDirectory(any).getParentFile();
    }

    @Nullable
    private HeapPriorityQueueSetFactory heapTimers() {
        return settings.timerService() == LavaOptions.TimerService.HEAP
                ? new HeapPriorityQueueSetFactory(
                        keyGroupRange, numberOfKeyGroups, HEAP_TIMERS_INITIAL)
                : null;
    }

    private RestoreRequest<K> restoreRequest(
            InstanceOpener opener,
            @Nullable HeapPriorityQueueSetFactory heapTimers,
            Map<String, HeapPriorityQueueSnapshotRestoreWrapper<?>> heapTimerStates) {
        return new RestoreRequest.Builder<K>()
                .setOpener(opener)
                .setCancelStreamRegistry(cancelStreamRegistry)
                .setUserCodeClassLoader(userCodeClassLoader)
                .setKeySerializerProvider(keySerializerProvider)
                .setStateHandles(restoreStateHandles)
                .setTransferThreads(settings.transferThreads())
                .setOnDemand(settings.restoreOnDemand())
                .setProgress(RestoreMetrics.newProgress(parameters.getMetricGroup()))
                .setNumberOfKeyGroups(numberOfKeyGroups)
                .setCustomInitializationMetrics(parameters.getCustomInitializationMetrics())
                .setHeapTimers(heapTimers)
                .setHeapTimerStates(heapTimerStates)
                .build();
    }

    private LavaKeyedStateBackend<K> newBackend(
            RestoreResult restored,
            @Nullable HeapPriorityQueueSetFactory heapTimers,
            Map<String, HeapPriorityQueueSnapshotRestoreWrapper<?>> heapTimerStates) {
        LavaInstance instance = restored.instance();
        EngineClock clock = new EngineClock(ttlTimeProvider, instance.db(), restored.ttlTime());
        LavaKeyedStateBackend.Parts<K> parts = new LavaKeyedStateBackend.Parts<>();
        parts.kvStateRegistry = kvStateRegistry;
        parts.userCodeClassLoader = userCodeClassLoader;
        parts.executionConfig = executionConfig;
        parts.clock = clock;
        parts.latencyTracking = latencyTrackingStateConfig;
        parts.sizeTracking = sizeTrackingStateConfig;
        parts.compression = keyGroupCompressionDecorator;
        parts.keyContext = new InternalKeyContextImpl<>(keyGroupRange, numberOfKeyGroups);
        // Not earlier: a restore may have reconfigured the key's serializer.
        parts.context =
                new StateContext<>(
                        instance,
                        keySerializerProvider.currentSchemaSerializer(),
                        parts.keyContext,
                        clock);
        parts.tables = restored.tables();
        parts.snapshotStrategy =
                new LavaSnapshotStrategy<>(
                        instance,
                        restored.tables(),
                        heapTimerStates,
                        keySerializerProvider.currentSchemaSerializer(),
                        keyGroupRange,
                        localRecovery,
                        parameters.getEnv().getJobID(),
                        restored.backendUID(),
                        restored.uploadedFiles(),
                        restored.lastCompletedCheckpointId(),
                        settings.transferThreads(),
                        settings.packLimits(),
                        incremental);
        parts.heapTimers = heapTimers;
        parts.heapTimerStates = heapTimerStates;
        parts.timerCacheSize = settings.timerCacheSize();
        parts.metrics =
                new LavaMetrics(instance, parameters.getMetricGroup(), settings.metricsPerState());
        parts.metrics.registerCheckpoints(parts.snapshotStrategy::lastCheckpoint);
        logger.info("Built a keyed state backend on Lava in {}.", instance.files());
        LavaKeyedStateBackend<K> backend = new LavaKeyedStateBackend<>(parts);
        SharedLogs.offer(parameters.getOperatorIdentifier(), keyGroupRange, instance.sharedLog());
        backend.reportedBy(
                HostReports.OF_PROCESS.add(
                        instance,
                        parameters.getEnv().getJobID().toString(),
                        parameters.getOperatorIdentifier(),
                        directory.toPath(),
                        settings.hostReportInterval()));
        return backend;
    }

    private BackendBuildingException failure(Throwable cause) {
        if (cause instanceof BackendBuildingException) {
            return (BackendBuildingException) cause;
        }
        // Flink interrupts a task only when it cancels the task.
        if (cancelStreamRegistry.isClosed() || Thread.currentThread().isInterrupted()) {
            return new BackendBuildingException(
                    "The task was cancelled.", new CancelTaskException(cause));
        }
        return new BackendBuildingException(
                "Building the keyed state backend failed: " + cause.getMessage(), cause);
    }
}
