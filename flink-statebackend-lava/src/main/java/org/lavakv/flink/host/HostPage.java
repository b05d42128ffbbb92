// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.host;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.ToLongFunction;
import javax.annotation.Nullable;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.node.ArrayNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.node.ObjectNode;
import org.lavakv.DBStatistics;
import org.lavakv.Host;
import org.lavakv.HostStatistics;
import org.lavakv.VolumeFigures;

/**
 * The state of the process at one moment, as JSON and as a log line. It contains no key and no
 * value.
 *
 * <p>Threads: immutable.
 *
 * <p>Units: bytes, counts, microseconds; moments in milliseconds since 1970.
 */
final class HostPage {

    /** Format number of the file; {@code native/tools/inspect/host.cc} reads it. */
    static final int FORMAT = 2;

    private static final ObjectMapper JSON = new ObjectMapper();

    private final HostStatistics host;
    private final List<ReportedInstance.Figures> rows;
    private final long writtenMillis = System.currentTimeMillis();

    private HostPage(HostStatistics host, List<ReportedInstance.Figures> rows) {
        this.host = host;
        this.rows = rows;
    }

    /** Reads the current figures from the engine. */
    static HostPage read(List<ReportedInstance> instances) {
        List<ReportedInstance.Figures> rows = new ArrayList<>();
        for (ReportedInstance instance : instances) {
            ReportedInstance.Figures row = instance.read();
            if (row != null) {
                rows.add(row);
            }
        }
        return new HostPage(Host.getStatistics(), rows);
    }

    byte[] json(@Nullable HostPage last, long startedMillis, long intervalMillis)
            throws IOException {
        ObjectNode page = JSON.createObjectNode();
        String version = HostPage.class.getPackage().getImplementationVersion();
        page.put("format", FORMAT)
                .put("library", version == null ? "unknown" : version)
                .put("pid", ProcessHandle.current().pid())
                .put("started_ms", startedMillis)
                .put("written_ms", writtenMillis)
                .put("interval_ms", intervalMillis)
                .put("instances_open", host.instancesOpen())
                .put("leases_open", host.leasesOpen());
        putMemory(page.putObject("memory"));
        putCache(page.putObject("cache"), last);
        page.putObject("space")
                .put("used_bytes", host.spaceUsedBytes())
                .put("live_bytes", host.spaceLiveBytes())
                .put("limit_bytes", host.spaceLimitBytes());
        putBackground(page.putObject("background"));
        putVolumes(page.putArray("volumes"));
        ArrayNode instances = page.putArray("instances");
        rows.forEach(row -> putInstance(instances.addObject(), row));
        return JSON.writerWithDefaultPrettyPrinter().writeValueAsBytes(page);
    }

    private void putMemory(ObjectNode memory) {
        memory.put("budget_bytes", host.budgetBytes())
                .put("charged_bytes", host.chargedBytes())
                .put("over_budget_bytes", host.overBudgetBytes())
                .put("cache_bytes", host.cacheUsedBytes())
                .put("memtable_bytes", host.memtableBytes())
                .put("table_reader_bytes", host.tableReaderBytes())
                .put("metadata_bytes", host.metadataBytes())
                .put("scan_bytes", host.scanBytes())
                .put("flush_job_bytes", host.flushJobBytes())
                .put("compaction_job_bytes", host.compactionJobBytes())
                .put("gc_job_bytes", host.collectionJobBytes())
                .put("file_buffer_bytes", host.fileBufferBytes())
                .put("binding_bytes", host.bindingBytes())
                .put("jobs_put_off", host.jobsPutOff())
                .put("overdrafts", host.memoryOverdrafts());
    }

    private void putCache(ObjectNode cache, @Nullable HostPage last) {
        cache.put("capacity_bytes", host.cacheCapacityBytes())
                .put("used_bytes", host.cacheUsedBytes())
                .put("pinned_bytes", host.cachePinnedBytes())
                .put("hits", host.cacheHits())
                .put("misses", host.cacheMisses())
                .put("hit_ratio", ratio(host.cacheHits(), host.cacheMisses()))
                .put("hit_ratio_lately", ratioSince(last))
                .put("index_bytes_max", host.cacheIndexBytesMax());
        cache.putObject("index")
                .put("used_bytes", host.cacheIndexUsedBytes())
                .put("hits", host.cacheIndexHits())
                .put("misses", host.cacheIndexMisses())
                .put("evictions", host.cacheIndexEvictions());
        cache.putObject("data")
                .put("used_bytes", host.cacheDataUsedBytes())
                .put("hits", host.cacheDataHits())
                .put("misses", host.cacheDataMisses())
                .put("evictions", host.cacheDataEvictions());
    }

    private void putBackground(ObjectNode background) {
        background
                .put("threads", host.threads())
                .put("cpu_us", host.backgroundCpuMicros())
                .put("paced_us", host.backgroundPacedMicros())
                .put("queued_urgent", host.queuedUrgentJobs())
                .put("queued_flushes", host.queuedFlushes())
                .put("queued_l0_compactions", host.queuedL0Compactions())
                .put("queued_compactions", host.queuedCompactions())
                .put("queued_collections", host.queuedCollections())
                .put("running_flushes", sum(DBStatistics::runningFlushes))
                .put("running_compactions", sum(DBStatistics::runningCompactions))
                .put("running_collections", sum(DBStatistics::runningCollections));
    }

