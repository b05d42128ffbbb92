// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.lavakv.flink.Collector.collect;
import static org.lavakv.flink.testing.BackendFixture.ALL;
import static org.lavakv.flink.testing.BackendFixture.HIGH;
import static org.lavakv.flink.testing.BackendFixture.LOW;
import static org.lavakv.flink.testing.BackendFixture.keysIn;
import static org.lavakv.flink.testing.BackendFixture.remote;
import static org.lavakv.flink.testing.BackendFixture.savepoint;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.StateTtlConfig;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.runtime.checkpoint.CheckpointOptions;
import org.apache.flink.runtime.checkpoint.CheckpointType;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.CheckpointStorageLocationReference;
import org.apache.flink.runtime.state.IncrementalKeyedStateHandle.HandleAndLocalPath;
import org.apache.flink.runtime.state.IncrementalLocalKeyedStateHandle;
import org.apache.flink.runtime.state.IncrementalRemoteKeyedStateHandle;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.PlaceholderStreamStateHandle;
import org.apache.flink.runtime.state.SharedStateRegistryImpl;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.hashmap.HashMapStateBackend;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.lavakv.DBStatistics;
import org.lavakv.TableInfo;
import org.lavakv.flink.testing.BackendFixture;
import org.lavakv.flink.testing.StateContent;

/**
 * States with values of a few bytes or more in value files, and the collection of their garbage.
 */
@Timeout(300)
class ValueSeparationTest {

    private static final int KEYS = 600;
    private static final int THRESHOLD = 4;
    private static final long TTL_MS = 100_000;

    @TempDir Path root;

    private final AtomicLong now = new AtomicLong(1_000_000_000L);
    private final SharedStateRegistryImpl registry = new SharedStateRegistryImpl();
    private BackendFixture fixture;
    private long nextCheckpoint = 1;

    @BeforeEach
    void open() throws Exception {
        fixture = new BackendFixture(root).useTime(now::get);
        separateFrom(THRESHOLD);
    }

    @AfterEach
    void close() throws Exception {
        fixture.close();
    }

    /** Backends created from now on separate values of at least this size. */
    private void separateFrom(long bytes) throws Exception {
        fixture.use(
                fixture.newLava(true)
                        // No packs, because tests look at each file of a checkpoint.
                        .set(LavaOptions.CHECKPOINT_PACK_FILE_SIZE, MemorySize.ZERO)
                        // Otherwise files of a checkpoint are collected only with more garbage than
                        // tests make.
                        .set(LavaConfigurableOptions.COLLECTION_UPLOAD_COST, 0)
                        .set(
                                LavaConfigurableOptions.VALUE_SEPARATION_THRESHOLD,
                                new MemorySize(bytes)));
    }

    private LavaKeyedStateBackend<Integer> create(KeyGroupRange range, KeyedStateHandle... handles)
            throws Exception {
        return (LavaKeyedStateBackend<Integer>) fixture.create(range, handles);
    }

    private static DBStatistics statistics(LavaKeyedStateBackend<?> backend) {
        return backend.instance().db().getStatistics();
    }

    /** Names of the value files in a backend's directory. */
    private static Set<String> valueFiles(LavaKeyedStateBackend<?> backend) {
        return namesIn(backend.instance().directory().toPath().resolve("db"));
    }

    private static Set<String> namesIn(Path directory) {
        return BackendFixture.filesIn(directory).stream()
                .map(file -> file.getFileName().toString())
                .filter(ValueSeparationTest::isValueFile)
                .collect(Collectors.toSet());
    }

    private static boolean isValueFile(String name) {
        return name.endsWith(".vsst");
    }

    /** Names of the value files of a checkpoint. */
    private static Set<String> valueFiles(KeyedStateHandle handle) {
        return ((IncrementalRemoteKeyedStateHandle) handle)
                .getSharedState().stream()
                        .map(HandleAndLocalPath::getLocalPath)
                        .filter(ValueSeparationTest::isValueFile)
                        .collect(Collectors.toSet());
    }

    private KeyedStateHandle checkpoint(LavaKeyedStateBackend<Integer> backend) throws Exception {
        return checkpoint(backend, CheckpointOptions.forCheckpointWithDefaultLocation());
    }

