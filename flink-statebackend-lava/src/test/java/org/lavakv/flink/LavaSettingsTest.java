// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.File;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.flink.api.common.JobID;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.IllegalConfigurationException;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.configuration.StateBackendOptions;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.runtime.state.StateBackend;
import org.apache.flink.runtime.state.StateBackendLoader;
import org.apache.flink.util.InstantiationUtil;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.lavakv.CompressionType;
import org.lavakv.DBOptions;
import org.lavakv.TableOptions;
import org.lavakv.ValuePolicy;

/** How the backend is named and configured. */
class LavaSettingsTest {

    private static LavaStateBackend configured(String... keysAndValues) {
        return new LavaStateBackend().configure(config(keysAndValues), loader());
    }

    private static ClassLoader loader() {
        return LavaSettingsTest.class.getClassLoader();
    }

    private static ReadableConfig config(String... keysAndValues) {
        Configuration config = new Configuration();
        for (int i = 0; i < keysAndValues.length; i += 2) {
            config.setString(keysAndValues[i], keysAndValues[i + 1]);
        }
        return config;
    }

    @ParameterizedTest
    @CsvSource({
        "state.backend.type, lava",
        "state.backend.type, LAVA",
        "state.backend.type, Lava",
        "state.backend, lava",
        "state.backend.type, org.lavakv.flink.LavaStateBackendFactory"
    })
    void isFoundByItsName(String key, String name) throws Exception {
        StateBackend backend =
                StateBackendLoader.loadStateBackendFromConfig(config(key, name), loader(), null);
        assertThat(backend).isInstanceOf(LavaStateBackend.class);
        assertThat(config(key, name).get(StateBackendOptions.STATE_BACKEND)).isEqualTo(name);
    }

    @Test
    void survivesSerializationWithItsOptions() throws Exception {
        LavaStateBackend backend =
                InstantiationUtil.clone(
                        new LavaStateBackend(false)
                                .set(LavaConfigurableOptions.BLOCK_SIZE, MemorySize.parse("8kb")));
        assertThat(backend.isIncremental()).isFalse();
        assertThat(backend.settings().dbOptions().blockBytes()).isEqualTo(8192);
    }

    @Test
    void volumesHaveACapacityOfWhichNoneIsTooSmall() {
        assertThat(configured().settings().fileSystem())
                .isEqualTo(LavaOptions.FileSystemType.POSIX);
        String type = LavaOptions.FILE_SYSTEM.key();
        assertThat(configured(type, "lavafs").settings().fileSystem())
                .isEqualTo(LavaOptions.FileSystemType.LAVAFS);
        assertThatThrownBy(() -> configured(type, "ext4"))
                .isInstanceOf(IllegalConfigurationException.class)
                .hasMessageContaining(type)
                .hasMessageContaining("[POSIX, LAVAFS]");
        String capacity = LavaOptions.FILE_SYSTEM_CAPACITY.key();
        assertThatThrownBy(() -> configured(capacity, "31mb"))
                .isInstanceOf(IllegalConfigurationException.class)
                .hasMessageContaining(capacity)
                .hasMessageContaining(String.valueOf(32 << 20));
        configured(capacity, "32mb");
        String directIo = LavaConfigurableOptions.DIRECT_IO.key();
        assertThat(configured().settings().volumeOptions().directIo()).isFalse();
        assertThat(configured(directIo, "true").settings().volumeOptions().directIo()).isTrue();
        assertThat(configured(type, "lavafs").settings().volumeOptions().directIo()).isTrue();
        assertThat(
                        configured(type, "lavafs", directIo, "false")
                                .settings()
                                .volumeOptions()
                                .directIo())
                .isFalse();
        assertThat(configured(type, "posix").settings().dbOptions().useDirectReads()).isFalse();
    }

    @Test
    void isIncrementalUnlessSwitchedOff() {
        assertThat(configured().isIncremental()).isTrue();
        String key = CheckpointingOptions.INCREMENTAL_CHECKPOINTS.key();
        assertThat(configured(key, "true").isIncremental()).isTrue();
        assertThat(configured(key, "false").isIncremental()).isFalse();
        assertThat(configured("state.backend.incremental", "false").isIncremental()).isFalse();
        LavaStateBackend inCode = new LavaStateBackend(true).configure(config(key, "false"), null);
        assertThat(inCode.isIncremental()).isTrue();
    }

