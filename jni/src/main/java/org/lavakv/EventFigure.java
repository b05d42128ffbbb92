package org.lavakv;

import java.util.Locale;

/**
 * A number of an {@link EngineEvent}; {@link EventKind#figures} says which kind has which. Units:
 * bytes, where the name says so.
 *
 * <p>Threads: immutable.
 */
public enum EventFigure {
    /** Of a flush: that are written. Of a stall: that wait for their flush when it begins. */
    MEMTABLES,
    /** Of a flush: of its memtables. Of a snapshot: of those that were in no file. */
    MEMTABLE_BYTES,
    /** Key and value files that a flush wrote. */
    FILES,
    /** Of the key file of a flush; of all files when a stall began or a snapshot was taken. */
    FILE_BYTES,
    /** Of the value files of a flush. */
    VALUE_FILE_BYTES,
    /**
     * 1: readers see the result. 0 with status OK: an older flush installs both, or the result was
     * discarded because the clock went back or the inputs had disappeared.
     */
    INSTALLED,
    /** 1: files go to the next level as they are. */
    TRIVIAL_MOVE,
    /** Of the first inputs of a compaction. */
    INPUT_LEVEL,
    /** The level that a compaction writes to; it may be the level of its inputs. */
    OUTPUT_LEVEL,
    /** Key files of a compaction, or value files that a collection reads. */
    INPUT_FILES,
    /** Of all inputs. */
    INPUT_FILE_BYTES,
    /** Value files whose values a compaction rewrites. */
    MERGED_VALUE_FILES,
    /** Files that a compaction or a collection wrote. */
    OUTPUT_FILES,
    /** Value files that a compaction wrote. */
    OUTPUT_VALUE_FILES,
    /** Of key files for a compaction, of value files for a collection. */
    READ_BYTES,
    /** Of key files for a compaction, of value files for a collection. */
    WRITTEN_BYTES,
    /** Of value files that a compaction wrote. */
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
    /** Of files that only snapshots keep, when a stall began, if these count. */
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
