// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv;

import java.util.Locale;

/**
 * A number of an {@link EngineEvent}; {@link EventKind#figures} says which kind has which. Units:
 * bytes, where the name says so.
 *
 * <p>Threads: immutable.
 */
public enum EventFigure {
    /** Flush: memtables being written. Stall: memtables that wait for a flush when it begins. */
    MEMTABLES,
    /** Flush: size of its memtables. Snapshot: size of the memtables that were in no file. */
    MEMTABLE_BYTES,
    /** Key and value files that a flush wrote. */
    FILES,
    /** Flush: size of its key file. Stall, snapshot: size of all files at its begin. */
    FILE_BYTES,
    /** Size of the value files of a flush. */
    VALUE_FILE_BYTES,
    /**
     * 1: readers see the result. 0 with status OK: an older flush installs both, or the result was
     * discarded because the clock went back or the inputs had disappeared.
     */
    INSTALLED,
    /** 1: files go to the next level as they are. */
    TRIVIAL_MOVE,
    /** Level of the first inputs of a compaction. */
    INPUT_LEVEL,
    /** The level that a compaction writes to; it may be the level of its inputs. */
    OUTPUT_LEVEL,
    /** Key files of a compaction, or value files that a collection reads. */
    INPUT_FILES,
    /** Size of all inputs. */
    INPUT_FILE_BYTES,
    /** Value files whose values a compaction rewrites. */
    MERGED_VALUE_FILES,
    /** Files that a compaction or a collection wrote. */
    OUTPUT_FILES,
    /** Value files that a compaction wrote. */
    OUTPUT_VALUE_FILES,
    /** Bytes read: from key files by a compaction, from value files by a collection. */
    READ_BYTES,
    /** Bytes written: to key files by a compaction, to value files by a collection. */
    WRITTEN_BYTES,
    /** Size of the value files that a compaction wrote. */
    WRITTEN_VALUE_BYTES,
    /** Records that a compaction dropped because they had expired. */
    RECORDS_EXPIRED,
    /** Value files that a collection drops unread, because all their values have expired. */
    EXPIRED_FILES,
    /** Estimated garbage of the inputs of a collection. */
    GARBAGE_BYTES,
    /** Values that a collection did not copy, because nothing refers to them. */
    VALUES_DEAD,
    /** Values that a collection did not copy, because they have expired. */
    VALUES_EXPIRED,
    /** Files of level 0 when a stall began. */
    LEVEL0_FILES,
    /** Size of files that only snapshots keep, when a stall began, if such files count. */
    PINNED_BYTES,
    /** When background work failed first, milliseconds since the epoch. */
    SINCE_MS,
    /** Attempts of background work that failed so far. */
    FAILURES;

    /** The name of the figure in the native library. */
    String nativeName() {
        return name().toLowerCase(Locale.ROOT);
    }
}
