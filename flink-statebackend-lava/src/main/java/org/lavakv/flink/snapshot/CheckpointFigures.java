// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.snapshot;

import java.util.concurrent.TimeUnit;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.lavakv.CheckpointFiles;

/**
 * Figures of one checkpoint of a backend, for its log line and for metrics. Files and bytes are the
 * engine's, without the descriptions of Flink and Lava, and without dead bytes in packs. Units:
 * bytes, nanoseconds.
 *
 * <p>Threads: immutable.
 */
public final class CheckpointFigures {

    private final long checkpointId;
    private final long sealedBytes;
    private final long flushedBytes;
    private final int uploadedFiles;
    private final long uploadedBytes;
    private final int packedFiles;
    private final int packs;
    private final int reusedFiles;
    private final long reusedBytes;
    private final long checkpointedBytes;
    private final long stateBytes;
    private final Times times;

    /** How long the parts of a checkpoint took. Threads: immutable. */
    static final class Times {
        private final long syncNanos;
        private final long flushNanos;
        private final long uploadNanos;
        private final long totalNanos;

        /**
         * @param flushNanos time spent waiting for the flush
         * @param uploadNanos time after the flush, including local writes
         * @param totalNanos from the begin of the synchronous part to the end, including waits for
         *     threads
         */
        Times(long syncNanos, long flushNanos, long uploadNanos, long totalNanos) {
            this.syncNanos = syncNanos;
            this.flushNanos = flushNanos;
            this.uploadNanos = uploadNanos;
            this.totalNanos = totalNanos;
        }
    }

    /**
     * @param handle the handle that Flink gets
     */
    CheckpointFigures(
            long checkpointId,
            CheckpointFiles content,
            UploadPlan plan,
            KeyedStateHandle handle,
            Times times) {
        this.checkpointId = checkpointId;
        this.sealedBytes = content.sealedBytes();
        this.flushedBytes = content.flushedBytes();
        this.packs = plan.packs().size();
        this.packedFiles = plan.packs().stream().mapToInt(pack -> pack.files().size()).sum();
        this.uploadedFiles = plan.alone().size() + packedFiles;
        this.uploadedBytes =
                UploadPlan.bytes(plan.alone())
                        + plan.packs().stream()
                                .mapToLong(pack -> UploadPlan.bytes(pack.files()))
                                .sum();
        this.reusedFiles = plan.reusedFiles().size();
        this.reusedBytes = UploadPlan.bytes(plan.reusedFiles());
        this.checkpointedBytes = handle.getCheckpointedSize();
        this.stateBytes = handle.getStateSize();
        this.times = times;
    }

    /** Files that were not in the checkpoint's storage before. */
    public int uploadedFiles() {
        return uploadedFiles;
    }

    /** Their bytes. */
    public long uploadedBytes() {
        return uploadedBytes;
    }

    /** Files that an earlier checkpoint had uploaded. */
    public int reusedFiles() {
        return reusedFiles;
    }

    /** Their bytes. */
    public long reusedBytes() {
        return reusedBytes;
    }

    /**
     * A line for the log.
     *
     * @param instance the location of the backend's files
     */
    String line(Object instance) {
        return String.format(
                "Checkpoint %d of %s: sealed %d bytes of memtables, which became %d bytes of"
                        + " files; uploaded %d files of %d bytes, %d of them in %d packs; reused"
                        + " %d files of %d bytes. Including descriptions, %d bytes are new, of"
                        + " %d bytes in all. The synchronous part took %d us, the flush %d ms,"
                        + " the upload %d ms, and the whole checkpoint %d ms.",
                checkpointId,
                instance,
                sealedBytes,
                flushedBytes,
                uploadedFiles,
                uploadedBytes,
                packedFiles,
                packs,
                reusedFiles,
                reusedBytes,
                checkpointedBytes,
                stateBytes,
                TimeUnit.NANOSECONDS.toMicros(times.syncNanos),
                TimeUnit.NANOSECONDS.toMillis(times.flushNanos),
                TimeUnit.NANOSECONDS.toMillis(times.uploadNanos),
                TimeUnit.NANOSECONDS.toMillis(times.totalNanos));
    }
}