    private KeyedStateHandle checkpoint(
            LavaKeyedStateBackend<Integer> backend, CheckpointOptions options) throws Exception {
        long id = nextCheckpoint++;
        KeyedStateHandle handle = remote(fixture.snapshot(backend, id, options));
        handle.registerSharedStates(registry, id);
        backend.notifyCheckpointComplete(id);
        return handle;
    }

    private static void change(
            AbstractKeyedStateBackend<Integer> backend, KeyGroupRange range, int round)
            throws Exception {
        StateContent.change(backend, keysIn(range, KEYS), round);
    }

    private static Map<Integer, String> read(
            AbstractKeyedStateBackend<Integer> backend, KeyGroupRange range) throws Exception {
        return StateContent.read(backend, keysIn(range, KEYS));
    }

    /** The content of a heap backend after the same rounds. */
    private Map<Integer, String> expected(int rounds) throws Exception {
        fixture.use(new HashMapStateBackend());
        AbstractKeyedStateBackend<Integer> heap = fixture.create(ALL);
        for (int round = 0; round < rounds; round++) {
            change(heap, ALL, round);
        }
        Map<Integer, String> content = read(heap, ALL);
        fixture.close(heap);
        separateFrom(THRESHOLD);
        return content;
    }

    // ---------------------------------------------------------------------- states

    private static ValueState<String> value(AbstractKeyedStateBackend<?> backend, boolean ttl) {
        ValueStateDescriptor<String> descriptor =
                new ValueStateDescriptor<>("value", StringSerializer.INSTANCE);
        if (ttl) {
            descriptor.enableTimeToLive(ttl());
        }
        return BackendFixture.state(backend, descriptor);
    }

    private static MapState<Integer, String> map(
            AbstractKeyedStateBackend<?> backend, boolean ttl) {
        MapStateDescriptor<Integer, String> descriptor =
                new MapStateDescriptor<>("map", IntSerializer.INSTANCE, StringSerializer.INSTANCE);
        if (ttl) {
            descriptor.enableTimeToLive(ttl());
        }
        return BackendFixture.state(backend, descriptor);
    }

    private static StateTtlConfig ttl() {
        return StateTtlConfig.newBuilder(Duration.ofMillis(TTL_MS)).build();
    }

    /** Changes different two thirds of the keys in each round. */
    private void change(
            LavaKeyedStateBackend<Integer> backend,
            boolean ttl,
            int round,
            Map<Integer, String> values,
            Map<Integer, TreeMap<Integer, String>> maps)
            throws Exception {
        ValueState<String> value = value(backend, ttl);
        MapState<Integer, String> map = map(backend, ttl);
        for (int key = 0; key < KEYS; key++) {
            if ((key + round) % 3 == 0) {
                continue;
            }
            backend.setCurrentKey(key);
            TreeMap<Integer, String> entries = maps.computeIfAbsent(key, k -> new TreeMap<>());
            String text = "round " + round + " of " + key + " " + "x".repeat(key % 200);
            if (key % 11 == round % 11) {
                value.clear();
                values.remove(key);
            } else {
                value.update(text);
                values.put(key, text);
            }
            if (key % 13 == round % 13) {
                map.clear();
                entries.clear();
            }
            for (int entry = round; entry < round + 3; entry++) {
                map.put(entry, text + entry);
                entries.put(entry, text + entry);
            }
            map.remove(round - 1);
            entries.remove(round - 1);
        }
    }

