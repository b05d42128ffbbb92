// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.metrics;

import java.io.IOException;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.util.ResourceGuard;
import org.lavakv.DBStatistics;
import org.lavakv.Host;
import org.lavakv.HostStatistics;
import org.lavakv.TableStatistics;
import org.lavakv.VolumeFigures;
import org.lavakv.flink.engine.EventCounts;
import org.lavakv.flink.engine.LavaInstance;
import org.lavakv.flink.engine.StateTable;
import org.lavakv.flink.snapshot.CheckpointFigures;

/**
 * Gauges in the operator's metric group {@code lava}: for the instance, for the process that shares
 * cache and threads with it, for its volume if it has one, for its last checkpoint, and for each
 * state. One report queries the engine once. A disposed instance keeps its last numbers.
 *
 * <p>Threads: metric reporters' threads read; registration on the task's thread.
 */
public final class LavaMetrics {

    private static final long FRESH_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final LavaInstance instance;
    private final MetricGroup group;
    private final boolean perState;
    private final Set<String> states = new HashSet<>();

    /**
     * @param perState whether each state gets gauges of its own
     */
    public LavaMetrics(LavaInstance instance, MetricGroup operatorGroup, boolean perState) {
        this.instance = instance;
        this.group = operatorGroup.addGroup("lava");
        this.perState = perState;
        registerInstance();
        registerHost();
        registerMemory();
        if (instance.files().volumeFigures() != null) {
            registerVolume();
        }
    }

    /** Adds the gauges of a state; does nothing if the state is already registered. */
    public void registerState(StateTable table) {
        if (!perState || !states.add(table.name())) {
            return;
        }
        Cached<TableStatistics> statistics =
                new Cached<>(() -> instance.db().getTableStatistics(table.handle()));
        MetricGroup state = group.addGroup("state", table.name());
        state.gauge("live-bytes", statistics.gauge(TableStatistics::liveBytes));
        state.gauge("records", statistics.gauge(TableStatistics::records));
        state.gauge("value-files", statistics.gauge(TableStatistics::valueFiles));
        state.gauge("value-bytes", statistics.gauge(TableStatistics::valueBytes));
        state.gauge("value-garbage-bytes", statistics.gauge(TableStatistics::valueGarbageBytes));
        state.gauge("separation-bytes", statistics.gauge(TableStatistics::separationBytes));
    }

    /**
     * Adds the gauges of the last written checkpoint, all 0 before the first.
     *
     * @param last returns null before the first checkpoint; called by any thread
     */
    public void registerCheckpoints(Supplier<CheckpointFigures> last) {
        MetricGroup checkpoint = group.addGroup("checkpoint");
        checkpoint.gauge("uploaded-files", of(last, CheckpointFigures::uploadedFiles));
        checkpoint.gauge("uploaded-bytes", of(last, CheckpointFigures::uploadedBytes));
        checkpoint.gauge("reused-files", of(last, CheckpointFigures::reusedFiles));
        checkpoint.gauge("reused-bytes", of(last, CheckpointFigures::reusedBytes));
    }

    private static Gauge<Long> of(
            Supplier<CheckpointFigures> last, ToLongFunction<CheckpointFigures> number) {
        return () -> {
            CheckpointFigures figures = last.get();
            return figures == null ? 0L : number.applyAsLong(figures);
        };
    }

    /**
     * Adds a gauge under its name, and under the name that it had before. Each name has an object
     * of its own: Flink's web interface and most reporters keep one name for each object.
     */
    private static void renamed(MetricGroup group, String name, String former, Gauge<Long> gauge) {
        group.gauge(name, gauge);
        group.gauge(former, (Gauge<Long>) () -> gauge.getValue());
    }

