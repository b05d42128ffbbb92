// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink;

import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.ObjIntConsumer;
import java.util.function.ObjLongConsumer;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.MemorySize;
import org.lavakv.CompressionType;
import org.lavakv.DBOptions;
import org.lavakv.ValuePolicy;

/**
 * The options that the plugin passes to the engine. Each row says which values are allowed and
 * which engine option is set. Name, default and documentation are part of the option itself. {@code
 * OptionTableTest} fails if an option is missing here or in the engine; docs/adding-an-option.md
 * lists the steps.
 *
 * <p>Threads: immutable.
 */
final class EngineOptions {

    private static final long INT_BYTES_MAX = 64L << 20;
    private static final int VALUE_DECISIONS_MAX = 1000; // between two reports

    /** A row. Threads: immutable. */
    static final class Row {
        private final ConfigOption<?> option;
        private final BiConsumer<LavaSettings, DBOptions> setting;

        private Row(ConfigOption<?> option, BiConsumer<LavaSettings, DBOptions> setting) {
            this.option = option;
            this.setting = setting;
        }

        ConfigOption<?> option() {
            return option;
        }

        /** Checks the option's value and sets it. */
        void set(LavaSettings settings, DBOptions options) {
            setting.accept(settings, options);
        }
    }

    static final List<Row> ROWS =
            List.of(
                    row(
                            LavaConfigurableOptions.MEMTABLE_SIZE,
                            (settings, options) ->
                                    settings.bytesIfSet(
                                                    LavaConfigurableOptions.MEMTABLE_SIZE,
                                                    64L << 10,
                                                    1L << 30)
                                            .ifPresent(options::setMemtableBytes)),
                    bytes(
                            LavaConfigurableOptions.BLOCK_SIZE,
                            256,
                            INT_BYTES_MAX,
                            (options, bytes) -> options.setBlockBytes((int) bytes)),
                    choice(
                            LavaConfigurableOptions.COMPRESSION,
                            CompressionType.class,
                            DBOptions::setCompression),
                    choice(
                            LavaConfigurableOptions.BOTTOM_COMPRESSION,
                            CompressionType.class,
                            DBOptions::setBottomCompression),
                    bytes(
                            LavaConfigurableOptions.TARGET_FILE_SIZE,
                            64L << 10,
                            1L << 40,
                            DBOptions::setTargetFileBytes),
                    bytes(
                            LavaConfigurableOptions.LEVEL_BASE_SIZE,
                            64L << 10,
                            1L << 50,
                            DBOptions::setLevel1Bytes),
                    ints(
                            LavaConfigurableOptions.FILTER_BITS_PER_KEY,
                            0,
                            64,
                            DBOptions::setFilterBitsPerKey),
                    row(
                            LavaConfigurableOptions.VALUE_SEPARATION_COMPRESSION,
                            (settings, options) ->
                                    options.setValueCompression(settings.valueCompression())),
                    bytes(
                            LavaConfigurableOptions.VALUE_FILE_SIZE,
                            64L << 10,
                            1L << 40,
                            DBOptions::setValueFileBytes),
                    choice(
                            LavaConfigurableOptions.VALUE_POLICY,
                            ValuePolicy.class,
                            DBOptions::setValuePolicy),
                    row(
                            LavaConfigurableOptions.VALUE_DECISIONS_LOGGED,
                            (settings, options) ->
                                    options.setValueDecisionsMax(
                                            settings.get(
                                                            LavaConfigurableOptions
                                                                    .VALUE_DECISIONS_LOGGED,
                                                            Boolean.class)
                                                    ? VALUE_DECISIONS_MAX
                                                    : 0)),
                    ints(
                            LavaConfigurableOptions.COLLECTION_GARBAGE_THRESHOLD,
                            1,
                            100,
                            DBOptions::setCollectionGarbagePercent),
                    percent(
                            LavaConfigurableOptions.SPACE_LIMIT_RATIO,
                            1.01,
                            DBOptions::setSpaceHighPercent),
                    percent(
                            LavaConfigurableOptions.SPACE_SOFT_LIMIT_RATIO,
                            1.0,
                            DBOptions::setSpaceLowPercent),
                    limit(LavaConfigurableOptions.SPACE_LIMIT, DBOptions::setSpaceHighBytes),
                    limit(LavaConfigurableOptions.SPACE_SOFT_LIMIT, DBOptions::setSpaceLowBytes),
                    row(
                            LavaConfigurableOptions.DIRECT_IO,
                            (settings, options) ->
                                    options.setUseDirectReads(settings.directIo())
                                            .setUseDirectIoForFlushAndCompaction(
                                                    settings.directIo())));

    private EngineOptions() {}

    private static Row row(ConfigOption<?> option, BiConsumer<LavaSettings, DBOptions> setting) {
        return new Row(option, setting);
    }

    private static Row ints(
            ConfigOption<Integer> option, int min, int max, ObjIntConsumer<DBOptions> setter) {
        return row(
                option,
                (settings, options) ->
                        setter.accept(options, settings.intBetween(option, min, max)));
    }

    private static Row bytes(
            ConfigOption<MemorySize> option,
            long min,
            long max,
            ObjLongConsumer<DBOptions> setter) {
        return row(
                option,
                (settings, options) ->
                        setter.accept(options, settings.bytesBetween(option, min, max)));
    }

    /** A row for a size limit, which is 0 unless the option is set. */
    private static Row limit(ConfigOption<MemorySize> option, ObjLongConsumer<DBOptions> setter) {
        return row(
                option, (settings, options) -> setter.accept(options, settings.limitBytes(option)));
    }

    /** A row for a ratio in percent, which is 0 unless the option is set. */
    private static Row percent(
            ConfigOption<Double> option, double min, ObjIntConsumer<DBOptions> setter) {
        return row(
                option,
                (settings, options) -> setter.accept(options, settings.percent(option, min)));
    }

    private static <E extends Enum<E>> Row choice(
            ConfigOption<E> option, Class<E> type, BiConsumer<DBOptions, E> setter) {
        return row(
                option, (settings, options) -> setter.accept(options, settings.get(option, type)));
    }
}
