// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv;

import java.util.Locale;

/**
 * The options of an instance that are passed to the native library as numbers, in the library's
 * order, with their defaults. The library's own table is in {@code db_options.h}, and {@code
 * DBOptionTest} compares the two. See docs/adding-an-option.md for the other steps.
 */
enum DBOption {
    PARTITION_BYTES(1),
    PARTITION_FIRST(0),
    PARTITION_LAST(0xff),
    CREATE_IF_MISSING(1),
    SYNC(0),
    WAL(WalMode.NONE.number()),
    LARGE_VALUE_BYTES(DBOptions.AUTOMATIC_LARGE_VALUES),
    USE_DIRECT_READS(0),
    USE_DIRECT_IO_FOR_FLUSH_AND_COMPACTION(0),
    MEMTABLE_BYTES(0),
    BLOCK_BYTES(4096),
    INDEX_PARTITION_BYTES(16384),
    FILTER_BITS_PER_KEY(10),
    COMPRESSION(CompressionType.LZ4.number()),
    BOTTOM_COMPRESSION(CompressionType.LZ4.number()),
    TARGET_FILE_BYTES(32L << 20),
    VALUE_FILE_BYTES(64L << 20),
    VALUE_COMPRESSION(CompressionType.LZ4.number()),
    VALUE_POLICY(ValuePolicy.AUTOMATIC.number()),
    VALUE_DECISIONS_MAX(0),
    COLLECTION_GARBAGE_PERCENT(25),
    COLLECTION_JOBS_MAX(0),
    COLLECTION_UPLOAD_COST_PERCENT(0),
    SPACE_LOW_PERCENT(0),
    SPACE_HIGH_PERCENT(0),
    SPACE_LOW_BYTES(0),
    SPACE_HIGH_BYTES(0),
    LEVEL1_BYTES(128L << 20),
    LEVEL_MULTIPLIER(10),
    LEVEL_COUNT(7),
    L0_COMPACTION_TRIGGER(4),
    L0_STALL_TRIGGER(24),
    SEALED_RUNS_MAX(4);

    private final long defaultValue;

    DBOption(long defaultValue) {
        this.defaultValue = defaultValue;
    }

    /** The name of the field in the native library. */
    String nativeName() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** The name in DBOptions. */
    String javaName() {
        StringBuilder name = new StringBuilder();
        for (String word : nativeName().split("_")) {
            name.append(
                    name.length() == 0
                            ? word
                            : word.substring(0, 1).toUpperCase(Locale.ROOT) + word.substring(1));
        }
        return name.toString();
    }

    /** All defaults, by position. */
    static long[] defaults() {
        DBOption[] options = values();
        long[] numbers = new long[options.length];
        for (DBOption option : options) {
            numbers[option.ordinal()] = option.defaultValue;
        }
        return numbers;
    }
}