    private static void check(
            LavaKeyedStateBackend<Integer> backend,
            boolean ttl,
            Map<Integer, String> values,
            Map<Integer, TreeMap<Integer, String>> maps)
            throws Exception {
        for (int key = 0; key < KEYS; key++) {
            backend.setCurrentKey(key);
            assertThat(value(backend, ttl).value()).as("key %d", key).isEqualTo(values.get(key));
            TreeMap<Integer, String> entries = new TreeMap<>();
            for (Map.Entry<Integer, String> entry : map(backend, ttl).entries()) {
                entries.put(entry.getKey(), entry.getValue());
            }
            assertThat(entries)
                    .as("map of key %d", key)
                    .isEqualTo(maps.getOrDefault(key, new TreeMap<>()));
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void everyChangeSurvivesCollections(boolean ttl) throws Exception {
        Map<Integer, String> values = new TreeMap<>();
        Map<Integer, TreeMap<Integer, String>> maps = new TreeMap<>();
        LavaKeyedStateBackend<Integer> backend = create(ALL);
        for (int round = 0; round < 5; round++) {
            change(backend, ttl, round, values, maps);
            if (round > 0) {
                collect(backend);
            } else {
                backend.compact();
            }
            check(backend, ttl, values, maps);
        }
        DBStatistics s = statistics(backend);
        assertThat(s.collections()).isGreaterThan(3);
        assertThat(s.collectionValuesDead()).isGreaterThan(KEYS);
        assertThat(s.valueReads()).isPositive();
        long live =
                values.values().stream().mapToLong(String::length).sum()
                        + maps.values().stream()
                                .flatMap(entries -> entries.values().stream())
                                .mapToLong(String::length)
                                .sum();
        assertThat(s.valueRawBytes()).isGreaterThan(live);
        assertThat(valueFiles(backend)).hasSize((int) s.valueFiles()).isNotEmpty();
        for (TableInfo table : backend.instance().db().listTables()) {
            assertThat(table.options().ttlMs()).isEqualTo(ttl ? TTL_MS : 0);
            assertThat(table.options().separationBytes()).isEqualTo(THRESHOLD);
        }

        KeyedStateHandle handle = checkpoint(backend);
        assertThat(valueFiles(handle)).isNotEmpty();
        fixture.close(backend);
        LavaKeyedStateBackend<Integer> restored = create(ALL, handle);
        check(restored, ttl, values, maps);
        change(restored, ttl, 5, values, maps);
        collect(restored);
        check(restored, ttl, values, maps);
    }

    @Test
    void whatExpiresBecomesGarbage() throws Exception {
        Map<Integer, String> values = new TreeMap<>();
        Map<Integer, TreeMap<Integer, String>> maps = new TreeMap<>();
        LavaKeyedStateBackend<Integer> backend = create(ALL);
        change(backend, true, 0, values, maps);
        backend.compact();
        long raw = statistics(backend).valueRawBytes();
        assertThat(raw).isPositive();
        now.addAndGet(TTL_MS / 2);
        Map<Integer, String> late = new TreeMap<>();
        Map<Integer, TreeMap<Integer, String>> lateMaps = new TreeMap<>();
        for (int key = 0; key < KEYS; key += 5) {
            backend.setCurrentKey(key);
            value(backend, true).update("late " + key);
            late.put(key, "late " + key);
        }
        backend.compact();
        now.addAndGet(TTL_MS / 2 + 1);
        // Before any read, because a read deletes expired values.
        backend.compact();
        DBStatistics s = statistics(backend);
        assertThat(s.recordsExpired()).isGreaterThan(KEYS);
        assertThat(s.valueRawBytes()).as("of the late ones").isPositive().isLessThan(raw / 10);
        assertThat(backend.numKeyValueStateEntries()).isEqualTo(late.size());
        check(backend, true, late, lateMaps);
    }

    @Test
    void onlyLargeValuesAreSeparated() throws Exception {
        separateFrom(100);
        LavaKeyedStateBackend<Integer> backend = create(ALL);
        backend.setCurrentKey(1);
        // The length of a string takes two bytes before it.
        value(backend, false).update("x".repeat(90));
        map(backend, false).put(1, "x".repeat(90));
        for (int i = 0; i < 15; i++) {
            BackendFixture.list(backend).add(i);
        }
        backend.compact();
        assertThat(valueFiles(backend)).isEmpty();
        map(backend, false).put(2, "y".repeat(100));
        backend.compact();
        assertThat(statistics(backend).valueRawBytes()).isBetween(100L, 105L);
        backend.setCurrentKey(2);
        value(backend, false).update("x".repeat(100));
        backend.compact();
        assertThat(statistics(backend).valueRawBytes()).isBetween(200L, 210L);
    }

    @Test
    void whatIsAddedToListsIsSeparatedUnlessElementsExpire() throws Exception {
        separateFrom(100);
        LavaKeyedStateBackend<Integer> backend = create(ALL);
        ListStateDescriptor<String> expiring =
                new ListStateDescriptor<>("expiring", StringSerializer.INSTANCE);
        expiring.enableTimeToLive(ttl());
        ListState<String> plain =
                BackendFixture.state(
                        backend, new ListStateDescriptor<>("plain", StringSerializer.INSTANCE));
        ListState<String> withTtl = BackendFixture.state(backend, expiring);
        List<String> added = new ArrayList<>();
        backend.setCurrentKey(1);
        for (int round = 0; round < 3; round++) {
            for (String element : List.of("small " + round, "x".repeat(60) + round)) {
                plain.add(element);
                plain.add(element + "!");
                withTtl.add(element.repeat(3));
                added.add(element);
                added.add(element + "!");
            }
            backend.instance().db().flush();
            assertThat(statistics(backend).valueFiles()).isEqualTo(round + 1);
            assertThat(plain.get()).containsExactlyElementsOf(added);
        }
        backend.compact();
        assertThat(statistics(backend).valueFiles()).isEqualTo(3);
        assertThat(plain.get()).containsExactlyElementsOf(added);
        KeyedStateHandle canonical = savepoint(backend);
        KeyedStateHandle handle = checkpoint(backend);
        fixture.close(backend);
        for (KeyedStateHandle from : List.of(handle, canonical)) {
            LavaKeyedStateBackend<Integer> restored = create(ALL, from);
            restored.setCurrentKey(1);
            ListState<String> again =
                    BackendFixture.state(
                            restored,
                            new ListStateDescriptor<>("plain", StringSerializer.INSTANCE));
            assertThat(again.get()).containsExactlyElementsOf(added);
            again.add("more");
            assertThat(again.get()).hasSize(added.size() + 1);
            fixture.close(restored);
        }
    }

    @Test
    void withoutAThresholdThereAreNoValueFiles() throws Exception {
        separateFrom(0);
        LavaKeyedStateBackend<Integer> backend = create(ALL);
        change(backend, ALL, 0);
        backend.setCurrentKey(1);
        value(backend, false).update("x".repeat(1 << 20));
        KeyedStateHandle handle = checkpoint(backend);
        assertThat(valueFiles(backend)).isEmpty();
        assertThat(valueFiles(handle)).isEmpty();
        fixture.close(backend);

        // The threshold may be higher or lower in the next run.
        separateFrom(THRESHOLD);
        backend = create(ALL, handle);
        change(backend, ALL, 1);
        handle = checkpoint(backend);
        assertThat(valueFiles(handle)).isNotEmpty();
        fixture.close(backend);
        separateFrom(0);
        backend = create(ALL, handle);
        change(backend, ALL, 2);
        backend.compact();
        handle = checkpoint(backend);
        fixture.close(backend);
        assertThat(read(create(ALL, handle), ALL)).isEqualTo(expected(3));
    }

    @Test
    void whoAsksForKeysReadsNoValue() throws Exception {
        LavaKeyedStateBackend<Integer> backend = create(ALL);
        change(backend, ALL, 0);
        backend.compact();
        assertThat(statistics(backend).valueFiles()).isPositive();
        MapState<String, Integer> map = BackendFixture.map(backend);
        backend.setCurrentKey(1);
        long reads = statistics(backend).valueReads();
        assertThat(map.contains("always")).isTrue();
        assertThat(map.contains("never")).isFalse();
        assertThat(map.isEmpty()).isFalse();
        assertThat(map.keys()).containsExactlyInAnyOrder("always", "round 0");
        assertThat(backend.getKeys("the-map", VoidNamespace.INSTANCE)).hasSize(KEYS);
        assertThat(backend.getKeysAndNamespaces("the-map")).hasSize(KEYS);
        assertThat(backend.numKeyValueStateEntries()).isGreaterThan(2 * KEYS);
        map.remove("always");
        map.clear();
        backend.setCurrentKey(2);
        map.put("always", 3);
        assertThat(statistics(backend).valueReads()).isEqualTo(reads);
        backend.setCurrentKey(4);
        assertThat(map.get("always")).isZero();
        assertThat(statistics(backend).valueReads()).isEqualTo(reads + 1);
    }

    // ---------------------------------------------------------------------- checkpoints

    @Test
    void valueFilesAreUploadedOnceAndCounted() throws Exception {
        LavaKeyedStateBackend<Integer> backend = create(ALL);
        change(backend, ALL, 0);
        IncrementalRemoteKeyedStateHandle first =
                (IncrementalRemoteKeyedStateHandle) checkpoint(backend);
        Set<String> old = valueFiles(first);
        assertThat(old).isNotEmpty();
        Path directory = backend.instance().directory().toPath().resolve("db");
        for (HandleAndLocalPath file : first.getSharedState()) {
            assertThat(file.getHandle().getStateSize())
                    .as(file.getLocalPath())
                    .isEqualTo(Files.size(directory.resolve(file.getLocalPath())));
        }
        assertThat(first.getCheckpointedSize()).isEqualTo(first.getStateSize());
        assertThat(first.getCheckpointedSize()).isGreaterThan(sizeOf(directory, old));
        int uploaded = BackendFixture.filesIn(fixture.shared()).size();

        backend.setCurrentKey(1);
        BackendFixture.value(backend).update("another value");
        IncrementalRemoteKeyedStateHandle second =
                (IncrementalRemoteKeyedStateHandle) checkpoint(backend);
        assertThat(valueFiles(second)).containsAll(old).hasSize(old.size() + 1);
        int fresh = 0;
        for (HandleAndLocalPath file : second.getSharedState()) {
            if (first.getSharedState().stream()
                    .anyMatch(known -> known.getLocalPath().equals(file.getLocalPath()))) {
                assertThat(file.getHandle().getStateSize())
                        .isEqualTo(Files.size(directory.resolve(file.getLocalPath())));
            } else {
                fresh++;
            }
        }
        assertThat(fresh).as("a key file and a value file").isEqualTo(2);
        assertThat(BackendFixture.filesIn(fixture.shared())).hasSize(uploaded + fresh);
        assertThat(second.getCheckpointedSize())
                .isLessThan(second.getStateSize() - sizeOf(directory, old));

        // A compaction rewrites key files, but no value.
        long written = statistics(backend).valueBytesWritten();
        backend.compact();
        assertThat(statistics(backend).valueBytesWritten()).isEqualTo(written);
        long id = nextCheckpoint++;
        IncrementalRemoteKeyedStateHandle third =
                (IncrementalRemoteKeyedStateHandle) remote(fixture.checkpoint(backend, id));
        assertThat(valueFiles(third)).isEqualTo(valueFiles(second));
        for (HandleAndLocalPath file : third.getSharedState()) {
            assertThat(file.getHandle() instanceof PlaceholderStreamStateHandle)
                    .as(file.getLocalPath())
                    .isEqualTo(isValueFile(file.getLocalPath()));
        }
        third.registerSharedStates(registry, id);
        first.discardState();
        second.discardState();
        registry.unregisterUnusedState(id);
        Map<Integer, String> content = read(backend, ALL);
        fixture.close(backend);
        assertThat(read(create(ALL, third), ALL)).isEqualTo(content);
    }

    private static long sizeOf(Path directory, Set<String> files) throws Exception {
        long bytes = 0;
        for (String file : files) {
            bytes += Files.size(directory.resolve(file));
        }
        return bytes;
    }

    @Test
    void collectedFilesLeaveTheNextCheckpointAndStayInTheFormerOne() throws Exception {
        LavaKeyedStateBackend<Integer> backend = create(ALL);
        change(backend, ALL, 0);
        change(backend, ALL, 1);
        KeyedStateHandle before = checkpoint(backend);
        change(backend, ALL, 2);
        collect(backend);
        KeyedStateHandle after = checkpoint(backend);
        assertThat(valueFiles(after)).doesNotContainAnyElementsOf(valueFiles(before)).isNotEmpty();
        fixture.close(backend);
        assertThat(read(create(ALL, after), ALL)).isEqualTo(expected(3));
        assertThat(read(create(ALL, before), ALL)).isEqualTo(expected(2));
    }

    @Test
    void firstCheckpointAfterNoClaimNeedsNothingOfTheFormerRun() throws Exception {
        LavaKeyedStateBackend<Integer> backend = create(ALL);
        change(backend, ALL, 0);
        KeyedStateHandle before = checkpoint(backend);
        fixture.close(backend);
        backend = create(ALL, before);
        KeyedStateHandle own =
                checkpoint(
                        backend,
                        new CheckpointOptions(
                                CheckpointType.FULL_CHECKPOINT,
                                CheckpointStorageLocationReference.getDefault()));
        assertThat(valueFiles(own)).isEqualTo(valueFiles(before)).isNotEmpty();
        Set<String> formerFiles = remoteFiles(before);
        assertThat(remoteFiles(own)).doesNotContainAnyElementsOf(formerFiles);
        for (Path file : BackendFixture.filesIn(fixture.shared())) {
            if (formerFiles.stream()
                    .anyMatch(name -> name.contains(file.getFileName().toString()))) {
                Files.delete(file);
            }
        }
        fixture.close(backend);
        assertThatThrownBy(() -> create(ALL, before)).hasMessageContaining("failed");
        assertThat(read(create(ALL, own), ALL)).isEqualTo(expected(1));
    }

    private static Set<String> remoteFiles(KeyedStateHandle handle) {
        return ((IncrementalRemoteKeyedStateHandle) handle)
                .getSharedState().stream()
                        .map(file -> file.getHandle().getStreamStateHandleID().getKeyString())
                        .collect(Collectors.toSet());
    }

    @Test
    void localCopyHasTheValueFiles() throws Exception {
        fixture.enableLocalRecovery();
        LavaKeyedStateBackend<Integer> backend = create(ALL);
        change(backend, ALL, 0);
        SnapshotResult<KeyedStateHandle> checkpoint = fixture.checkpoint(backend, 1);
        backend.notifyCheckpointComplete(1);
        fixture.close(backend);
        IncrementalLocalKeyedStateHandle local =
                (IncrementalLocalKeyedStateHandle) checkpoint.getTaskLocalSnapshot();
        assertThat(namesIn(local.getDirectoryStateHandle().getDirectory()))
                .isEqualTo(valueFiles(remote(checkpoint)))
                .isNotEmpty();
        for (Path file : BackendFixture.filesIn(fixture.shared())) {
            Files.delete(file);
        }
        assertThat(read(create(ALL, local), ALL)).isEqualTo(expected(1));
    }

    @Test
    void damagedValueFileIsNamed() throws Exception {
        LavaKeyedStateBackend<Integer> backend = create(ALL);
        change(backend, ALL, 0);
        IncrementalRemoteKeyedStateHandle handle =
                (IncrementalRemoteKeyedStateHandle) checkpoint(backend);
        fixture.close(backend);
        HandleAndLocalPath valueFile =
                handle.getSharedState().stream()
                        .filter(file -> isValueFile(file.getLocalPath()))
                        .findAny()
                        .orElseThrow();
        Path file = Path.of(valueFile.getHandle().maybeGetPath().orElseThrow().getPath());
        byte[] content = Files.readAllBytes(file);
        content[content.length / 3] ^= 4;
        Files.write(file, content);
        assertThatThrownBy(() -> create(ALL, handle))
                .hasMessageContaining(file.getFileName().toString())
                .hasMessageContaining("is damaged")
                .hasMessageContaining("offset")
                .hasMessageContaining("the-value");
        assertThat(BackendFixture.filesIn(fixture.instances())).isEmpty();
    }

    // ---------------------------------------------------------------------- other parallelisms

    /** Two instances adopt one value file, collect it or not, and are merged again. */
    @ParameterizedTest
    @CsvSource({"false, false", "true, false", "false, true", "true, true"})
    void outAndInAgainWithCollectionsBetween(boolean inLow, boolean inHigh) throws Exception {
        LavaKeyedStateBackend<Integer> whole = create(ALL);
        change(whole, ALL, 0);
        change(whole, ALL, 1);
        KeyedStateHandle before = checkpoint(whole);
        Set<String> shared = valueFiles(before);
        assertThat(shared).isNotEmpty();
        fixture.close(whole);

        LavaKeyedStateBackend<Integer> low = create(LOW, before);
        LavaKeyedStateBackend<Integer> high = create(HIGH, before);
        assertThat(valueFiles(low)).isEqualTo(shared).isEqualTo(valueFiles(high));
        changeAHalf(low, LOW);
        changeAHalf(high, HIGH);
        if (inLow) {
            collect(low);
        }
        if (inHigh) {
            collect(high);
        }
        KeyedStateHandle ofLow = checkpoint(low);
        KeyedStateHandle ofHigh = checkpoint(high);
        assertThat(valueFiles(ofLow).containsAll(shared)).isEqualTo(!inLow);
        assertThat(valueFiles(ofHigh).containsAll(shared)).isEqualTo(!inHigh);
        Map<Integer, String> content = read(low, LOW);
        content.putAll(read(high, HIGH));
        assertThat(content).isEqualTo(expectedWithAHalf(0));
        fixture.close(low);
        fixture.close(high);

        whole = create(ALL, ofLow, ofHigh);
        assertThat(read(whole, ALL)).isEqualTo(expectedWithAHalf(0));
        whole.compact();
        assertThat(read(whole, ALL)).isEqualTo(expectedWithAHalf(0));
        KeyedStateHandle united = checkpoint(whole);
        change(whole, ALL, 2);
        collect(whole);
        assertThat(read(whole, ALL)).isEqualTo(expectedWithAHalf(1));
        KeyedStateHandle after = checkpoint(whole);
        assertThat(valueFiles(after)).doesNotContainAnyElementsOf(shared).isNotEmpty();
        fixture.close(whole);
        assertThat(read(create(ALL, united), ALL)).isEqualTo(expectedWithAHalf(0));
        assertThat(read(create(ALL, after), ALL)).isEqualTo(expectedWithAHalf(1));
    }

    /** Changes the values of every other key, so that the old file's values die in part. */
    private static void changeAHalf(AbstractKeyedStateBackend<Integer> backend, KeyGroupRange range)
            throws Exception {
        for (int key : keysIn(range, KEYS)) {
            if (key % 2 == 0) {
                backend.setCurrentKey(key);
                BackendFixture.value(backend).update("half of " + key);
                BackendFixture.map(backend).put("always", -key);
            }
        }
    }

    private Map<Integer, String> expectedWithAHalf(int roundsAfter) throws Exception {
        fixture.use(new HashMapStateBackend());
        AbstractKeyedStateBackend<Integer> heap = fixture.create(ALL);
        change(heap, ALL, 0);
        change(heap, ALL, 1);
        changeAHalf(heap, ALL);
        for (int round = 2; round < 2 + roundsAfter; round++) {
            change(heap, ALL, round);
        }
        Map<Integer, String> content = read(heap, ALL);
        fixture.close(heap);
        separateFrom(THRESHOLD);
        return content;
    }

    // ---------------------------------------------------------------------- savepoints

    @Test
    void canonicalSavepointOfSeparatedValuesAndBack() throws Exception {
        LavaKeyedStateBackend<Integer> backend = create(ALL);
        change(backend, ALL, 0);
        change(backend, ALL, 1);
        backend.compact();
        assertThat(statistics(backend).valueFiles()).isPositive();
        long reads = statistics(backend).valueReads();
        KeyedStateHandle ofLava = savepoint(backend);
        assertThat(statistics(backend).valueReads()).isGreaterThan(reads);
        fixture.close(backend);

        fixture.use(new HashMapStateBackend());
        AbstractKeyedStateBackend<Integer> heap = fixture.create(ALL, ofLava);
        Map<Integer, String> content = read(heap, ALL);
        KeyedStateHandle ofHeap = savepoint(heap);
        assertThat(content).isEqualTo(expected(2));

        List<KeyedStateHandle> halves = new ArrayList<>();
        for (KeyGroupRange range : List.of(LOW, HIGH)) {
            LavaKeyedStateBackend<Integer> half = create(range, ofHeap.getIntersection(range));
            halves.add(savepoint(half));
            half.instance().db().flush();
            // In states that no function has registered yet.
            assertThat(statistics(half).valueFiles()).isPositive();
        }
        LavaKeyedStateBackend<Integer> again = create(ALL, halves.toArray(new KeyedStateHandle[0]));
        assertThat(read(again, ALL)).isEqualTo(content);
        again.compact();
        change(again, ALL, 2);
        collect(again);
        assertThat(read(again, ALL)).isEqualTo(expected(3));
    }
}
