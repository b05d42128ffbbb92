// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.Map;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.IllegalConfigurationException;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.runtime.operators.testutils.MockEnvironment;
import org.apache.flink.runtime.state.RegisteredPriorityQueueStateBackendMetaInfo;
import org.apache.flink.util.IOUtils;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.lavakv.Host;
import org.lavakv.flink.engine.StateTables;
import org.lavakv.flink.memory.MemorySettings;
import org.lavakv.flink.memory.SlotMemory;
import org.lavakv.flink.metrics.LavaMetrics;
import org.lavakv.flink.testing.BackendFixture;
import org.lavakv.flink.testing.RecordingMetricGroup;

/** The sources of native memory, and the metrics. */
class LavaMemoryAndMetricsTest {

    private static final long MANAGED = 32L << 20;

    @TempDir Path directory;

    private BackendFixture fixture;
    private LavaKeyedStateBackend<Integer> backend;
    private MockEnvironment environment;

    @BeforeEach
    void open() throws Exception {
        fixture = new BackendFixture(directory);
        backend = (LavaKeyedStateBackend<Integer>) fixture.create(BackendFixture.ALL);
        environment = MockEnvironment.builder().setManagedMemorySize(MANAGED).build();
    }

    @AfterEach
    void close() throws Exception {
        fixture.close();
        environment.close();
    }

    private SlotMemory acquire(boolean managed, MemorySize perSlot, long perTaskManager)
            throws Exception {
        return SlotMemory.acquire(
                new MemorySettings(managed, perSlot, 0.5), environment, 0.5, perTaskManager);
    }

    @Test
    void backendsOfASlotShareItsManagedMemory() throws Exception {
        long before = Host.openNativeObjects();
        SlotMemory first = acquire(true, null, 0);
        SlotMemory second = acquire(true, null, 0);
        assertThat(second.lease()).isSameAs(first.lease());
        assertThat(first.lease().capacityBytes()).isEqualTo(MANAGED / 2);
        first.close();
        assertThat(Host.openNativeObjects()).isEqualTo(before + 1);
        second.close();
        assertThat(Host.openNativeObjects()).isEqualTo(before);
        assertThat(environment.getMemoryManager().verifyEmpty()).isTrue();
    }

    @Test
    void slotWithoutManagedMemoryNamesTheOptions() throws Exception {
        environment.close();
        environment = MockEnvironment.builder().setManagedMemorySize(0).build();
        long before = Host.openNativeObjects();
        assertThatThrownBy(() -> acquire(true, null, 0))
                .isInstanceOf(IllegalConfigurationException.class)
                .hasMessageContaining(TaskManagerOptions.MANAGED_MEMORY_SIZE.key())
                .hasMessageContaining(TaskManagerOptions.MANAGED_MEMORY_FRACTION.key())
                .hasMessageContaining(LavaOptions.FIX_PER_SLOT_MEMORY_SIZE.key());
        assertThat(Host.openNativeObjects()).isEqualTo(before);
        SlotMemory memory = acquire(true, MemorySize.parse("5mb"), 0);
        assertThat(memory.lease().capacityBytes()).isEqualTo(5 << 20);
        memory.close();
    }

    @Test
    void fixedSizeOfTheSlotGoesBeforeManagedMemory() throws Exception {
        SlotMemory memory = acquire(true, MemorySize.parse("5mb"), 7 << 20);
        assertThat(memory.lease().capacityBytes()).isEqualTo(5 << 20);
        memory.close();
    }

    @Test
    void fixedSizeOfTheTaskManagerIsShared() throws Exception {
        long before = Host.openNativeObjects();
        SlotMemory first = acquire(false, null, 7 << 20);
        SlotMemory second = acquire(false, null, 7 << 20);
        assertThat(first.lease().capacityBytes()).isEqualTo(7 << 20);
        assertThat(second.lease()).isSameAs(first.lease());
        IOUtils.closeAll(first, second);
        assertThat(Host.openNativeObjects()).isEqualTo(before);
        Configuration taskManager = new Configuration();
        assertThat(LavaSettings.taskManagerBytes(taskManager)).isZero();
        taskManager.set(LavaOptions.FIX_PER_TM_MEMORY_SIZE, MemorySize.parse("7mb"));
        assertThat(LavaSettings.taskManagerBytes(taskManager)).isEqualTo(7 << 20);
    }

    @Test
    void withoutAnyMemoryABackendHasItsOwn() throws Exception {
        SlotMemory memory = acquire(false, null, 0);
        assertThat(memory.lease().capacityBytes()).isEqualTo(128L << 20);
        memory.close();
    }

