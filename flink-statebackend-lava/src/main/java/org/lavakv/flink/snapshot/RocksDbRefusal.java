// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.snapshot;

import org.apache.flink.runtime.state.IncrementalKeyedStateHandle.HandleAndLocalPath;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.runtime.state.filemerging.EmptySegmentFileStateHandle;
import org.apache.flink.runtime.state.filemerging.SegmentFileStateHandle;
import org.apache.flink.runtime.state.memory.ByteStreamStateHandle;

/**
 * An entry in a checkpoint's handle that makes a restore by Flink's RocksDB backend fail at its
 * first step, with a message that says what the checkpoint is.
 *
 * <p>The RocksDB backend uses each entry's name as a file name in its own directory before it
 * fetches anything. A file name cannot contain the character NUL, so the restore fails there, and
 * Java's message quotes the name. Without this entry all files would be fetched, and the message
 * would be RocksDB's "Column family not found".
 */
public final class RocksDbRefusal {

    /** The entry's name: a message, and the character that no file name may contain. */
    public static final String NAME =
            "This checkpoint or native savepoint was written by the state backend Lava. Set"
                    + " state.backend.type: lava to restore it, or take a canonical savepoint on"
                    + " Lava (flink savepoint --type canonical), which every state backend"
                    + " restores.\0";

    private RocksDbRefusal() {}

    /**
     * The entry; it has no bytes in the checkpoint's storage.
     *
     * @param beside a handle of the same checkpoint: where Flink merges files, all handles are
     *     segments
     */
    static HandleAndLocalPath entry(StreamStateHandle beside) {
        StreamStateHandle empty =
                beside instanceof SegmentFileStateHandle
                        ? EmptySegmentFileStateHandle.INSTANCE
                        : new ByteStreamStateHandle("lava-refusal", new byte[0]);
        return HandleAndLocalPath.of(empty, NAME);
    }
}
