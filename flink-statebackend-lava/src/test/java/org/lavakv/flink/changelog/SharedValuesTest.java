// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.changelog;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.lavakv.flink.testing.BackendFixture.ALL;
import static org.lavakv.flink.testing.BackendFixture.KEY_GROUPS;
import static org.lavakv.flink.testing.BackendFixture.remote;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.function.IntPredicate;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.metrics.groups.UnregisteredMetricsGroup;
import org.apache.flink.runtime.state.IncrementalKeyedStateHandle.HandleAndLocalPath;
import org.apache.flink.runtime.state.IncrementalRemoteKeyedStateHandle;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.PlaceholderStreamStateHandle;
import org.apache.flink.runtime.state.SharedStateRegistryImpl;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;
import org.apache.flink.runtime.state.changelog.SequenceNumber;
import org.apache.flink.runtime.state.changelog.StateChange;
import org.apache.flink.runtime.state.changelog.StateChangelogWriter;
import org.apache.flink.util.CloseableIterator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.lavakv.TableOptions;
import org.lavakv.flink.BackendInstance;
import org.lavakv.flink.LavaConfigurableOptions;
import org.lavakv.flink.LavaKeyedStateBackend;
import org.lavakv.flink.LavaOptions;
import org.lavakv.flink.testing.BackendFixture;

/** Large values of a state in Lava are written once, for the changelog and for the state. */
@Timeout(120)
class SharedValuesTest {
    private static final MapStateDescriptor<Integer, String> MAP =
            new MapStateDescriptor<>("a-map", IntSerializer.INSTANCE, StringSerializer.INSTANCE);
    private static final ListStateDescriptor<String> LIST =
            new ListStateDescriptor<>("a-list", StringSerializer.INSTANCE);
    private static final int KEYS = 40;
    private static final int VALUE_CHARS = 5000;

    @TempDir Path root;

    private final Configuration config = new Configuration();
    private final TestMailbox mailbox = new TestMailbox();
    private final SharedStateRegistryImpl registry = new SharedStateRegistryImpl();
    private final List<String> expected = new ArrayList<>();
    private final Map<Integer, List<String>> lists = new HashMap<>();
    private IntPredicate uploadFails = attempt -> false;
    private int attempts;
    private BackendFixture fixture;
    private LavaChangelogStorage storage;
    private LavaKeyedStateBackend<Integer> backend;
    private StateChangelogWriter<ChangelogStateHandleStreamImpl> writer;

    @BeforeEach
    void open() throws Exception {
        fixture = new BackendFixture(root);
        fixture.use(
                fixture.newLava(true)
                        .set(LavaOptions.CHECKPOINT_PACK_FILE_SIZE, MemorySize.ZERO)
                        .set(
                                LavaConfigurableOptions.VALUE_SEPARATION_THRESHOLD,
                                new MemorySize(100)));
        config.set(
                CheckpointingOptions.CHECKPOINTS_DIRECTORY,
                root.resolve("changes").toUri().toString());
        config.set(ChangelogOptions.UPLOAD_RETRY_DELAY, Duration.ofMillis(1));
    }

    @AfterEach
    void close() throws Exception {
        if (storage != null) {
            storage.close();
        }
        fixture.close();
    }

    /** Creates backend and writer like Flink, in a task's thread. */
    private void start(KeyedStateHandle... restored) throws Exception {
        ChangelogSettings settings = ChangelogSettings.of(new JobID(1, 2), config);
        ChangeFiles files =
                new ChangeFiles(settings) {
                    @Override
                    List<UploadedChanges> write(List<ChangeSet> sets) throws IOException {
                        List<UploadedChanges> uploaded = super.write(sets);
                        if (uploadFails.test(++attempts)) {
                            FileClaims.deleteNow(uploaded);
                            throw new IOException("the storage is away");
                        }
                        return uploaded;
                    }
                };
        storage = new LavaChangelogStorage(settings, files, false, new UnregisteredMetricsGroup());
        backend = (LavaKeyedStateBackend<Integer>) fixture.create(ALL, restored);
        writer = storage.createWriter("operator", ALL, mailbox);
    }