    @Test
    void supportsAllSavepointsAndClaimModes() {
        LavaStateBackend backend = configured();
        assertThat(backend.supportsNoClaimRestoreMode()).isTrue();
        assertThat(backend.supportsSavepointFormat(SavepointFormatType.CANONICAL)).isTrue();
        assertThat(backend.supportsSavepointFormat(SavepointFormatType.NATIVE)).isTrue();
        assertThat(backend.useManagedMemory()).isTrue();
    }

    @Test
    void codeGoesBeforeConfiguration() {
        LavaStateBackend backend =
                new LavaStateBackend()
                        .set(LavaOptions.TIMER_SERVICE_CACHE_SIZE, 5)
                        .configure(
                                config(
                                        LavaOptions.TIMER_SERVICE_CACHE_SIZE.key(), "7",
                                        LavaOptions.CHECKPOINT_TRANSFER_THREAD_NUM.key(), "9"),
                                loader());
        assertThat(backend.settings().timerCacheSize()).isEqualTo(5);
        assertThat(backend.settings().transferThreads()).isEqualTo(9);
    }

    @Test
    void underAChangelogTheEngineFindsTheBoundUnlessSomethingIsSet() {
        String automatic = LavaConfigurableOptions.VALUE_SEPARATION_AUTOMATIC.key();
        String threshold = LavaConfigurableOptions.VALUE_SEPARATION_THRESHOLD.key();
        assertThat(configured().settings().separation().bytes(true))
                .isEqualTo(TableOptions.AUTOMATIC_SEPARATION);
        assertThat(configured(threshold, "4kb").settings().separation().bytes(true))
                .isEqualTo(4096);
        assertThat(configured(automatic, "false").settings().separation().bytes(true))
                .isEqualTo(4096);
        assertThat(
                        configured(threshold, "4kb", automatic, "true")
                                .settings()
                                .separation()
                                .bytes(true))
                .isEqualTo(TableOptions.AUTOMATIC_SEPARATION);
    }

    @Test
    void theBoundOfSeparationCanBeLeftToTheEngine() {
        assertThat(configured().settings().separation().bytes(false)).isEqualTo(4096);
        assertThat(
                        configured("state.backend.lava.value-separation.automatic", "true")
                                .settings()
                                .separation()
                                .bytes(false))
                .isEqualTo(TableOptions.AUTOMATIC_SEPARATION);
    }

