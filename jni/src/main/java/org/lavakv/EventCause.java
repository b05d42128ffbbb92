// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv;

import java.util.List;

/**
 * Why a job began, a write waits, or a snapshot ended. The first word says which of them.
 *
 * <p>Threads: immutable.
 */
public enum EventCause {
    /** The memtable reached its limit of bytes. */
    FLUSH_MEMTABLE_FULL("memtable full"),
    /** The memtables of the lease reached their limit together. */
    FLUSH_MEMORY_SHARED("memory of the lease full"),
    /** A snapshot was taken. */
    FLUSH_SNAPSHOT("snapshot"),
    /** {@link LavaDB#flush}. */
    FLUSH_REQUESTED("requested"),
    /** {@link LavaDB#compactAll}. */
    FLUSH_COMPACT_ALL("compaction of all"),
    /** The instance was opened, and its write-ahead log was replayed. */
    FLUSH_REPLAY("replay"),

    /** Level 0 has too many files. */
    COMPACTION_LEVEL0("files of level 0"),
    /** A deeper level has too many bytes. */
    COMPACTION_LEVEL_SIZE("size of a level"),
    /** Space is short, and upper levels hide garbage. */
    COMPACTION_EXPOSURE("hidden garbage"),
    /** Scans pay for values to be put in the order of their keys. */
    COMPACTION_ORDER("order of values"),
    /** {@link LavaDB#compactAll}. */
    COMPACTION_MANUAL("requested"),

    /** Enough of a value file is garbage. */
    COLLECTION_GARBAGE("garbage"),
    /** All values of the files have expired. */
    COLLECTION_EXPIRED("expired values"),
    /** Space is short, so less garbage suffices. */
    COLLECTION_SPACE("short of space"),

    /** Too many memtables wait for their flush. */
    STALL_FLUSH("flushes"),
    /** Level 0 has too many files. */
    STALL_LEVEL0("files of level 0"),
    /** A low limit of space is passed: writes go on, slowed. */
    STALL_SPACE_SLOWDOWN("slowed for space"),
    /** The instance's high limit of space is reached. */
    STALL_SPACE_LIMIT("limit of space"),
    /** The high limit that several instances share is reached. */
    STALL_SPACE_OF_PROCESS("limit of space of the process"),

    /** Its owner released it. */
    SNAPSHOT_RELEASED("released"),
    /** Writes needed the space of its files. */
    SNAPSHOT_GIVEN_UP("given up"),
    /** The instance was closed. */
    SNAPSHOT_CLOSED("closed");

    /** The causes of each kind of event, in the order of the native library. */
    static final List<EventCause> OF_FLUSH =
            List.of(
                    FLUSH_MEMTABLE_FULL,
                    FLUSH_MEMORY_SHARED,
                    FLUSH_SNAPSHOT,
                    FLUSH_REQUESTED,
                    FLUSH_COMPACT_ALL,
                    FLUSH_REPLAY);

    static final List<EventCause> OF_COMPACTION =
            List.of(
                    COMPACTION_LEVEL0,
                    COMPACTION_LEVEL_SIZE,
                    COMPACTION_EXPOSURE,
                    COMPACTION_ORDER,
                    COMPACTION_MANUAL);

    static final List<EventCause> OF_COLLECTION =
            List.of(COLLECTION_GARBAGE, COLLECTION_EXPIRED, COLLECTION_SPACE);

    static final List<EventCause> OF_STALL =
            List.of(
                    STALL_FLUSH,
                    STALL_LEVEL0,
                    STALL_SPACE_SLOWDOWN,
                    STALL_SPACE_LIMIT,
                    STALL_SPACE_OF_PROCESS);

    static final List<EventCause> OF_SNAPSHOT =
            List.of(SNAPSHOT_RELEASED, SNAPSHOT_GIVEN_UP, SNAPSHOT_CLOSED);

    private final String text;

    EventCause(String text) {
        this.text = text;
    }

    /** The cause in words, for logs, as the engine has it. */
    public String text() {
        return text;
    }
}
