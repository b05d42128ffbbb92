// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.memory;

import java.util.UUID;
import org.apache.flink.configuration.IllegalConfigurationException;
import org.apache.flink.runtime.execution.Environment;
import org.apache.flink.runtime.memory.OpaqueMemoryResource;
import org.apache.flink.runtime.memory.SharedResources;
import org.lavakv.Host;
import org.lavakv.Lease;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A backend's share in a memory lease. All backends of a slot (or of the TaskManager) have the same
 * lease. Closing the last share returns the memory to Flink.
 *
 * <p>Threads: any thread. Ownership: the caller of {@link #acquire} closes the share, after the
 * database that uses the lease.
 *
 * <p>Errors: {@link IllegalConfigurationException} when no managed memory was reserved; exceptions
 * of Flink's memory manager; a failed close is logged.
 */
public final class SlotMemory implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(SlotMemory.class);

    private static final String MANAGED_ID = "state-lava-managed-memory";
    private static final String FIXED_SLOT_ID = "state-lava-fixed-slot-memory";

    // A TaskManager's shared resources outlive jobs and their class loaders. Each copy of these
    // classes has its own id, so that it never gets a lease of another copy's class.
    private static final String FIXED_TASK_MANAGER_ID =
            "state-lava-fixed-tm-memory-" + UUID.randomUUID();

    /** Memory of a backend if no option gives it any. */
    private static final long DEFAULT_BYTES = 128L << 20;

    /** With less memory, jobs run one at a time and exceed it. */
    private static final long USUAL_BYTES_MIN = 4L << 20;

    private final Lease lease;
    private final AutoCloseable release;

    private SlotMemory(Lease lease, AutoCloseable release) {
        this.lease = lease;
        this.release = release;
    }

    /**
     * Acquires a share.
     *
     * @param managedFraction the fraction of the slot's managed memory that is reserved for state
     * @param taskManagerBytes the fixed size for the TaskManager, or 0
     */
    public static SlotMemory acquire(
            MemorySettings settings,
            Environment environment,
            double managedFraction,
            long taskManagerBytes)
            throws Exception {
        double ratio = settings.writeBufferRatio();
        if (settings.fixedPerSlot() != null) {
            return of(
                    environment
                            .getMemoryManager()
                            .getExternalSharedMemoryResource(
                                    FIXED_SLOT_ID,
                                    bytes -> Host.acquire(bytes, ratio),
                                    settings.fixedPerSlot().getBytes()),
                    "fixed memory of the slot");
        }
        if (settings.managed()) {
            return of(
                    environment
                            .getMemoryManager()
                            .getSharedMemoryResourceForManagedMemory(
                                    MANAGED_ID,
                                    bytes -> acquireManaged(bytes, ratio),
                                    managedFraction),
                    "managed memory of the slot");
        }
        if (taskManagerBytes > 0) {
            return ofTaskManager(environment.getSharedResources(), taskManagerBytes, ratio);
        }
        LOG.warn(
                "No memory is configured for Lava. Each backend takes {} bytes, which Flink does"
                        + " not count. Set state.backend.lava.memory.managed to true, or set"
                        + " state.backend.lava.memory.fixed-per-slot.",
                DEFAULT_BYTES);
        Lease lease = Host.acquire(DEFAULT_BYTES, ratio);
        return new SlotMemory(lease, lease);
    }

    private static Lease acquireManaged(long bytes, double ratio) throws Exception {
        if (bytes <= 0) {
            throw new IllegalConfigurationException(
                    "The slot has no managed memory for Lava. Raise"
                            + " taskmanager.memory.managed.size or"
                            + " taskmanager.memory.managed.fraction, or give Lava its own memory"
                            + " with state.backend.lava.memory.fixed-per-slot.");
        }
        return Host.acquire(bytes, ratio);
    }

    private static SlotMemory of(OpaqueMemoryResource<Lease> resource, String what) {
        LOG.info("Lava has {} bytes of native memory: {}.", resource.getSize(), what);
        warnOfLittle(resource.getSize());
        return new SlotMemory(resource.getResourceHandle(), resource);
    }

    private static void warnOfLittle(long bytes) {
        if (bytes < USUAL_BYTES_MIN) {
            LOG.warn(
                    "Lava has {} bytes of native memory, and will exceed them. Lava needs at"
                            + " least {} bytes for a memtable, a flush and another background"
                            + " job. Raise taskmanager.memory.managed.size, or set"
                            + " state.backend.lava.memory.fixed-per-slot.",
                    bytes,
                    USUAL_BYTES_MIN);
        }
    }

    private static SlotMemory ofTaskManager(SharedResources resources, long bytes, double ratio)
            throws Exception {
        Object holder = new Object();
        SharedResources.ResourceAndSize<Lease> resource =
                resources.getOrAllocateSharedResource(
                        FIXED_TASK_MANAGER_ID, holder, size -> Host.acquire(size, ratio), bytes);
        LOG.info("Lava has {} bytes of native memory: fixed, of the TaskManager.", resource.size());
        warnOfLittle(resource.size());
        return new SlotMemory(
                resource.resourceHandle(),
                () -> resources.release(FIXED_TASK_MANAGER_ID, holder, unused -> {}));
    }

    public Lease lease() {
        return lease;
    }

    @Override
    public void close() {
        try {
            release.close();
        } catch (Exception e) {
            LOG.warn("Returning native memory to Flink failed.", e);
        }
    }
}
