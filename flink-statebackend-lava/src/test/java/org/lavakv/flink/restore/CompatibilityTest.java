// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.restore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.lavakv.flink.testing.BackendFixture.ALL;
import static org.lavakv.flink.testing.BackendFixture.HIGH;
import static org.lavakv.flink.testing.BackendFixture.LOW;
import static org.lavakv.flink.testing.BackendFixture.keysIn;
import static org.lavakv.flink.testing.BackendFixture.list;
import static org.lavakv.flink.testing.BackendFixture.map;
import static org.lavakv.flink.testing.BackendFixture.remote;
import static org.lavakv.flink.testing.BackendFixture.value;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.ReducingState;
import org.apache.flink.api.common.state.ReducingStateDescriptor;
import org.apache.flink.api.common.state.State;
import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.api.common.state.StateTtlConfig;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.IncrementalKeyedStateHandle.HandleAndLocalPath;
import org.apache.flink.runtime.state.IncrementalRemoteKeyedStateHandle;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyGroupRangeOffsets;
import org.apache.flink.runtime.state.KeyGroupedInternalPriorityQueue;
import org.apache.flink.runtime.state.KeyGroupsSavepointStateHandle;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.SharedStateRegistryImpl;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.apache.flink.runtime.state.memory.ByteStreamStateHandle;
import org.apache.flink.streaming.api.operators.TimerHeapInternalTimer;
import org.apache.flink.streaming.api.operators.TimerSerializer;
import org.apache.flink.util.CloseableIterator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.lavakv.MetadataInfo;
import org.lavakv.flink.Collector;
import org.lavakv.flink.LavaConfigurableOptions;
import org.lavakv.flink.LavaKeyedStateBackend;
import org.lavakv.flink.LavaOptions;
import org.lavakv.flink.LavaOptions.TimerService;
import org.lavakv.flink.LavaStateBackend;
import org.lavakv.flink.checkpoint.CheckpointDescription;
import org.lavakv.flink.checkpoint.PackedFiles;
import org.lavakv.flink.snapshot.RocksDbRefusal;
import org.lavakv.flink.testing.BackendFixture;

/**
 * Restores checkpoints and savepoints of earlier releases in {@code
 * src/test/resources/compatibility}. The README there describes how to create one.
 */
@Timeout(120)
class CompatibilityTest {

    private static final int KEYS = 30;
    private static final Path FIXTURES = Path.of("src/test/resources/compatibility");
    private static final int SST_VERSION_FROM_END = 20;
    private static final String WRITE = "LAVA_WRITE_FIXTURE";
    private static final StateTtlConfig TTL =
            StateTtlConfig.newBuilder(Duration.ofSeconds(1000)).build();

    @TempDir Path root;
    private final AtomicLong now = new AtomicLong(1_000_000_000L);
    private BackendFixture fixture;
    private final Map<
                    AbstractKeyedStateBackend<Integer>,
                    KeyGroupedInternalPriorityQueue<TimerHeapInternalTimer<Integer, VoidNamespace>>>
            queues = new IdentityHashMap<>();

    @BeforeEach
    void open() throws Exception {
        fixture = new BackendFixture(root).useTime(now::get);
    }

    @AfterEach
    void close() throws Exception {
        fixture.close();
    }

    /** Every snapshot of every release: one directory each. */
    static Stream<Path> snapshots() throws IOException {
        List<Path> all = new ArrayList<>();
        for (Path release : directoriesIn(FIXTURES)) {
            all.addAll(directoriesIn(release));
        }
        assertThat(all).hasSizeGreaterThanOrEqualTo(3);
        return all.stream();
    }

