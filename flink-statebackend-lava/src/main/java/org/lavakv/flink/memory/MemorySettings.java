// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.memory;

import javax.annotation.Nullable;
import org.apache.flink.configuration.MemorySize;

/**
 * Where native memory comes from. A fixed size for each slot takes precedence over managed memory,
 * and managed memory over a fixed size for the whole TaskManager.
 *
 * <p>Threads: a value. Units: bytes in {@link MemorySize}; the ratio is in (0, 1).
 */
public final class MemorySettings {

    private final boolean managed;
    @Nullable private final MemorySize fixedPerSlot;
    private final double writeBufferRatio;

    public MemorySettings(
            boolean managed, @Nullable MemorySize fixedPerSlot, double writeBufferRatio) {
        this.managed = managed;
        this.fixedPerSlot = fixedPerSlot;
        this.writeBufferRatio = writeBufferRatio;
    }

    public boolean managed() {
        return managed;
    }

    @Nullable
    public MemorySize fixedPerSlot() {
        return fixedPerSlot;
    }

    /** The share of memtables; the block cache gets the rest. */
    public double writeBufferRatio() {
        return writeBufferRatio;
    }
}