    @Test
    void readsEveryEngineOption() {
        LavaSettings settings =
                configured(
                                "state.backend.lava.memtable.size", "2mb",
                                "state.backend.lava.block.size", "16kb",
                                "state.backend.lava.compression", "none",
                                "state.backend.lava.bottom-compression", "ZSTD",
                                "state.backend.lava.file.target-size", "1mb",
                                "state.backend.lava.level.base-size", "4mb",
                                "state.backend.lava.value-separation.threshold", "5kb",
                                "state.backend.lava.value-separation.compression", "zstd",
                                "state.backend.lava.value-file.size", "3mb",
                                "state.backend.lava.value-separation.policy", "merge",
                                "state.backend.lava.value-separation.log-decisions", "true",
                                "state.backend.lava.collection.garbage-threshold", "40",
                                "state.backend.lava.collection.upload-cost", "70",
                                "state.backend.lava.space.limit-ratio", "1.5",
                                "state.backend.lava.space.soft-limit-ratio", "1.25",
                                "state.backend.lava.space.limit", "5gb",
                                "state.backend.lava.space.soft-limit", "4gb",
                                "state.backend.lava.space.process-limit", "8gb",
                                "state.backend.lava.direct-io", "true",
                                "state.backend.lava.filter.bits-per-key", "0",
                                "state.backend.lava.background.threads", "3",
                                "state.backend.lava.background.cpu", "0.75")
                        .settings();
        assertThat(settings.dbOptions().memtableBytes()).isEqualTo(2 << 20);
        assertThat(settings.dbOptions().blockBytes()).isEqualTo(16 << 10);
        assertThat(settings.dbOptions().compression()).isEqualTo(CompressionType.NONE);
        assertThat(settings.dbOptions().valueCompression()).isEqualTo(CompressionType.ZSTD);
        assertThat(settings.dbOptions().bottomCompression()).isEqualTo(CompressionType.ZSTD);
        assertThat(settings.dbOptions().targetFileBytes()).isEqualTo(1 << 20);
        assertThat(settings.dbOptions().level1Bytes()).isEqualTo(4 << 20);
        assertThat(settings.dbOptions().filterBitsPerKey()).isZero();
        assertThat(settings.separation().bytes(false)).isEqualTo(5 << 10);
        assertThat(settings.dbOptions().valueFileBytes()).isEqualTo(3 << 20);
        assertThat(settings.dbOptions().valuePolicy()).isEqualTo(ValuePolicy.MERGE);
        assertThat(settings.dbOptions().valueDecisionsMax()).isEqualTo(1000);
        assertThat(settings.dbOptions().collectionGarbagePercent()).isEqualTo(40);
        assertThat(settings.uploadCostPercent()).isEqualTo(70);
        assertThat(settings.dbOptions().spaceHighPercent()).isEqualTo(150);
        assertThat(settings.dbOptions().spaceLowPercent()).isEqualTo(125);
        assertThat(settings.dbOptions().spaceHighBytes()).isEqualTo(5L << 30);
        assertThat(settings.dbOptions().spaceLowBytes()).isEqualTo(4L << 30);
        assertThat(settings.dbOptions().useDirectReads()).isTrue();
        assertThat(settings.dbOptions().useDirectIoForFlushAndCompaction()).isTrue();
        assertThat(settings.backgroundThreads()).contains(3);
        assertThat(settings.backgroundCpu()).contains(0.75);
        assertThat(configured().settings().backgroundCpu()).isEmpty();
        assertThat(settings.spaceProcessLimit()).contains(8L << 30);
        assertThat(configured().settings().spaceProcessLimit()).isEmpty();
        assertThat(configured().settings().backgroundThreads()).isEmpty();
    }

    @Test
    void separatesLargeValuesByDefaultAndNoneAtZero() {
        LavaSettings defaults = configured().settings();
        assertThat(defaults.separation().bytes(false))
                .isEqualTo(
                        LavaConfigurableOptions.VALUE_SEPARATION_THRESHOLD
                                .defaultValue()
                                .getBytes());
        DBOptions engine = new DBOptions();
        assertThat(defaults.dbOptions().valueFileBytes()).isEqualTo(engine.valueFileBytes());
        assertThat(defaults.dbOptions().collectionGarbagePercent())
                .isEqualTo(engine.collectionGarbagePercent());
        assertThat(defaults.dbOptions().valuePolicy()).isEqualTo(ValuePolicy.AUTOMATIC);
        assertThat(defaults.dbOptions().valueDecisionsMax()).isZero();
        assertThat(defaults.dbOptions().spaceHighPercent()).isZero();
        assertThat(defaults.dbOptions().spaceHighBytes()).isZero();
        assertThat(defaults.dbOptions().useDirectReads()).isFalse();
        assertThat(defaults.dbOptions().useDirectIoForFlushAndCompaction()).isFalse();
        String key = LavaConfigurableOptions.VALUE_SEPARATION_THRESHOLD.key();
        assertThat(configured(key, "0").settings().separation().bytes(false)).isZero();
        assertThat(configured(key, "1b").settings().separation().bytes(false)).isEqualTo(1);
    }

    @Test
    void valuesAreCompressedAsBlocksAreUnlessToldOtherwise() {
        String blocks = LavaConfigurableOptions.COMPRESSION.key();
        String values = LavaConfigurableOptions.VALUE_SEPARATION_COMPRESSION.key();
        assertThat(configured().settings().dbOptions().valueCompression())
                .isEqualTo(new DBOptions().valueCompression());
        assertThat(configured(blocks, "ZSTD").settings().dbOptions().valueCompression())
                .isEqualTo(CompressionType.ZSTD);
        DBOptions separate = configured(blocks, "LZ4", values, "NONE").settings().dbOptions();
        assertThat(separate.valueCompression()).isEqualTo(CompressionType.NONE);
        assertThat(separate.compression()).isEqualTo(CompressionType.LZ4);
    }