    @Test
    void metricsOfInstanceProcessAndState() throws Exception {
        RecordingMetricGroup group = new RecordingMetricGroup();
        Map<String, Gauge<?>> gauges = group.gauges();
        LavaMetrics metrics = new LavaMetrics(backend.instance(), group, true);
        backend.setCurrentKey(1);
        BackendFixture.value(backend).update("value");
        backend.setCurrentKey(2);
        BackendFixture.value(backend).update("large".repeat(10_000));
        backend.instance().db().flush();
        metrics.registerState(
                new StateTables(backend.instance())
                        .createOrGet(
                                new RegisteredPriorityQueueStateBackendMetaInfo<>(
                                        "the-value", IntSerializer.INSTANCE)));
        assertThat(gauges)
                .containsKeys(
                        ".lava.live-bytes",
                        ".lava.memtable-active-bytes",
                        ".lava.compaction-pending-bytes",
                        ".lava.running-compactions",
                        ".lava.stall-micros",
                        ".lava.files-at-level-0",
                        ".lava.value-files",
                        ".lava.value-file-bytes",
                        ".lava.value-garbage-bytes",
                        ".lava.value-bytes-written",
                        ".lava.value-hidden-bytes",
                        ".lava.space-stall-micros",
                        ".lava.running-collections",
                        ".lava.collections",
                        ".lava.collection-bytes-read",
                        ".lava.collection-bytes-written",
                        ".lava.collection-input-bytes",
                        ".lava.collection-cpu-micros",
                        ".lava.running-gc",
                        ".lava.gc-jobs",
                        ".lava.gc-bytes-read",
                        ".lava.gc-bytes-written",
                        ".lava.gc-input-bytes",
                        ".lava.gc-cpu-micros",
                        ".lava.compaction-cpu-micros",
                        ".lava.flush-cpu-micros",
                        ".lava.merged-value-bytes",
                        ".lava.value-files-expired",
                        ".lava.flush-stall-micros",
                        ".lava.compaction-stall-micros",
                        ".lava.memory.budget",
                        ".lava.memory.charged",
                        ".lava.memory.cache",
                        ".lava.memory.memtables",
                        ".lava.memory.table-readers",
                        ".lava.memory.metadata",
                        ".lava.memory.scans",
                        ".lava.memory.flush-jobs",
                        ".lava.memory.compaction-jobs",
                        ".lava.memory.collection-jobs",
                        ".lava.memory.gc-jobs",
                        ".lava.memory.file-buffers",
                        ".lava.memory.jobs-put-off",
                        ".lava.memory.overdrafts",
                        ".lava.host.cache-hits",
                        ".lava.host.cache-misses",
                        ".lava.host.memtable-bytes",
                        ".lava.state.the-value.live-bytes",
                        ".lava.state.the-value.records");
        // Flink's web interface shows one name for each object.
        assertThat(gauges.values()).doesNotHaveDuplicates();
        assertThat((Long) gauges.get(".lava.live-files").getValue()).isEqualTo(2);
        assertThat((Long) gauges.get(".lava.live-bytes").getValue()).isPositive();
        assertThat((Long) gauges.get(".lava.value-files").getValue()).isEqualTo(1);
        assertThat((Long) gauges.get(".lava.value-file-bytes").getValue()).isPositive();
        assertThat((Long) gauges.get(".lava.value-bytes-written").getValue()).isPositive();
        assertThat((Long) gauges.get(".lava.value-garbage-bytes").getValue()).isZero();
        assertThat((Long) gauges.get(".lava.collections").getValue()).isZero();
        assertThat((Long) gauges.get(".lava.gc-jobs").getValue()).isZero();
        assertThat((Long) gauges.get(".lava.direct-io-refused-files").getValue()).isZero();
        assertThat((Long) gauges.get(".lava.snapshots-given-up").getValue()).isZero();
        assertThat((Long) gauges.get(".lava.space-pressure-percent").getValue()).isZero();
        assertThat((Long) gauges.get(".lava.estimated-live-bytes").getValue()).isPositive();
        assertThat((Long) gauges.get(".lava.state.the-value.records").getValue()).isEqualTo(2);
        assertThat((Long) gauges.get(".lava.state.the-value.value-files").getValue()).isEqualTo(1);
        assertThat((Long) gauges.get(".lava.state.the-value.value-bytes").getValue())
                .isGreaterThan(50_000);
        assertThat((Long) gauges.get(".lava.state.the-value.value-garbage-bytes").getValue())
                .isZero();
        assertThat((Long) gauges.get(".lava.state.the-value.separation-bytes").getValue())
                .as("it was registered as timers last, and those are never separated")
                .isZero();
        assertThat((Long) gauges.get(".lava.host.instances-open").getValue()).isPositive();
        assertThat((Long) gauges.get(".lava.memory.metadata").getValue()).isPositive();
        assertThat((Long) gauges.get(".lava.memory.charged").getValue())
                .isBetween(1L, (Long) gauges.get(".lava.memory.budget").getValue());
        fixture.close(backend);
        Thread.sleep(1100);
        // The last reported numbers stay, and reading them throws nothing.
        assertThat((Long) gauges.get(".lava.live-files").getValue()).isEqualTo(2);
    }

    @Test
    void statesHaveNoMetricsWhenSwitchedOff() throws Exception {
        RecordingMetricGroup group = new RecordingMetricGroup();
        new LavaMetrics(backend.instance(), group, false);
        assertThat(group.gauges().keySet()).noneMatch(name -> name.contains(".state."));
    }
}
