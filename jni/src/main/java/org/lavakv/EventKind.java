// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv;

import java.util.List;
import java.util.Locale;

/**
 * What an {@link EngineEvent} tells: one kind for each function of the native library's {@code
 * EventListener}, in the library's order.
 *
 * <p>Threads: immutable.
 */
public enum EventKind {
    /** A memtable is being written to files. */
    FLUSH_BEGIN(EventCause.OF_FLUSH, EventFigure.MEMTABLES, EventFigure.MEMTABLE_BYTES),
    /** A flush was done, or failed. */
    FLUSH_END(
            EventCause.OF_FLUSH,
            EventFigure.MEMTABLES,
            EventFigure.MEMTABLE_BYTES,
            EventFigure.INSTALLED,
            EventFigure.FILES,
            EventFigure.FILE_BYTES,
            EventFigure.VALUE_FILE_BYTES),
    /** Key files are being merged into the next level. */
    COMPACTION_BEGIN(
            EventCause.OF_COMPACTION,
            EventFigure.TRIVIAL_MOVE,
            EventFigure.INPUT_LEVEL,
            EventFigure.OUTPUT_LEVEL,
            EventFigure.INPUT_FILES,
            EventFigure.INPUT_FILE_BYTES,
            EventFigure.MERGED_VALUE_FILES),
    /** A compaction was done, or failed. */
    COMPACTION_END(
            EventCause.OF_COMPACTION,
            EventFigure.TRIVIAL_MOVE,
            EventFigure.INPUT_LEVEL,
            EventFigure.OUTPUT_LEVEL,
            EventFigure.INPUT_FILES,
            EventFigure.INPUT_FILE_BYTES,
            EventFigure.MERGED_VALUE_FILES,
            EventFigure.INSTALLED,
            EventFigure.OUTPUT_FILES,
            EventFigure.OUTPUT_VALUE_FILES,
            EventFigure.READ_BYTES,
            EventFigure.WRITTEN_BYTES,
            EventFigure.WRITTEN_VALUE_BYTES,
            EventFigure.RECORDS_EXPIRED),
    /** Values that are still used are being copied out of value files. */
    COLLECTION_BEGIN(
            EventCause.OF_COLLECTION,
            EventFigure.INPUT_FILES,
            EventFigure.EXPIRED_FILES,
            EventFigure.INPUT_FILE_BYTES,
            EventFigure.GARBAGE_BYTES),
    /** A collection was done, or failed. */
    COLLECTION_END(
            EventCause.OF_COLLECTION,
            EventFigure.INPUT_FILES,
            EventFigure.EXPIRED_FILES,
            EventFigure.INPUT_FILE_BYTES,
            EventFigure.GARBAGE_BYTES,
            EventFigure.INSTALLED,
            EventFigure.OUTPUT_FILES,
            EventFigure.READ_BYTES,
            EventFigure.WRITTEN_BYTES,
            EventFigure.VALUES_DEAD,
            EventFigure.VALUES_EXPIRED),
    /** A write has to wait, or writes are slowed from now on. */
    STALL_BEGIN(
            EventCause.OF_STALL,
            EventFigure.MEMTABLES,
            EventFigure.LEVEL0_FILES,
            EventFigure.FILE_BYTES,
            EventFigure.PINNED_BYTES),
    /**
     * A write did not have to wait, or failed, or waits for another cause. The status is the
     * write's result. When the cause has changed, the status is OK, and the begin of the next stall
     * follows.
     */
    STALL_END(
            EventCause.OF_STALL,
            EventFigure.MEMTABLES,
            EventFigure.LEVEL0_FILES,
            EventFigure.FILE_BYTES,
            EventFigure.PINNED_BYTES),
    /**
     * A job found a damaged file. Its name comes first, then the tables that have records in it.
     * Tables that do not fit into the event any more are left out.
     */
    DAMAGE(List.of()),
    /** Background work fails. The code of the status joins both events. */
    BACKGROUND_ERROR_BEGIN(List.of(), EventFigure.SINCE_MS, EventFigure.FAILURES),
    /** Background work works again. The status is that of the failure. */
    BACKGROUND_ERROR_END(List.of(), EventFigure.SINCE_MS, EventFigure.FAILURES),
    /** A snapshot was taken. */
    SNAPSHOT_TAKEN(List.of(), EventFigure.MEMTABLE_BYTES, EventFigure.FILE_BYTES),
    /** A snapshot ended; the duration is how long it was held. */
    SNAPSHOT_RELEASED(EventCause.OF_SNAPSHOT, EventFigure.MEMTABLE_BYTES, EventFigure.FILE_BYTES),
    /** A file of this name was removed, or could not be removed. */
    FILE_DELETED(List.of()),
    /** The table of this name was dropped. */
    TABLE_DROPPED(List.of());

    private final List<EventCause> causes;
    private final List<EventFigure> figures;

    EventKind(List<EventCause> causes, EventFigure... figures) {
        this.causes = causes;
        this.figures = List.of(figures);
    }

    /** The figures that each event of this kind has. */
    public List<EventFigure> figures() {
        return figures;
    }

    /** The causes that an event of this kind can have, by the native library's numbers. */
    List<EventCause> causes() {
        return causes;
    }

    /** The name of the kind in the native library. */
    String nativeName() {
        return name().toLowerCase(Locale.ROOT);
    }
}