    private void registerInstance() {
        Cached<DBStatistics> s = new Cached<>(() -> instance.db().getStatistics());
        group.gauge("live-bytes", s.gauge(DBStatistics::liveFileBytes));
        group.gauge("live-files", s.gauge(DBStatistics::liveFiles));
        group.gauge("pinned-bytes", s.gauge(DBStatistics::pinnedFileBytes));
        group.gauge("memtable-active-bytes", s.gauge(DBStatistics::memtableActiveBytes));
        group.gauge("memtable-sealed-bytes", s.gauge(DBStatistics::memtableSealedBytes));
        group.gauge("memtable-killed-bytes", s.gauge(DBStatistics::memtableKilledBytes));
        group.gauge("memtable-sealed-runs", s.gauge(DBStatistics::sealedRuns));
        group.gauge("records", s.gauge(DBStatistics::estimatedRecords));
        group.gauge("records-expired", s.gauge(DBStatistics::recordsExpired));
        group.gauge("compaction-pending-bytes", s.gauge(DBStatistics::pendingCompactionBytes));
        group.gauge("running-flushes", s.gauge(DBStatistics::runningFlushes));
        group.gauge("running-compactions", s.gauge(DBStatistics::runningCompactions));
        group.gauge("flushes", s.gauge(DBStatistics::flushes));
        group.gauge("flush-bytes-written", s.gauge(DBStatistics::flushBytesWritten));
        group.gauge("compactions", s.gauge(DBStatistics::compactions));
        group.gauge("trivial-moves", s.gauge(DBStatistics::trivialMoves));
        group.gauge("compaction-bytes-read", s.gauge(DBStatistics::compactionBytesRead));
        group.gauge("compaction-bytes-written", s.gauge(DBStatistics::compactionBytesWritten));
        group.gauge("value-files", s.gauge(DBStatistics::valueFiles));
        group.gauge("value-file-bytes", s.gauge(DBStatistics::valueFileBytes));
        group.gauge("value-garbage-bytes", s.gauge(DBStatistics::garbageBytesMin));
        group.gauge("value-bytes-written", s.gauge(DBStatistics::valueBytesWritten));
        group.gauge("value-hidden-bytes", s.gauge(DBStatistics::estimatedHiddenBytes));
        group.gauge("estimated-live-bytes", s.gauge(DBStatistics::estimatedLiveBytes));
        group.gauge("space-pressure-percent", s.gauge(DBStatistics::spacePressurePercent));
        group.gauge("space-stall-micros", s.gauge(DBStatistics::spaceStallMicros));
        group.gauge("flush-stall-micros", s.gauge(DBStatistics::flushStallMicros));
        group.gauge("compaction-stall-micros", s.gauge(DBStatistics::compactionStallMicros));
        renamed(
                group,
                "running-collections",
                "running-gc",
                s.gauge(DBStatistics::runningCollections));
        renamed(group, "collections", "gc-jobs", s.gauge(DBStatistics::collections));
        renamed(
                group,
                "collection-bytes-read",
                "gc-bytes-read",
                s.gauge(DBStatistics::collectionBytesRead));
        renamed(
                group,
                "collection-input-bytes",
                "gc-input-bytes",
                s.gauge(DBStatistics::collectionInputBytes));
        renamed(
                group,
                "collection-bytes-written",
                "gc-bytes-written",
                s.gauge(DBStatistics::collectionBytesWritten));
        group.gauge("merged-value-bytes", s.gauge(DBStatistics::mergedValueBytes));
        group.gauge("merged-for-garbage-bytes", s.gauge(DBStatistics::mergedForGarbageBytes));
        group.gauge("merged-for-order-bytes", s.gauge(DBStatistics::mergedForOrderBytes));
        group.gauge("merged-down-bytes", s.gauge(DBStatistics::mergedDownBytes));
        group.gauge("external-values", s.gauge(DBStatistics::externalValues));
        group.gauge("entry-bytes", s.gauge(DBStatistics::entryBytes));
        group.gauge("value-files-expired", s.gauge(DBStatistics::valueFilesExpired));
        group.gauge("flush-cpu-micros", s.gauge(DBStatistics::flushCpuMicros));
        group.gauge("compaction-cpu-micros", s.gauge(DBStatistics::compactionCpuMicros));
        renamed(
                group,
                "collection-cpu-micros",
                "gc-cpu-micros",
                s.gauge(DBStatistics::collectionCpuMicros));
        group.gauge("direct-io-refused-files", s.gauge(DBStatistics::filesRefusedDirect));
        group.gauge("snapshots-given-up", s.gauge(DBStatistics::snapshotsGivenUp));
        group.gauge("user-bytes-written", s.gauge(DBStatistics::userBytesWritten));
        group.gauge("reads", s.gauge(DBStatistics::reads));
        group.gauge("writes", s.gauge(DBStatistics::writes));
        group.gauge("scans", s.gauge(DBStatistics::scans));
        group.gauge("filter-useful", s.gauge(DBStatistics::filterUseful));
        group.gauge("block-reads", s.gauge(DBStatistics::blockReads));
        group.gauge("stall-micros", s.gauge(DBStatistics::stallMicros));
        group.gauge("background-errors", s.gauge(DBStatistics::backgroundErrors));
        group.gauge("damaged-files", s.gauge(DBStatistics::damagedFiles));
        group.gauge("snapshots-open", s.gauge(DBStatistics::snapshotsOpen));
        registerEventCounts(instance.eventCounts(), s.gauge(DBStatistics::eventsDropped));
        for (int level = 0; level < DBStatistics.LEVELS; level++) {
            int of = level;
            group.gauge("files-at-level-" + level, s.gauge(x -> x.filesAtLevel(of)));
            group.gauge("bytes-at-level-" + level, s.gauge(x -> x.bytesAtLevel(of)));
            group.gauge("value-groups-at-level-" + level, s.gauge(x -> x.valueGroupsAtLevel(of)));
            group.gauge("value-overlap-at-level-" + level, s.gauge(x -> x.valueOverlapAtLevel(of)));
        }
    }