    private static String text(int seed) {
        // Incompressible.
        Random random = new Random(seed);
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < VALUE_CHARS; i++) {
            text.append((char) (' ' + random.nextInt(90)));
        }
        return text.toString();
    }

    private static byte[] change(int key, String value) throws IOException {
        DataOutputSerializer out = new DataOutputSerializer(64);
        out.writeByte(1);
        out.writeInt(key);
        StringSerializer.INSTANCE.serialize(value, out);
        return out.getCopyOfBuffer();
    }

    private void append(int key, byte[] change) throws IOException {
        int keyGroup = KeyGroupRangeAssignment.assignToKeyGroup(key, KEY_GROUPS);
        writer.append(keyGroup, change);
        expected.add(keyGroup + " " + Arrays.hashCode(change));
    }

    private void update(int key, String value) throws Exception {
        backend.setCurrentKey(key);
        BackendFixture.value(backend).update(value);
        append(key, change(key, value));
    }

    private void add(int key, String element) throws Exception {
        backend.setCurrentKey(key);
        BackendFixture.state(backend, LIST).add(element);
        append(key, change(key, element));
        lists.computeIfAbsent(key, any -> new ArrayList<>()).add(element);
    }

    /** Large values and small ones, of a value, a map and a list. */
    private void updateAll(int seed) throws Exception {
        writer.appendMeta(new byte[] {7});
        expected.add("-1 " + Arrays.hashCode(new byte[] {7}));
        for (int key = 0; key < KEYS; key++) {
            update(key, key % 4 == 3 ? "small " + seed : text(seed + key));
            MapState<Integer, String> map = BackendFixture.state(backend, MAP);
            map.put(seed, text(-seed - key));
            append(key, change(key, text(-seed - key)));
            add(key, text(seed + 500 + key));
            add(key, "small " + seed);
            add(key, text(seed + 600 + key));
        }
    }

    private void checkAll(LavaKeyedStateBackend<Integer> of, int seed) throws Exception {
        ValueState<String> value = BackendFixture.value(of);
        MapState<Integer, String> map = BackendFixture.state(of, MAP);
        for (int key = 0; key < KEYS; key++) {
            of.setCurrentKey(key);
            assertThat(value.value()).isEqualTo(key % 4 == 3 ? "small " + seed : text(seed + key));
            assertThat(map.get(seed)).isEqualTo(text(-seed - key));
            assertThat(BackendFixture.state(of, LIST).get())
                    .containsExactlyElementsOf(lists.get(key));
        }
    }

    private ChangelogStateHandleStreamImpl persist(SequenceNumber from, long checkpoint)
            throws Exception {
        return mailbox.await(writer.persist(from, checkpoint)).getJobManagerOwnedSnapshot();
    }

    private static List<String> read(ChangelogStateHandleStreamImpl handle) throws Exception {
        List<String> changes = new ArrayList<>();
        try (CloseableIterator<StateChange> read = new LavaChangelogReader().getChanges(handle)) {
            read.forEachRemaining(
                    change ->
                            changes.add(
                                    change.getKeyGroup()
                                            + " "
                                            + Arrays.hashCode(change.getChange())));
        }
        return changes;
    }

    private List<HandleAndLocalPath> valueFiles(SnapshotResult<KeyedStateHandle> snapshot) {
        return ((IncrementalRemoteKeyedStateHandle) remote(snapshot))
                .getSharedState().stream()
                        .filter(file -> file.getLocalPath().endsWith(".vsst"))
                        .collect(Collectors.toList());
    }

    private List<Path> changelogFiles() {
        return BackendFixture.filesIn(root.resolve("changes"));
    }

    private long bound() {
        return BackendInstance.of(backend).db().getStatistics().externalValues();
    }

    @Test
    void aCheckpointNamesTheChangelogsFiles() throws Exception {
        start();
        SequenceNumber begin = writer.initialSequenceNumber();
        updateAll(1000);
        ChangelogStateHandleStreamImpl changes = persist(begin, 1);
        assertThat(read(changes)).isEqualTo(expected);
        assertThat(bound()).isEqualTo(KEYS * 3 + KEYS * 3 / 4);
        assertThat(changelogFiles()).hasSize(2);
        long total = 0;
        for (Path file : changelogFiles()) {
            total += Files.size(file);
        }
        assertThat(total).isEqualTo(changes.getStateSize());
        checkAll(backend, 1000);

        changes.registerSharedStates(registry, 1);
        writer.confirm(begin, writer.nextSequenceNumber(), 1);
        SnapshotResult<KeyedStateHandle> materialized = fixture.checkpoint(backend, 1);
        List<HandleAndLocalPath> files = valueFiles(materialized);
        assertThat(files).hasSize(1);
        assertThat(files.get(0).getHandle()).isInstanceOf(PlaceholderStreamStateHandle.class);
        Set<Object> named =
                changes.getHandlesAndOffsets().stream()
                        .map(location -> location.f0.getStreamStateHandleID())
                        .collect(Collectors.toSet());
        assertThat(named).contains(files.get(0).getHandle().getStreamStateHandleID());
        assertThat(materialized.getJobManagerOwnedSnapshot().getCheckpointedSize())
                .as("no value was uploaded again")
                .isLessThan(VALUE_CHARS * 4L);

        // The JobManager completes a checkpoint that contains both.
        remote(materialized).registerSharedStates(registry, 2);
        changes.registerSharedStates(registry, 2);
        backend.notifyCheckpointComplete(1);
        writer.truncate(writer.nextSequenceNumber());
        assertThat(valueFiles(materialized).get(0).getHandle())
                .as("the registry has put the real one there")
                .isNotInstanceOf(PlaceholderStreamStateHandle.class);
        checkAll(backend, 1000);
        SnapshotResult<KeyedStateHandle> next = fixture.checkpoint(backend, 2);
        assertThat(valueFiles(next).get(0).getHandle().getStreamStateHandleID())
                .isEqualTo(files.get(0).getHandle().getStreamStateHandleID());
        registry.unregisterUnusedState(2);
        checkAll((LavaKeyedStateBackend<Integer>) fixture.create(ALL, remote(materialized)), 1000);
    }

    @Test
    void whatNoCheckpointHasYetIsUploadedForTheState() throws Exception {
        start();
        SequenceNumber begin = writer.initialSequenceNumber();
        updateAll(1000);
        persist(begin, 1);
        List<HandleAndLocalPath> files = valueFiles(fixture.checkpoint(backend, 1));
        assertThat(files).hasSize(1);
        assertThat(files.get(0).getHandle()).isNotInstanceOf(PlaceholderStreamStateHandle.class);
        // Nor may it name files that the changelog has dropped, because the JobManager may have
        // deleted them.
        writer.confirm(begin, writer.nextSequenceNumber(), 1);
        writer.truncate(writer.nextSequenceNumber());
        files = valueFiles(fixture.checkpoint(backend, 2));
        assertThat(files.get(0).getHandle()).isNotInstanceOf(PlaceholderStreamStateHandle.class);
    }

    @Test
    void segmentsGoOnceBothAreDoneWithThem() throws Exception {
        start();
        SequenceNumber begin = writer.initialSequenceNumber();
        updateAll(1000);
        persist(begin, 1);
        updateAll(2000);
        assertThat(read(persist(begin, 2))).isEqualTo(expected);
        backend.compact();
        clearAll();
        backend.compact();
        awaitNone(localValueFiles());
        assertThat(changelogFiles()).hasSize(4);
        writer.truncate(writer.nextSequenceNumber());
        awaitNone(this::changelogFiles); // no checkpoint names them
    }

    private void clearAll() throws Exception {
        for (int key = 0; key < KEYS; key++) {
            backend.setCurrentKey(key);
            BackendFixture.value(backend).clear();
            BackendFixture.state(backend, MAP).clear();
            BackendFixture.state(backend, LIST).clear();
        }
    }

    private Supplier<List<Path>> localValueFiles() {
        Path instance = BackendInstance.of(backend).directory().toPath();
        return () ->
                BackendFixture.filesIn(instance).stream()
                        .filter(file -> file.toString().endsWith(".vsst"))
                        .collect(Collectors.toList());
    }

    private static void awaitNone(Supplier<List<Path>> files) throws Exception {
        long end = System.nanoTime() + Duration.ofSeconds(30).toNanos();
        while (!files.get().isEmpty()) {
            assertThat(System.nanoTime()).as("patience").isLessThan(end);
            Thread.sleep(5);
        }
    }

    @Test
    void whatIsDroppedBeforeItsUploadGoesToo() throws Exception {
        start();
        updateAll(1000);
        writer.truncate(writer.nextSequenceNumber());
        clearAll();
        backend.compact();
        awaitNone(localValueFiles());
    }

    @Test
    void anUploadThatFailsIsTriedAgainAndLeavesNothing() throws Exception {
        uploadFails = attempt -> attempt <= 4;
        start();
        SequenceNumber begin = writer.initialSequenceNumber();
        updateAll(1000);
        assertThatThrownBy(() -> persist(begin, 1)).hasStackTraceContaining("storage is away");
        backend.compact(); // flushes, and so ends the segment
        assertThat(read(persist(begin, 2))).isEqualTo(expected);
        assertThat(changelogFiles()).hasSize(2);
        checkAll(backend, 1000);
    }

    @Test
    void manySegmentsOfOneSetAreReadInTheirOrder() throws Exception {
        config.set(ChangelogOptions.PREEMPTIVE_PERSIST_THRESHOLD, MemorySize.parse("20mb"));
        start();
        SequenceNumber begin = writer.initialSequenceNumber();
        for (int round = 0; round < 3; round++) {
            updateAll(1000 * round);
            backend.compact(); // a segment ends with its memtable
        }
        ChangelogStateHandleStreamImpl changes = persist(begin, 1);
        assertThat(read(changes)).isEqualTo(expected);
        assertThat(changelogFiles()).hasSize(4);
        writer.confirm(begin, writer.nextSequenceNumber(), 1);
        changes.registerSharedStates(registry, 1);
        SnapshotResult<KeyedStateHandle> materialized = fixture.checkpoint(backend, 1);
        remote(materialized).registerSharedStates(registry, 2);
        LavaKeyedStateBackend<Integer> restored =
                (LavaKeyedStateBackend<Integer>) fixture.create(ALL, remote(materialized));
        checkAll(restored, 2000);
    }

    @Test
    void aDamagedSegmentIsToldByNameAndNothingOfItIsRead() throws Exception {
        start();
        updateAll(1000);
        ChangelogStateHandleStreamImpl changes = persist(writer.initialSequenceNumber(), 1);
        StreamStateHandle segment = changes.getHandlesAndOffsets().get(1).f0;
        Path file = Path.of(segment.maybeGetPath().orElseThrow().toUri());
        byte[] bytes = Files.readAllBytes(file);
        for (int at = 100; at < bytes.length / 2; at += 20_011) {
            byte[] damaged = bytes.clone();
            damaged[at] ^= 4;
            Files.write(file, damaged);
            assertThatThrownBy(() -> read(changes))
                    .hasStackTraceContaining(file.getFileName().toString())
                    .hasStackTraceContaining("Restore the job from another checkpoint");
        }
        Files.write(file, Arrays.copyOf(bytes, bytes.length / 3));
        assertThatThrownBy(() -> read(changes)).hasStackTraceContaining("is damaged");
        Files.write(file, bytes);
        assertThat(read(changes)).isEqualTo(expected);
        assertThatThrownBy(
                        () ->
                                read(
                                        new ChangelogStateHandleStreamImpl(
                                                changes.getHandlesAndOffsets().subList(0, 1),
                                                ALL,
                                                1,
                                                1,
                                                "lava")))
                .hasStackTraceContaining("does not name its segments");
    }

    @Test
    void itCanBeSwitchedOff() throws Exception {
        config.set(ChangelogOptions.SHARED_VALUES, false);
        start();
        updateAll(1000);
        assertThat(read(persist(writer.initialSequenceNumber(), 1))).isEqualTo(expected);
        assertThat(bound()).isZero();
        assertThat(changelogFiles()).hasSize(1);
    }

    private List<Long> bounds() throws Exception {
        updateAll(1000);
        return BackendInstance.of(backend).db().listTables().stream()
                .map(table -> table.options().separationBytes())
                .distinct()
                .collect(Collectors.toList());
    }

    @Test
    void theEngineFindsTheSizeFromWhichValuesAreSeparated() throws Exception {
        fixture.use(fixture.newLava(true));
        fixture.create(ALL);
        backend = (LavaKeyedStateBackend<Integer>) fixture.create(ALL);
        BackendFixture.value(backend);
        assertThat(BackendInstance.of(backend).db().listTables().get(0).options().separationBytes())
                .as("without a changelog")
                .isEqualTo(
                        LavaConfigurableOptions.VALUE_SEPARATION_THRESHOLD
                                .defaultValue()
                                .getBytes());
        config.set(ChangelogOptions.SHARED_VALUES, false);
        start();
        assertThat(bounds()).containsExactly(TableOptions.AUTOMATIC_SEPARATION);
    }

    @Test
    void aBoundThatIsSetIsKept() throws Exception {
        start();
        assertThat(bounds()).containsExactly(100L);
    }

    @Test
    void aWriterTakesOnlyTheLogOfItsOwnBackend() throws Exception {
        start();
        writer = storage.createWriter("operator", ALL, mailbox); // no further log is offered
        updateAll(1000);
        assertThat(bound()).isZero();
        fixture.create(ALL);
        writer = storage.createWriter("another operator", ALL, mailbox);
        updateAll(2000);
        assertThat(bound()).isZero();
    }

    @Test
    void changesGoOnAfterTheBackendIsClosed() throws Exception {
        start();
        updateAll(1000);
        fixture.close(backend);
        writer.append(1, change(1, text(1)));
        assertThatThrownBy(() -> persist(writer.initialSequenceNumber(), 1))
                .hasStackTraceContaining("were not uploaded");
        writer.close();
    }
}