    private static List<Path> directoriesIn(Path parent) throws IOException {
        try (Stream<Path> entries = Files.list(parent)) {
            return entries.filter(Files::isDirectory).sorted().collect(Collectors.toList());
        }
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("snapshots")
    void isRestoredWholeAndInParts(Path snapshot) throws Exception {
        KeyedStateHandle handle = load(snapshot);
        List<String> expected = Files.readAllLines(snapshot.resolve("expected.txt"));
        assertThat(expected).hasSize(KEYS);
        AbstractKeyedStateBackend<Integer> whole = fixture.create(ALL, handle);
        assertThat(read(whole, ALL)).isEqualTo(expected);

        List<KeyedStateHandle> halves = new ArrayList<>();
        List<String> changed = new ArrayList<>();
        for (KeyGroupRange range : List.of(LOW, HIGH)) {
            AbstractKeyedStateBackend<Integer> half =
                    fixture.create(range, handle.getIntersection(range));
            List<String> lines = read(half, range);
            assertThat(expected).containsAll(lines);
            change(half, range);
            changed.addAll(read(half, range));
            halves.add(remote(fixture.checkpoint(half, 2)));
        }
        change(whole, ALL);
        assertThat(changed).containsExactlyInAnyOrderElementsOf(read(whole, ALL));
        whole = fixture.create(ALL, halves);
        assertThat(read(whole, ALL)).containsExactlyInAnyOrderElementsOf(changed);
    }

    static Stream<Path> checkpointsWithValueFiles() throws IOException {
        List<Path> all =
                snapshots()
                        .filter(
                                snapshot ->
                                        files(snapshot).keySet().stream()
                                                .anyMatch(name -> name.endsWith(".vsst")))
                        .collect(Collectors.toList());
        assertThat(all).hasSizeGreaterThanOrEqualTo(6);
        return all.stream();
    }

    /** The files by name, including those in packs. */
    private static Map<String, byte[]> files(Path snapshot) {
        try {
            Map<String, byte[]> files = new TreeMap<>();
            for (Path file : BackendFixture.filesIn(snapshot)) {
                files.put(file.getFileName().toString(), Files.readAllBytes(file));
            }
            byte[] description = files.get(CheckpointDescription.FILE_NAME);
            if (description == null) {
                return files;
            }
            PackedFiles packed = CheckpointDescription.parse(description, "").packed();
            for (String file : packed.files()) {
                PackedFiles.Location location = packed.of(file);
                int begin = (int) location.offset();
                files.put(
                        file,
                        Arrays.copyOfRange(
                                files.get(location.pack()), begin, begin + (int) location.bytes()));
            }
            return files;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Files in packs, single files, and an earlier checkpoint's pack with unused files. */
    @Test
    void thereIsAFixtureOfEveryWayToUpload() throws Exception {
        int alone = 0;
        int inNewest = 0;
        int beside = 0;
        for (Path snapshot : snapshots().collect(Collectors.toList())) {
            Map<String, byte[]> files = files(snapshot);
            byte[] description = files.get(CheckpointDescription.FILE_NAME);
            if (description == null) {
                continue;
            }
            PackedFiles packed = CheckpointDescription.parse(description, "").packed();
            Map<String, Long> alive = new TreeMap<>();
            for (String file : packed.files()) {
                alive.merge(packed.of(file).pack(), packed.of(file).bytes(), Long::sum);
            }
            for (Map.Entry<String, Long> pack : alive.entrySet()) {
                if (pack.getValue() == files.get(pack.getKey()).length) {
                    inNewest++;
                } else {
                    beside++;
                }
            }
            alone +=
                    files.keySet().stream()
                            .filter(name -> name.endsWith("sst") && packed.of(name) == null)
                            .count();
        }
        assertThat(alone).isPositive();
        assertThat(inNewest).isPositive();
        assertThat(beside).isPositive();
    }

    /** Old value files contain live values and garbage, so the collector has to read them. */
    @ParameterizedTest(name = "{0}")
    @MethodSource("checkpointsWithValueFiles")
    void valueFilesAreCollected(Path snapshot) throws Exception {
        fixture.use(separated(TimerService.HEAP));
        AbstractKeyedStateBackend<Integer> backend = fixture.create(ALL, load(snapshot));
        overwriteHalf(backend);
        List<String> expected = read(backend, ALL);
        Collector.collect((LavaKeyedStateBackend<?>) backend);
        assertThat(Collector.bytesMoved((LavaKeyedStateBackend<?>) backend)).isPositive();
        assertThat(read(backend, ALL)).isEqualTo(expected);
        assertThat(expected)
                .isNotEqualTo(Files.readAllLines(snapshot.resolve("expected.txt")))
                .hasSize(KEYS);
    }

    /** Overwrites values of every file, so that each has live values and enough garbage. */
    private void overwriteHalf(AbstractKeyedStateBackend<Integer> backend) throws Exception {
        for (int key = 0; key < KEYS; key += 2) {
            backend.setCurrentKey(key);
            value(backend).update("a later value of " + key);
            list(backend).update(List.of(key, key));
            map(backend).clear();
            ttlValue(backend).update("with a later time");
            ttlList(backend).update(List.of("later"));
            sum(backend).add(key);
        }
    }

    /** Does not change lists, maps and sums. */
    private void overwrite(AbstractKeyedStateBackend<Integer> backend) throws Exception {
        for (int key = 0; key < KEYS; key++) {
            backend.setCurrentKey(key);
            value(backend).update("another value of " + key);
            ttlValue(backend).update("with another time");
        }
    }

    /** The format versions in each kind of file. */
    private static Set<String> formats(Path snapshot) throws Exception {
        Set<String> formats = new TreeSet<>();
        for (Map.Entry<String, byte[]> file : files(snapshot).entrySet()) {
            String name = file.getKey();
            ByteBuffer bytes = ByteBuffer.wrap(file.getValue());
            if (name.endsWith("sst")) {
                bytes.order(ByteOrder.LITTLE_ENDIAN);
                int version = bytes.getInt(bytes.capacity() - SST_VERSION_FROM_END);
                formats.add(name.substring(name.lastIndexOf('.') + 1) + " " + version);
            }
            if (name.equals(CheckpointDescription.FILE_NAME)) {
                formats.add("description " + bytes.getInt(Long.BYTES));
                byte[] metadata = CheckpointDescription.parse(bytes.array(), name).engineMetadata();
                formats.add("metadata " + MetadataInfo.read(metadata).formatVersion());
            }
        }
        return formats;
    }

    /** A release that changes a format needs a fixture of the new format. */
    @Test
    void thereIsAFixtureOfTodaysFormats() throws Exception {
        fixture.use(separated(TimerService.HEAP));
        AbstractKeyedStateBackend<Integer> backend = fixture.create(ALL);
        fill(backend);
        store(root.resolve("today"), backend, checkpoint(backend));
        Set<String> today = formats(root.resolve("today"));
        assertThat(today).hasSize(4);
        List<Set<String>> known = new ArrayList<>();
        for (Path snapshot : snapshots().collect(Collectors.toList())) {
            known.add(formats(snapshot));
        }
        assertThat(known)
                .as("formats in %s; its README says how to write a fixture", FIXTURES)
                .contains(today);
    }

    private static <S extends State> S ttl(
            AbstractKeyedStateBackend<?> backend, StateDescriptor<S, ?> descriptor) {
        descriptor.enableTimeToLive(TTL);
        return BackendFixture.state(backend, descriptor);
    }

    private static ValueState<String> ttlValue(AbstractKeyedStateBackend<?> backend) {
        return ttl(backend, new ValueStateDescriptor<>("ttl-value", StringSerializer.INSTANCE));
    }

    private static ListState<String> ttlList(AbstractKeyedStateBackend<?> backend) {
        return ttl(backend, new ListStateDescriptor<>("ttl-list", StringSerializer.INSTANCE));
    }

    private static ReducingState<Integer> sum(AbstractKeyedStateBackend<?> backend) {
        return BackendFixture.state(
                backend,
                new ReducingStateDescriptor<>("the-sum", Integer::sum, IntSerializer.INSTANCE));
    }

    private KeyGroupedInternalPriorityQueue<TimerHeapInternalTimer<Integer, VoidNamespace>> timers(
            AbstractKeyedStateBackend<Integer> backend) {
        return queues.computeIfAbsent(
                backend,
                key ->
                        backend.create(
                                "_timer_state/event_timers",
                                new TimerSerializer<>(
                                        IntSerializer.INSTANCE, VoidNamespaceSerializer.INSTANCE)));
    }

    private void fill(AbstractKeyedStateBackend<Integer> backend) throws Exception {
        for (int key = 0; key < KEYS; key++) {
            backend.setCurrentKey(key);
            if (key % 4 != 3) {
                value(backend).update("value of " + key);
            }
            list(backend).addAll(List.of(key, -key));
            for (int i = 0; i < key % 5; i++) {
                map(backend).put("entry " + i, i);
            }
            ttlValue(backend).update("with a time");
            ttlList(backend).addAll(List.of("early,", ""));
            sum(backend).add(key);
            timers(backend)
                    .add(new TimerHeapInternalTimer<>(1000L - key, key, VoidNamespace.INSTANCE));
            timers(backend).add(new TimerHeapInternalTimer<>(-5L, key, VoidNamespace.INSTANCE));
        }
    }

    /** Later changes of a job; time advances, but nothing expires. */
    private void change(AbstractKeyedStateBackend<Integer> backend, KeyGroupRange range)
            throws Exception {
        for (int key : keysIn(range, KEYS)) {
            backend.setCurrentKey(key);
            if (key % 3 == 0) {
                value(backend).clear();
                map(backend).clear();
            }
            list(backend).add(7);
            map(backend).put("later", key);
            ttlList(backend).add("late");
            sum(backend).add(100);
            timers(backend).add(new TimerHeapInternalTimer<>(5L, key, VoidNamespace.INSTANCE));
        }
    }

    /** The content of the state, one line for each key. */
    private List<String> read(AbstractKeyedStateBackend<Integer> backend, KeyGroupRange range)
            throws Exception {
        Map<Integer, TreeSet<Long>> times = new TreeMap<>();
        try (CloseableIterator<TimerHeapInternalTimer<Integer, VoidNamespace>> all =
                timers(backend).iterator()) {
            while (all.hasNext()) {
                TimerHeapInternalTimer<Integer, VoidNamespace> timer = all.next();
                times.computeIfAbsent(timer.getKey(), key -> new TreeSet<>())
                        .add(timer.getTimestamp());
            }
        }
        List<String> lines = new ArrayList<>();
        for (int key : keysIn(range, KEYS)) {
            backend.setCurrentKey(key);
            TreeMap<String, Integer> entries = new TreeMap<>();
            map(backend).entries().forEach(entry -> entries.put(entry.getKey(), entry.getValue()));
            lines.add(
                    String.join(
                            " ",
                            String.valueOf(key),
                            value(backend).value(),
                            elements(list(backend)),
                            entries.toString(),
                            ttlValue(backend).value(),
                            elements(ttlList(backend)),
                            String.valueOf(sum(backend).get()),
                            String.valueOf(times.get(key))));
        }
        return lines;
    }

    private static String elements(ListState<?> list) throws Exception {
        List<Object> elements = new ArrayList<>();
        Iterable<?> stored = list.get();
        if (stored != null) {
            stored.forEach(elements::add);
        }
        return elements.toString();
    }

    /** The handle that {@link #store} wrote: a line for each of its parts. */
    private static KeyedStateHandle load(Path snapshot) throws IOException {
        List<HandleAndLocalPath> shared = new ArrayList<>();
        List<HandleAndLocalPath> own = new ArrayList<>();
        StreamStateHandle meta = null;
        for (String line : Files.readAllLines(snapshot.resolve("handle.txt"))) {
            String[] words = line.split(" ");
            StreamStateHandle file =
                    new ByteStreamStateHandle(
                            snapshot + "/" + words[1],
                            Files.readAllBytes(snapshot.resolve(words[1])));
            switch (words[0]) {
                case "savepoint":
                    long[] offsets = Stream.of(words).skip(2).mapToLong(Long::parseLong).toArray();
                    return new KeyGroupsSavepointStateHandle(
                            new KeyGroupRangeOffsets(ALL, offsets), file);
                case "shared":
                    shared.add(HandleAndLocalPath.of(file, words[2]));
                    break;
                case "private":
                    own.add(HandleAndLocalPath.of(file, words[2]));
                    break;
                default:
                    meta = file;
            }
        }
        return new IncrementalRemoteKeyedStateHandle(
                UUID.nameUUIDFromBytes(snapshot.toString().getBytes()), ALL, 1, shared, own, meta);
    }

    /** The environment variable names a new directory for the snapshot, which is then kept. */
    @Test
    void whatIsWrittenTodayIsRestored() throws Exception {
        String kept = System.getenv(WRITE);
        Path release = kept == null ? root.resolve("fixture") : Path.of(kept);
        assertThat(release).doesNotExist();
        for (TimerService timers : TimerService.values()) {
            fixture.use(separated(timers));
            AbstractKeyedStateBackend<Integer> backend = fixture.create(ALL);
            fill(backend);
            String name = "timers-" + timers.toString().toLowerCase();
            store(release.resolve("checkpoint-" + name), backend, checkpoint(backend));
            store(release.resolve("savepoint-" + name), backend, BackendFixture.savepoint(backend));
        }
        fixture.use(fixture.newLava(true));
        List<Path> written = directoriesIn(release);
        assertThat(written).hasSize(4);
        for (Path snapshot : written) {
            isRestoredWholeAndInParts(snapshot);
        }
    }

    private LavaStateBackend separated(TimerService timers) throws Exception {
        return fixture.newLava(true)
                .set(LavaOptions.TIMER_SERVICE_FACTORY, timers)
                // otherwise half is not enough garbage
                .set(LavaConfigurableOptions.COLLECTION_UPLOAD_COST, 0)
                .set(LavaConfigurableOptions.VALUE_SEPARATION_THRESHOLD, new MemorySize(1));
    }

    /**
     * The last of three incremental checkpoints, with files of two of them. Values are collected
     * between the first and the second, so that a value file has values from other files. Key files
     * are compacted before the third, so that only the value files of their pack remain.
     */
    private KeyedStateHandle checkpoint(AbstractKeyedStateBackend<Integer> backend)
            throws Exception {
        fixture.checkpoint(backend, 9);
        overwrite(backend);
        Collector.collect((LavaKeyedStateBackend<?>) backend);
        assertThat(Collector.bytesMoved((LavaKeyedStateBackend<?>) backend)).isPositive();
        SharedStateRegistryImpl registry = new SharedStateRegistryImpl();
        ((IncrementalRemoteKeyedStateHandle) remote(fixture.checkpoint(backend, 10)))
                .registerSharedStates(registry, 10);
        backend.notifyCheckpointComplete(10);
        backend.setCurrentKey(1);
        value(backend).update("in the second checkpoint");
        list(backend).add(11);
        map(backend).clear();
        ((LavaKeyedStateBackend<?>) backend).compact();
        IncrementalRemoteKeyedStateHandle last =
                (IncrementalRemoteKeyedStateHandle) remote(fixture.checkpoint(backend, 11));
        last.registerSharedStates(registry, 11);
        return last;
    }

    private void store(Path to, AbstractKeyedStateBackend<Integer> backend, KeyedStateHandle handle)
            throws Exception {
        Files.createDirectories(to);
        List<String> lines = new ArrayList<>();
        if (handle instanceof IncrementalRemoteKeyedStateHandle) {
            IncrementalRemoteKeyedStateHandle checkpoint =
                    (IncrementalRemoteKeyedStateHandle) handle;
            for (HandleAndLocalPath file : checkpoint.getSharedState()) {
                lines.add("shared " + copy(file, to) + " " + file.getLocalPath());
            }
            for (HandleAndLocalPath file : checkpoint.getPrivateState()) {
                // The message for RocksDB is not a file.
                if (!file.getLocalPath().equals(RocksDbRefusal.NAME)) {
                    lines.add("private " + copy(file, to) + " " + file.getLocalPath());
                }
            }
            copy(checkpoint.getMetaDataStateHandle(), to.resolve("description"));
            lines.add("description description");
        } else {
            KeyGroupsSavepointStateHandle savepoint = (KeyGroupsSavepointStateHandle) handle;
            copy(savepoint.getDelegateStateHandle(), to.resolve("savepoint"));
            StringBuilder line = new StringBuilder("savepoint savepoint");
            for (int group : ALL) {
                line.append(' ').append(savepoint.getOffsetForKeyGroup(group));
            }
            lines.add(line.toString());
        }
        Files.write(to.resolve("handle.txt"), lines);
        Files.write(to.resolve("expected.txt"), read(backend, ALL));
    }

    private static String copy(HandleAndLocalPath file, Path to) throws IOException {
        String name = Path.of(file.getLocalPath()).getFileName().toString();
        copy(file.getHandle(), to.resolve(name));
        return name;
    }

    private static void copy(StreamStateHandle from, Path to) throws IOException {
        try (InputStream in = from.openInputStream()) {
            Files.copy(in, to);
        }
    }
}