    /**
     * @param lostBefore the events that did not reach the buffer of which counts tells
     */
    private void registerEventCounts(EventCounts counts, Gauge<Long> lostBefore) {
        group.<Long, Gauge<Long>>gauge("stalls", counts::stalls);
        group.<Long, Gauge<Long>>gauge("slowdowns", counts::slowdowns);
        group.<Long, Gauge<Long>>gauge("failed-jobs", counts::failedJobs);
        group.<Long, Gauge<Long>>gauge(
                "events-dropped", () -> counts.droppedEvents() + lostBefore.getValue());
    }

    private void registerHost() {
        Cached<HostStatistics> s = new Cached<>(Host::getStatistics);
        MetricGroup host = group.addGroup("host");
        host.gauge("cache-capacity-bytes", s.gauge(HostStatistics::cacheCapacityBytes));
        host.gauge("cache-used-bytes", s.gauge(HostStatistics::cacheUsedBytes));
        host.gauge("cache-pinned-bytes", s.gauge(HostStatistics::cachePinnedBytes));
        host.gauge("cache-hits", s.gauge(HostStatistics::cacheHits));
        host.gauge("cache-misses", s.gauge(HostStatistics::cacheMisses));
        host.gauge("cache-index-used-bytes", s.gauge(HostStatistics::cacheIndexUsedBytes));
        host.gauge("cache-index-bytes-max", s.gauge(HostStatistics::cacheIndexBytesMax));
        host.gauge("cache-index-hits", s.gauge(HostStatistics::cacheIndexHits));
        host.gauge("cache-index-misses", s.gauge(HostStatistics::cacheIndexMisses));
        host.gauge("cache-data-used-bytes", s.gauge(HostStatistics::cacheDataUsedBytes));
        host.gauge("cache-data-hits", s.gauge(HostStatistics::cacheDataHits));
        host.gauge("cache-data-misses", s.gauge(HostStatistics::cacheDataMisses));
        host.gauge("space-used-bytes", s.gauge(HostStatistics::spaceUsedBytes));
        host.gauge("space-live-bytes", s.gauge(HostStatistics::spaceLiveBytes));
        host.gauge("space-limit-bytes", s.gauge(HostStatistics::spaceLimitBytes));
        host.gauge("memtable-bytes", s.gauge(HostStatistics::memtableBytes));
        host.gauge("table-reader-bytes", s.gauge(HostStatistics::tableReaderBytes));
        host.gauge("file-buffer-bytes", s.gauge(HostStatistics::fileBufferBytes));
        host.gauge("charged-bytes", s.gauge(HostStatistics::chargedBytes));
        host.gauge("instances-open", s.gauge(HostStatistics::instancesOpen));
        host.gauge("threads", s.gauge(HostStatistics::threads));
        host.gauge("background-cpu-micros", s.gauge(HostStatistics::backgroundCpuMicros));
        host.gauge("background-paced-micros", s.gauge(HostStatistics::backgroundPacedMicros));
        host.gauge("queued-jobs", s.gauge(HostStatistics::queuedJobs));
        host.gauge("queued-urgent-jobs", s.gauge(HostStatistics::queuedUrgentJobs));
    }