    private void putVolumes(ArrayNode volumes) {
        Map<String, VolumeFigures> byPath = new TreeMap<>();
        for (ReportedInstance.Figures row : rows) {
            if (row.volume != null) {
                byPath.put(row.of.volumePath(), row.volume);
            }
        }
        byPath.forEach(
                (path, figures) ->
                        volumes.addObject()
                                .put("path", path)
                                .put("capacity_bytes", figures.capacityBytes())
                                .put("used_bytes", figures.usedBytes())
                                .put("free_bytes", figures.freeBytes())
                                .put("files", figures.files())
                                .put("pins", figures.pins()));
    }

    private static void putInstance(ObjectNode node, ReportedInstance.Figures row) {
        DBStatistics s = row.statistics;
        node.put("directory", row.of.directory())
                .put("job", row.of.job)
                .put("operator", row.of.operator)
                .put("memtable_bytes", s.memtableActiveBytes() + s.memtableSealedBytes())
                .put("sealed_runs", s.sealedRuns())
                .put("live_bytes", s.liveFileBytes())
                .put("garbage_bytes", s.garbageBytesMin())
                .put("pinned_bytes", s.pinnedFileBytes())
                .put("files", s.liveFiles())
                .put("running_flushes", s.runningFlushes())
                .put("running_compactions", s.runningCompactions())
                .put("running_collections", s.runningCollections())
                .put("stall_us", s.stallMicros())
                .put("flush_stall_us", s.flushStallMicros())
                .put("compaction_stall_us", s.compactionStallMicros())
                .put("space_stall_us", s.spaceStallMicros())
                .put("background_errors", s.backgroundErrors());
    }

    boolean isOverBudget() {
        return host.overBudgetBytes() > 0;
    }

    /** For a page over the budget: the excess, and the largest consumers. */
    String overBudgetLine() {
        return String.format(
                Locale.ROOT,
                "Lava: native memory stays %d KiB above its budget of %d KiB: cache %d KiB (%d"
                        + " held by reads), memtables %d KiB, open files %d KiB, metadata %d"
                        + " KiB; jobs and buffers take the rest. If this lasts, give the slots"
                        + " more memory, or find code that holds read values for too long.",
                (host.overBudgetBytes() + 1023) >> 10,
                host.budgetBytes() >> 10,
                host.cacheUsedBytes() >> 10,
                host.cachePinnedBytes() >> 10,
                host.memtableBytes() >> 10,
                host.tableReaderBytes() >> 10,
                host.metadataBytes() >> 10);
    }

    /** The essential figures; ratios, times and stalls cover the time since the last line. */
    String line(HostPage last) {
        Double ratio = ratioSince(last);
        long running =
                sum(DBStatistics::runningFlushes)
                        + sum(DBStatistics::runningCompactions)
                        + sum(DBStatistics::runningCollections);
        return String.format(
                Locale.ROOT,
                "Lava: %d instances; native memory %d of %d MiB; since the last report: cache hit"
                        + " ratio %s, background CPU %.1f s, stalls %.1f s (flush %.1f, compaction"
                        + " %.1f, space %.1f); jobs: %d running, %d queued, %d put off.",
                host.instancesOpen(),
                host.chargedBytes() >> 20,
                host.budgetBytes() >> 20,
                ratio == null ? "-" : String.format(Locale.ROOT, "%.3f", ratio),
                seconds(host.backgroundCpuMicros() - last.host.backgroundCpuMicros()),
                seconds(sumSince(last, DBStatistics::stallMicros)),
                seconds(sumSince(last, DBStatistics::flushStallMicros)),
                seconds(sumSince(last, DBStatistics::compactionStallMicros)),
                seconds(sumSince(last, DBStatistics::spaceStallMicros)),
                running,
                host.queuedJobs(),
                host.jobsPutOff() - last.host.jobsPutOff());
    }

    private static double seconds(long micros) {
        return micros / 1e6;
    }

    private long sum(ToLongFunction<DBStatistics> number) {
        return rows.stream().mapToLong(row -> number.applyAsLong(row.statistics)).sum();
    }

    /** Sum over the instances that are still open. */
    private long sumSince(HostPage last, ToLongFunction<DBStatistics> number) {
        Map<ReportedInstance, DBStatistics> before = new HashMap<>();
        last.rows.forEach(row -> before.put(row.of, row.statistics));
        long sum = 0;
        for (ReportedInstance.Figures row : rows) {
            DBStatistics then = before.get(row.of);
            sum +=
                    number.applyAsLong(row.statistics)
                            - (then == null ? 0 : number.applyAsLong(then));
        }
        return sum;
    }

    @Nullable
    private Double ratioSince(@Nullable HostPage last) {
        return last == null
                ? ratio(host.cacheHits(), host.cacheMisses())
                : ratio(
                        host.cacheHits() - last.host.cacheHits(),
                        host.cacheMisses() - last.host.cacheMisses());
    }

    /** Null without lookups. */
    @Nullable
    private static Double ratio(long hits, long misses) {
        return hits + misses <= 0 ? null : (double) hits / (hits + misses);
    }
}
