// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.snapshot;

import java.nio.file.Path;
import javax.annotation.Nullable;
import org.lavakv.CheckpointFiles;
import org.lavakv.FileInfo;
import org.lavakv.flink.checkpoint.CheckpointDescription;

/**
 * The content of one checkpoint.
 *
 * <p>Threads: immutable. Ownership: does not own the files; returned arrays are not copies.
 */
final class CheckpointContent {

    private final CheckpointFiles files;
    private final byte[] stateMeta;
    private final byte[] description;
    @Nullable private final Path timers;
    @Nullable private final FileInfo timersInfo;

    CheckpointContent(
            CheckpointFiles files,
            byte[] stateMeta,
            byte[] description,
            @Nullable Path timers,
            @Nullable FileInfo timersInfo) {
        this.files = files;
        this.stateMeta = stateMeta;
        this.description = description;
        this.timers = timers;
        this.timersInfo = timersInfo;
    }

    /** The engine's files. */
    CheckpointFiles files() {
        return files;
    }

    /** Flink's description of the states. */
    byte[] stateMeta() {
        return stateMeta;
    }

    /** The bytes written by {@link CheckpointDescription}. */
    byte[] description() {
        return description;
    }

    /** The file of timers on the heap, or null. */
    @Nullable
    Path timers() {
        return timers;
    }

    /** Name, length and checksum of this file, or null. */
    @Nullable
    FileInfo timersInfo() {
        return timersInfo;
    }
}