    /** The memory budget's tree over all instances, {@code lava.memory.<purpose>}, in bytes. */
    private void registerMemory() {
        Cached<HostStatistics> s = new Cached<>(Host::getStatistics);
        MetricGroup memory = group.addGroup("memory");
        memory.gauge("budget", s.gauge(HostStatistics::budgetBytes));
        memory.gauge("charged", s.gauge(HostStatistics::chargedBytes));
        memory.gauge("cache", s.gauge(HostStatistics::cacheUsedBytes));
        memory.gauge("memtables", s.gauge(HostStatistics::memtableBytes));
        memory.gauge("table-readers", s.gauge(HostStatistics::tableReaderBytes));
        memory.gauge("metadata", s.gauge(HostStatistics::metadataBytes));
        memory.gauge("scans", s.gauge(HostStatistics::scanBytes));
        memory.gauge("flush-jobs", s.gauge(HostStatistics::flushJobBytes));
        memory.gauge("compaction-jobs", s.gauge(HostStatistics::compactionJobBytes));
        renamed(memory, "collection-jobs", "gc-jobs", s.gauge(HostStatistics::collectionJobBytes));
        memory.gauge("file-buffers", s.gauge(HostStatistics::fileBufferBytes));
        memory.gauge("bindings", s.gauge(HostStatistics::bindingBytes));
        memory.gauge("jobs-put-off", s.gauge(HostStatistics::jobsPutOff));
        memory.gauge("overdrafts", s.gauge(HostStatistics::memoryOverdrafts));
        memory.gauge("page-refusals", s.gauge(HostStatistics::pageRefusals));
        memory.gauge("over-budget", s.gauge(HostStatistics::overBudgetBytes));
    }

    private void registerVolume() {
        Cached<VolumeFigures> f = new Cached<>(() -> instance.files().volumeFigures());
        MetricGroup volume = group.addGroup("volume");
        volume.gauge("capacity-bytes", f.gauge(VolumeFigures::capacityBytes));
        volume.gauge("device-bytes", f.gauge(VolumeFigures::deviceBytes));
        volume.gauge("used-bytes", f.gauge(VolumeFigures::usedBytes));
        volume.gauge("free-bytes", f.gauge(VolumeFigures::freeBytes));
        volume.gauge("largest-free-run-bytes", f.gauge(VolumeFigures::largestFreeRunBytes));
        volume.gauge("files", f.gauge(VolumeFigures::files));
        volume.gauge("pins", f.gauge(VolumeFigures::pins));
        volume.gauge("journal-bytes-written", f.gauge(VolumeFigures::journalWrittenBytes));
        volume.gauge("journal-compactions", f.gauge(VolumeFigures::journalCompactions));
        volume.gauge("metadata-memory-bytes", f.gauge(VolumeFigures::metadataMemoryBytes));
        volume.gauge("direct-io", f.gauge(figures -> figures.directIo() ? 1L : 0L));
    }

    /** The engine's last answer, at most a second old. */
    private final class Cached<T> {

        private final Supplier<T> source;
        private T value;
        private long readAt;

        Cached(Supplier<T> source) {
            this.source = source;
        }

        Gauge<Long> gauge(ToLongFunction<T> number) {
            return () -> {
                T now = get();
                return now == null ? 0L : number.applyAsLong(now);
            };
        }

        private synchronized T get() {
            long now = System.nanoTime();
            if (value != null && now - readAt < FRESH_NANOS) {
                return value;
            }
            readAt = now;
            try {
                ResourceGuard.Lease lease = instance.resourceGuard().acquireResource();
                try {
                    value = source.get();
                } finally {
                    lease.close();
                }
            } catch (IOException | IllegalStateException closed) {
                // The instance is closed or closing: its last numbers stay.
                return value;
            }
            return value;
        }
    }
}