    @Test
    void takesSeveralLocalDirectories() {
        LavaSettings settings =
                configured(LavaOptions.LOCAL_DIRECTORIES.key(), "/one,file:///two, /three")
                        .settings();
        assertThat(settings.localDirectories())
                .containsExactly(new File("/one"), new File("/two"), new File("/three"));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "timer-service.factory | ROCKSDB | LAVA, HEAP",
                "compression | SNAPPY | NONE, LZ4, ZSTD",
                "bottom-compression | x | NONE, LZ4, ZSTD",
                "memory.managed | perhaps | Boolean",
                "memory.write-buffer-ratio | 1.0 | between 0 and 1",
                "memory.fixed-per-slot | much | MemorySize",
                "memory.fixed-per-slot | 0b | more than 0 bytes",
                "timer-service.cache-size | 0 | 1 to",
                "timer-service.cache-size | many | Integer",
                "checkpoint.transfer.thread.num | 0 | 1 to",
                "checkpoint.pack.file-size | 65mb | 0 to",
                "checkpoint.pack.size | 63kb | 65536 to",
                "background.threads | 0 | 1 to",
                "host.report-interval | 10 ms | 1 second to 1 day",
                "host.report-interval | 2 d | 1 second to 1 day",
                "host.report-interval | often | Duration",
                "background.cpu | 0.0 | more than 0",
                "background.cpu | NaN | more than 0",
                "background.cpu | many | Double",
                "filter.bits-per-key | 65 | 0 to 64",
                "block.size | 1b | 256 to",
                "memtable.size | 1b | 65536 to",
                "value-separation.compression | SNAPPY | NONE, LZ4, ZSTD",
                "value-separation.threshold | -1b | MemorySize",
                "value-separation.threshold | large | MemorySize",
                "value-separation.threshold | 2tb | 0 to",
                "value-file.size | 1kb | 65536 to",
                "collection.garbage-threshold | 0 | 1 to 100",
                "collection.garbage-threshold | 101 | 1 to 100",
                "collection.garbage-threshold | half | Integer",
                "collection.upload-cost | 1001 | 0 to 1000",
                "space.limit-ratio | 1.0 | 1.01 to 1000",
                "space.limit-ratio | NaN | 1.01 to 1000",
                "space.soft-limit-ratio | 0.9 | 1.0 to 1000",
                "direct-io | sometimes | Boolean",
                "space.limit | 1kb | 1048576 to",
                "space.soft-limit | much | MemorySize",
                "space.process-limit | 1kb | 1048576 to",
                "space.process-limit | much | MemorySize",
                "localdir | relative/path | absolute",
                "localdir | hdfs:///path | local directory",
                "library.dir | lib | absolute"
            })
    void namesKeyAndAllowedValues(String key, String value, String allowed) {
        assertThatThrownBy(() -> configured("state.backend.lava." + key, value))
                .isInstanceOf(IllegalConfigurationException.class)
                .hasMessageContaining("'state.backend.lava." + key + "'")
                .hasMessageContaining(allowed);
    }

    @Test
    void namesLeftOverAndUnknownKeys() {
        List<String> messages =
                ConfigurationCheck.messages(
                        Set.of(
                                "state.backend.rocksdb.writebuffer.size",
                                "state.backend.rocksdb.compaction.style",
                                "state.backend.rocksdb.metrics.block-cache-hit",
                                "state.backend.lava.memtable.sise",
                                "state.backend.lava.memtable.size",
                                "parallelism.default"));
        assertThat(messages).hasSize(2);
        assertThat(messages.get(0))
                .contains(
                        "state.backend.rocksdb.writebuffer.size"
                                + " (Lava: state.backend.lava.memtable.size)")
                .contains("state.backend.rocksdb.compaction.style (no counterpart)")
                .contains("state.backend.rocksdb.metrics.block-cache-hit (Lava's metrics")
                .doesNotContain("parallelism");
        assertThat(messages.get(1))
                .contains(
                        "does not know and ignores: state.backend.lava.memtable.sise"
                                + " (did you mean state.backend.lava.memtable.size?).");
    }

    @ParameterizedTest
    @CsvSource({
        "value-separation.treshold, value-separation.threshold",
        "timer-service.facotry, timer-service.factory",
        "Memtable.Size, memtable.size",
        "localdirs, localdir",
        "memory-managed, memory.managed",
        "something.that.is.far.from.every.key, ''",
    })
    void namesTheNearestKnownKey(String misspelt, String meant) {
        List<String> messages =
                ConfigurationCheck.messages(Set.of("state.backend.lava." + misspelt));
        assertThat(messages).hasSize(1);
        if (meant.isEmpty()) {
            assertThat(messages.get(0)).doesNotContain("did you mean");
        } else {
            assertThat(messages.get(0))
                    .contains(misspelt + " (did you mean state.backend.lava." + meant + "?)");
        }
    }

    @Test
    void namesMisspeltKeysOfTheChangelog() {
        assertThat(
                        ConfigurationCheck.messages(
                                Set.of(
                                        "state.changelog.lava.upload.time-out",
                                        "state.changelog.lava.upload.timeout")))
                .singleElement()
                .asString()
                .contains(
                        "does not know and ignores: state.changelog.lava.upload.time-out"
                                + " (did you mean state.changelog.lava.upload.timeout?).");
    }

    @Test
    void keysOfFlinksChangelogStorageCauseNoWarning() {
        assertThat(
                        ConfigurationCheck.messages(
                                Set.of(
                                        "state.changelog.storage",
                                        "state.changelog.dstl.dfs.upload.timeout",
                                        "state.changelog.lava.upload.timeout")))
                .isEmpty();
    }

    @Test
    void warnsOnceForEachJob() {
        JobID job = new JobID();
        assertThat(ConfigurationCheck.isFirst(job, "a message")).isTrue();
        assertThat(ConfigurationCheck.isFirst(job, "a message")).isFalse();
        assertThat(ConfigurationCheck.isFirst(job, "another")).isTrue();
        assertThat(ConfigurationCheck.isFirst(new JobID(), "a message")).isTrue();
    }

    @Test
    void saysNothingAboutAGoodConfiguration() {
        Set<String> keys = new HashSet<>();
        ConfigurationCheck.allOptions().forEach(option -> keys.add(option.key()));
        assertThat(keys).hasSizeGreaterThan(15);
        assertThat(ConfigurationCheck.messages(keys)).isEmpty();
    }

    @Test
    void keysDoNotNestInEachOther() {
        // In a nested configuration file, a key cannot coexist with another key that extends it.
        List<String> keys =
                ConfigurationCheck.allOptions().stream()
                        .map(option -> option.key())
                        .collect(Collectors.toList());
        for (String key : keys) {
            assertThat(key).matches("state\\.(backend|changelog)\\.lava\\..+");
            assertThat(keys).noneMatch(other -> other.startsWith(key + "."));
        }
    }

    @Test
    void formerKeysHaveTheSameEffectAndNoWarning() {
        String threshold = "state.backend.lava.gc.garbage-threshold";
        String cost = "state.backend.lava.gc.upload-cost";
        LavaSettings settings = configured(threshold, "40", cost, "70").settings();
        assertThat(settings.dbOptions().collectionGarbagePercent()).isEqualTo(40);
        assertThat(settings.uploadCostPercent()).isEqualTo(70);
        assertThat(ConfigurationCheck.messages(Set.of(threshold, cost))).isEmpty();
    }

    @Test
    void aFormerKeyBesideThePresentOneHasNoEffectAndAWarning() {
        String former = "state.backend.lava.gc.upload-cost";
        String present = "state.backend.lava.collection.upload-cost";
        assertThat(configured(former, "70", present, "80").settings().uploadCostPercent())
                .isEqualTo(80);
        assertThat(ConfigurationCheck.messages(Set.of(former, present)))
                .singleElement()
                .asString()
                .contains(former + " (now " + present + ")");
    }
}
