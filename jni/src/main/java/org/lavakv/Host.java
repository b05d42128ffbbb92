// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv;

import java.util.StringJoiner;

/**
 * Resources shared by all instances of one process and one copy of the library: block cache,
 * background threads, memory.
 *
 * <p>Threads: any thread.
 *
 * <p>Errors: all methods except those that list open objects throw IllegalStateException until the
 * library is loaded ({@link LavaDB#loadLibrary}).
 */
public final class Host {

    private Host() {}

    /**
     * Adds bytes to the process's native memory.
     *
     * @param writeBufferRatio the share of memtables, between 0 and 1, both exclusive
     * @throws LavaDBException INVALID_ARGUMENT, MEMORY_LIMIT
     */
    public static Lease acquire(long bytes, double writeBufferRatio) throws LavaDBException {
        if (bytes <= 0) {
            throw new IllegalArgumentException("a lease needs more than 0 bytes, not " + bytes);
        }
        if (!(writeBufferRatio > 0 && writeBufferRatio < 1)) {
            throw new IllegalArgumentException(
                    "the write buffer ratio must lie between 0 and 1, not " + writeBufferRatio);
        }
        LavaLibrary.checkLoaded();
        return new Lease(acquire0(bytes, writeBufferRatio));
    }

    /** The counters of this copy of the library. */
    public static HostStatistics getStatistics() {
        LavaLibrary.checkLoaded();
        long[] numbers = new long[HostStatistics.NUMBERS];
        statistics0(numbers);
        return new HostStatistics(numbers);
    }

    /** Sets the number of background threads, at least 1; default 2. Takes effect at once. */
    public static void setBackgroundThreads(int count) {
        if (count < 1) {
            throw new IllegalArgumentException(
                    "there must be at least 1 background thread, not " + count);
        }
        LavaLibrary.checkLoaded();
        setBackgroundThreads0(count);
    }

    /**
     * Sets the CPU time that background jobs may use, in cores; 0, the default: no limit. Takes
     * effect at once. Flushes never wait for it; their CPU time is subtracted from that of other
     * jobs.
     */
    public static void setBackgroundCpu(double cores) {
        if (!(cores >= 0 && cores < Double.POSITIVE_INFINITY)) {
            throw new IllegalArgumentException(
                    "background jobs may use a number of cores, or 0 for no limit, not " + cores);
        }
        LavaLibrary.checkLoaded();
        setBackgroundCpu0(cores);
    }

    /**
     * Limits the total size of the files of all databases of the process; 0, the default: no limit.
     * Takes effect at once.
     */
    public static void setSpaceLimit(long bytes) {
        if (bytes < 0) {
            throw new IllegalArgumentException(
                    "the limit of space must be a number of bytes, or 0 for none, not " + bytes);
        }
        LavaLibrary.checkLoaded();
        setSpaceLimit0(bytes);
    }

    /**
     * Number of databases, snapshots, leases, volumes and files of volumes that are open (not
     * closed yet).
     */
    public static long openNativeObjects() {
        return LavaLibrary.isLoaded() ? openNativeObjects0() : 0;
    }

    /** Number of such objects that became unreachable without having been closed. */
    public static long leakedNativeObjects() {
        return NativeObject.LEAKED.get();
    }

    /**
     * Describes the open objects and used memory of this copy of the library. Empty once everything
     * was closed and all native memory was returned, except for memory that threads keep for their
     * calls. For tests and logs.
     */
    public static String describeOpen() {
        if (!LavaLibrary.isLoaded()) {
            return "";
        }
        HostStatistics host = getStatistics();
        StringJoiner open = new StringJoiner(", ");
        addUnlessZero(open, openNativeObjects(), "native objects");
        addUnlessZero(open, host.instancesOpen(), "instances");
        addUnlessZero(open, host.leasesOpen(), "leases");
        addUnlessZero(open, host.memtableBytes(), "bytes of memtables");
        addUnlessZero(open, host.tableReaderBytes(), "bytes of open files");
        addUnlessZero(open, host.fileBufferBytes(), "bytes of files being written");
        addUnlessZero(open, host.cachePinnedBytes(), "pinned bytes of the cache");
        addUnlessZero(open, host.cacheUsedBytes(), "bytes of the cache");
        // Threads free their memory when they end.
        addUnlessZero(open, host.chargedBytes() - host.bindingBytes(), "bytes in all");
        return open.toString();
    }

    private static void addUnlessZero(StringJoiner open, long count, String what) {
        if (count != 0) {
            open.add(count + " " + what);
        }
    }

    private static native long acquire0(long bytes, double writeBufferRatio) throws LavaDBException;

    private static native void statistics0(long[] numbers);

    private static native void setBackgroundThreads0(int count);

    private static native void setBackgroundCpu0(double cores);

    private static native void setSpaceLimit0(long bytes);

    private static native long openNativeObjects0();
}
