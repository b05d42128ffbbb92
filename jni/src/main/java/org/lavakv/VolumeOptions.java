// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv;

import java.util.Objects;

/**
 * Options of a {@link Volume}, which take effect when it is mounted.
 *
 * <p>Threads: not safe for concurrent changes; {@link Volume#open} copies the options.
 *
 * <p>Units: bytes.
 *
 * <p>Errors: setters refuse negative numbers; {@link Volume#open} checks the rest.
 */
public final class VolumeOptions {

    private long capacityBytes;
    private String capacitySetting = "VolumeOptions.capacityBytes";
    private boolean directIo = true;
    private boolean powerSafe;
    private long growBytes = 64L << 20;
    private long reserveBytes = 64L << 20;
    private long idleReserveBytes = 256L << 20;

    /** Options with their default values. */
    public VolumeOptions() {}

    /**
     * Maximum size of the volume, at least 32 MiB; 0: the size of the disk below. With a capacity,
     * instances compact, collect and slow their writes before the volume is full, as with a space
     * limit. Default: 0.
     */
    public VolumeOptions setCapacityBytes(long capacityBytes) {
        this.capacityBytes = notNegative(capacityBytes, "capacityBytes");
        return this;
    }

    /** The name of the capacity's setting in messages. Default: this class's name for it. */
    public VolumeOptions setCapacitySetting(String capacitySetting) {
        this.capacitySetting = Objects.requireNonNull(capacitySetting, "capacitySetting");
        return this;
    }

    String capacitySetting() {
        return capacitySetting;
    }

    /**
     * Whether to use direct I/O if the system does not refuse it; {@link VolumeFigures#directIo}
     * tells. Default: true.
     */
    public VolumeOptions setDirectIo(boolean directIo) {
        this.directIo = directIo;
        return this;
    }

    /**
     * Whether synced data must survive a power cut. If not, it survives only the end of the
     * process, and the space of removed files is reused at once. Default: false.
     */
    public VolumeOptions setPowerSafe(boolean powerSafe) {
        this.powerSafe = powerSafe;
        return this;
    }

    /** Maximum step by which the volume grows; a step is a quarter of its size. Default: 64 MiB. */
    public VolumeOptions setGrowBytes(long growBytes) {
        this.growBytes = notNegative(growBytes, "growBytes");
        return this;
    }

    /**
     * Free space reserved for collections, manifests and the volume's journal, so that a full
     * volume can be emptied. Limited to an eighth of the capacity, and to the space in use.
     * Default: 64 MiB.
     */
    public VolumeOptions setReserveBytes(long reserveBytes) {
        this.reserveBytes = notNegative(reserveBytes, "reserveBytes");
        return this;
    }

    /**
     * Free space in excess of this is returned to the disk when a directory is removed. Default:
     * 256 MiB.
     */
    public VolumeOptions setIdleReserveBytes(long idleReserveBytes) {
        this.idleReserveBytes = notNegative(idleReserveBytes, "idleReserveBytes");
        return this;
    }

    public boolean directIo() {
        return directIo;
    }

    /** The numbers as the native library reads them, by position. */
    long[] toNative() {
        return new long[] {
            capacityBytes,
            directIo ? 1 : 0,
            powerSafe ? 1 : 0,
            growBytes,
            reserveBytes,
            idleReserveBytes,
        };
    }

    private static long notNegative(long value, String name) {
        if (value < 0) {
            throw new IllegalArgumentException(name + " must not be negative: " + value);
        }
        return value;
    }
}
