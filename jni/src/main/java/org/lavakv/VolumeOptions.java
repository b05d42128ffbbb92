package org.lavakv;

import java.util.Objects;

/**
 * Options of a {@link Volume}; they count when it is mounted.
 *
 * <p>Threads: not safe for changes from several threads; {@link Volume#open} copies it.
 *
 * <p>Units: bytes.
 *
 * <p>Errors: setters refuse negative numbers; the rest is checked by {@link Volume#open}.
 */
public final class VolumeOptions {

    private long capacityBytes;
    private String capacitySetting = "VolumeOptions.capacityBytes";
    private boolean directIo = true;
    private boolean powerSafe;
    private long growBytes = 64L << 20;
    private long reserveBytes = 64L << 20;
    private long idleReserveBytes = 256L << 20;

    /** Options with the defaults that the setters name. */
    public VolumeOptions() {}

    /**
     * What it may grow to, at least 32 MiB; 0: the size of the disk below. With a capacity,
     * instances compact and collect before the volume is full, and are slowed, as under a limit of
     * space. Default: 0.
     */
    public VolumeOptions setCapacityBytes(long capacityBytes) {
        this.capacityBytes = notNegative(capacityBytes, "capacityBytes");
        return this;
    }

    /** What messages call the setting of the capacity. Default: this class's name for it. */
    public VolumeOptions setCapacitySetting(String capacitySetting) {
        this.capacitySetting = Objects.requireNonNull(capacitySetting, "capacitySetting");
        return this;
    }

    String capacitySetting() {
        return capacitySetting;
    }

    /**
     * Past the page cache, where the system does not refuse; {@link VolumeFigures#directIo} tells.
     * Default: true.
     */
    public VolumeOptions setDirectIo(boolean directIo) {
        this.directIo = directIo;
        return this;
    }

    /**
     * Whether what is synced must outlive a power cut; if not, it outlives the process only, and
     * space of removed files is used again at once. Default: false.
     */
    public VolumeOptions setPowerSafe(boolean powerSafe) {
        this.powerSafe = powerSafe;
        return this;
    }

    /** The volume grows in steps of a quarter of its size, at most of this. Default: 64 MiB. */
    public VolumeOptions setGrowBytes(long growBytes) {
        this.growBytes = notNegative(growBytes, "growBytes");
        return this;
    }

    /**
     * Free space that only collections, manifests and the volume's journal get, so that a full
     * volume can be emptied; at most an eighth of the capacity counts, and at most as much as is in
     * use. Default: 64 MiB.
     */
    public VolumeOptions setReserveBytes(long reserveBytes) {
        this.reserveBytes = notNegative(reserveBytes, "reserveBytes");
        return this;
    }

    /**
     * Free space above this goes back to the disk when a directory is removed. Default: 256 MiB.
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
