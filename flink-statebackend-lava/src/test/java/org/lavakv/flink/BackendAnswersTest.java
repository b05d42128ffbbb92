// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink;

import static org.assertj.core.api.Assertions.assertThat;
import static org.lavakv.flink.LavaOptions.TimerService.HEAP;
import static org.lavakv.flink.LavaOptions.TimerService.LAVA;

import java.lang.reflect.Method;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ReducingState;
import org.apache.flink.api.common.state.ReducingStateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.common.typeutils.base.IntValueSerializer;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.StateChangelogOptions;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.metrics.groups.UnregisteredMetricsGroup;
import org.apache.flink.runtime.checkpoint.CheckpointOptions;
import org.apache.flink.runtime.checkpoint.CheckpointType;
import org.apache.flink.runtime.checkpoint.SavepointType;
import org.apache.flink.runtime.checkpoint.SnapshotType;
import org.apache.flink.runtime.jobgraph.JobVertexID;
import org.apache.flink.runtime.operators.testutils.MockEnvironment;
import org.apache.flink.runtime.operators.testutils.MockEnvironmentBuilder;
import org.apache.flink.runtime.query.KvStateRegistry;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.AsyncKeyedStateBackend;
import org.apache.flink.runtime.state.CheckpointStorageLocationReference;
import org.apache.flink.runtime.state.CheckpointableKeyedStateBackend;
import org.apache.flink.runtime.state.ConfigurableStateBackend;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyGroupedInternalPriorityQueue;
import org.apache.flink.runtime.state.KeyedStateBackend;
import org.apache.flink.runtime.state.KeyedStateBackendParametersImpl;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.PriorityQueueSetFactory;
import org.apache.flink.runtime.state.StateBackend;
import org.apache.flink.runtime.state.StateBackendLoader;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.apache.flink.runtime.state.ttl.TtlTimeProvider;
import org.apache.flink.state.changelog.ChangelogStateBackend;
import org.apache.flink.streaming.api.operators.TimerHeapInternalTimer;
import org.apache.flink.streaming.api.operators.TimerSerializer;
import org.apache.flink.types.IntValue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.lavakv.flink.LavaOptions.TimerService;
import org.lavakv.flink.testing.BackendFixture;

/** The backend's declarations to Flink are true, under every option that affects them. */
class BackendAnswersTest {

    private static final int COUNT = 50;

    @TempDir Path directory;
    private BackendFixture fixture;

    @BeforeEach
    void open() throws Exception {
        fixture = new BackendFixture(directory);
    }

    @AfterEach
    void close() throws Exception {
        fixture.close();
    }

    /**
     * A new version of Flink with further questions fails here; the answers then need tests, too.
     */
    @Test
    void flinkAsksNothingElse() {
        Set<String> questions = new TreeSet<>();
        for (Class<?> asks :
                List.of(
                        StateBackend.class,
                        ConfigurableStateBackend.class,
                        KeyedStateBackend.class,
                        CheckpointableKeyedStateBackend.class,
                        AbstractKeyedStateBackend.class,
                        AsyncKeyedStateBackend.class,
                        PriorityQueueSetFactory.class)) {
            for (Method method : asks.getMethods()) {
                boolean answers =
                        method.getReturnType() == boolean.class
                                || method.getReturnType() == String.class;
                boolean known =
                        Arrays.stream(method.getParameterTypes())
                                .allMatch(
                                        type ->
                                                type == SnapshotType.class
                                                        || type == SavepointFormatType.class);
                if (answers && known && method.getDeclaringClass() != Object.class) {
                    questions.add(method.getName());
                }
            }
        }
        assertThat(questions)
                .containsExactlyInAnyOrder(
                        "getName",
                        "useManagedMemory",
                        "supportsNoClaimRestoreMode",
                        "supportsSavepointFormat",
                        "supportsAsyncKeyedStateBackend",
                        "isSafeToReuseKVState",
                        "getBackendTypeIdentifier",
                        "requiresLegacySynchronousTimerSnapshots");
    }

    // ---------------------------------------------------------------------- reuse of objects

    @ParameterizedTest
    @EnumSource(TimerService.class)
    void objectsMayBeReusedUnlessTimersAreOnTheHeap(TimerService timers) throws Exception {
        LavaStateBackend lava =
                fixture.newLava(true).set(LavaOptions.TIMER_SERVICE_FACTORY, timers);
        fixture.use(lava);
        AbstractKeyedStateBackend<IntValue> backend =
                fixture.create(BackendFixture.ALL, List.of(), new IntValueSerializer());
        AsyncKeyedStateBackend<IntValue> asynchronous = new LavaAsyncStateAdaptor<>(backend);
        boolean reused = timersKeepTheirKeys(backend) && statesKeepTheirContent(backend);
        assertThat(backend.isSafeToReuseKVState()).isEqualTo(reused).isEqualTo(timers == LAVA);
        assertThat(asynchronous.isSafeToReuseKVState()).isEqualTo(reused);
    }

    /** Flink's changelog forwards these questions. */
    @ParameterizedTest
    @EnumSource(TimerService.class)
    void theChangelogGivesTheSameAnswers(TimerService timers) throws Exception {
        LavaStateBackend lava =
                fixture.newLava(true).set(LavaOptions.TIMER_SERVICE_FACTORY, timers);
        StateBackend changelog =
                StateBackendLoader.fromApplicationOrConfigOrDefault(
                        lava,
                        new Configuration()
                                .set(StateChangelogOptions.ENABLE_STATE_CHANGE_LOG, true),
                        new Configuration(),
                        getClass().getClassLoader(),
                        null);
        assertThat(changelog).isInstanceOf(ChangelogStateBackend.class);
        assertThat(changelog.useManagedMemory()).isEqualTo(lava.useManagedMemory());
        for (SavepointFormatType format : SavepointFormatType.values()) {
            assertThat(changelog.supportsSavepointFormat(format))
                    .isEqualTo(lava.supportsSavepointFormat(format));
        }
    }

    private static boolean timersKeepTheirKeys(AbstractKeyedStateBackend<IntValue> backend) {
        KeyGroupedInternalPriorityQueue<TimerHeapInternalTimer<IntValue, VoidNamespace>> queue =
                backend.create(
                        "timers",
                        new TimerSerializer<>(
                                new IntValueSerializer(), VoidNamespaceSerializer.INSTANCE));
        IntValue key = new IntValue();
        for (int i = 0; i < COUNT; i++) {
            key.setValue(i);
            queue.add(new TimerHeapInternalTimer<>(i, key, VoidNamespace.INSTANCE));
        }
        for (int i = 0; i < COUNT; i++) {
            TimerHeapInternalTimer<IntValue, VoidNamespace> timer = queue.poll();
            if (timer == null || timer.getKey().getValue() != i) {
                return false;
            }
        }
        return true;
    }

    /**
     * One object is used for all keys and one for all values, and objects that were read are
     * modified.
     */
    private static boolean statesKeepTheirContent(AbstractKeyedStateBackend<IntValue> backend)
            throws Exception {
        IntValueSerializer values = new IntValueSerializer();
        ValueState<IntValue> value =
                BackendFixture.state(backend, new ValueStateDescriptor<>("v", values));
        ListState<IntValue> list =
                BackendFixture.state(backend, new ListStateDescriptor<>("l", values));
        MapState<IntValue, IntValue> map =
                BackendFixture.state(backend, new MapStateDescriptor<>("m", values, values));
        ReducingState<IntValue> reducing =
                BackendFixture.state(
                        backend, new ReducingStateDescriptor<>("r", (a, b) -> b, values));
        IntValue key = new IntValue();
        IntValue one = new IntValue();
        for (int i = 0; i < COUNT; i++) {
            key.setValue(i);
            one.setValue(i);
            backend.setCurrentKey(key);
            key.setValue(-1);
            value.update(one);
            list.add(one);
            map.put(one, one);
            reducing.add(one);
            one.setValue(-1);
        }
        boolean kept = true;
        for (int round = 0; round < 2; round++) {
            for (int i = 0; i < COUNT; i++) {
                key.setValue(i);
                backend.setCurrentKey(key);
                Map.Entry<IntValue, IntValue> entry = map.iterator().next();
                for (IntValue read :
                        List.of(
                                value.value(),
                                list.get().iterator().next(),
                                entry.getKey(),
                                entry.getValue(),
                                reducing.get())) {
                    kept &= read.getValue() == i;
                    read.setValue(-2);
                }
            }
        }
        return kept;
    }

    // ---------------------------------------------------------------------- snapshots

    static Stream<Arguments> snapshots() {
        List<Arguments> cases = new ArrayList<>();
        for (TimerService timers : TimerService.values()) {
            for (boolean incremental : new boolean[] {true, false}) {
                for (SnapshotType type :
                        List.of(
                                CheckpointType.CHECKPOINT,
                                CheckpointType.FULL_CHECKPOINT,
                                SavepointType.savepoint(SavepointFormatType.NATIVE),
                                SavepointType.savepoint(SavepointFormatType.CANONICAL))) {
                    cases.add(Arguments.of(timers, incremental, type));
                }
            }
        }
        return cases.stream();
    }

    /** The backend requests no separate snapshot of timers, so nothing else would write them. */
    @ParameterizedTest
    @MethodSource("snapshots")
    void everyKindOfSnapshotThatItSupportsHoldsTheTimers(
            TimerService timers, boolean incremental, SnapshotType type) throws Exception {
        LavaStateBackend lava =
                fixture.newLava(incremental).set(LavaOptions.TIMER_SERVICE_FACTORY, timers);
        assertThat(lava.supportsSavepointFormat(SavepointFormatType.NATIVE)).isTrue();
        assertThat(lava.supportsSavepointFormat(SavepointFormatType.CANONICAL)).isTrue();
        assertThat(lava.supportsNoClaimRestoreMode()).isTrue();
        fixture.use(lava);
        AbstractKeyedStateBackend<Integer> backend = fixture.create(BackendFixture.ALL);
        assertThat(backend.requiresLegacySynchronousTimerSnapshots(type)).isFalse();
        assertThat(
                        new LavaAsyncStateAdaptor<>(backend)
                                .requiresLegacySynchronousTimerSnapshots(type))
                .isFalse();
        var queue = timers(backend);
        for (int i = 0; i < COUNT; i++) {
            queue.add(new TimerHeapInternalTimer<>(i, i, VoidNamespace.INSTANCE));
            backend.setCurrentKey(i);
            BackendFixture.value(backend).update("value " + i);
        }
        KeyedStateHandle handle =
                type.equals(SavepointType.savepoint(SavepointFormatType.CANONICAL))
                        ? BackendFixture.savepoint(backend)
                        : BackendFixture.remote(
                                fixture.snapshot(
                                        backend,
                                        1,
                                        CheckpointOptions.alignedNoTimeout(
                                                type,
                                                CheckpointStorageLocationReference.getDefault())));
        AbstractKeyedStateBackend<Integer> restored = fixture.create(BackendFixture.ALL, handle);
        var restoredQueue = timers(restored);
        for (int i = 0; i < COUNT; i++) {
            restored.setCurrentKey(i);
            assertThat(BackendFixture.value(restored).value()).isEqualTo("value " + i);
            assertThat(restoredQueue.poll().getKey()).isEqualTo(i);
        }
        assertThat(restoredQueue.isEmpty()).isTrue();
    }

    private static KeyGroupedInternalPriorityQueue<TimerHeapInternalTimer<Integer, VoidNamespace>>
            timers(AbstractKeyedStateBackend<Integer> backend) {
        return backend.create(
                "timers",
                new TimerSerializer<>(IntSerializer.INSTANCE, VoidNamespaceSerializer.INSTANCE));
    }

    // ---------------------------------------------------------------------- memory

    static Stream<LavaStateBackend> memories() {
        MemorySize fixed = MemorySize.ofMebiBytes(16);
        return Stream.of(
                new LavaStateBackend(),
                new LavaStateBackend().set(LavaOptions.USE_MANAGED_MEMORY, false),
                new LavaStateBackend().set(LavaOptions.FIX_PER_SLOT_MEMORY_SIZE, fixed));
    }

    @ParameterizedTest
    @MethodSource("memories")
    void managedMemoryIsAskedForWhereItIsUsed(LavaStateBackend backend) throws Exception {
        LavaStateBackend lava =
                backend.configure(
                        Configuration.fromMap(
                                Map.of(
                                        LavaOptions.LOCAL_DIRECTORIES.key(),
                                        directory.toString(),
                                        LavaOptions.LIBRARY_DIRECTORY.key(),
                                        directory.toString())),
                        getClass().getClassLoader());
        JobID job = new JobID();
        try (MockEnvironment environment =
                        new MockEnvironmentBuilder().setManagedMemorySize(16 << 20).build();
                CloseableRegistry cancel = new CloseableRegistry()) {
            long before = environment.getMemoryManager().availableMemory();
            AbstractKeyedStateBackend<Integer> keyed =
                    lava.createKeyedStateBackend(
                            new KeyedStateBackendParametersImpl<>(
                                    environment,
                                    job,
                                    "operator",
                                    IntSerializer.INSTANCE,
                                    1,
                                    KeyGroupRange.of(0, 0),
                                    new KvStateRegistry()
                                            .createTaskRegistry(job, new JobVertexID()),
                                    TtlTimeProvider.DEFAULT,
                                    new UnregisteredMetricsGroup(),
                                    (name, value) -> {},
                                    List.of(),
                                    cancel,
                                    1.0));
            boolean used = environment.getMemoryManager().availableMemory() < before;
            keyed.close();
            keyed.dispose();
            assertThat(lava.useManagedMemory()).isEqualTo(used);
        }
    }

    // ---------------------------------------------------------------------- names and kinds

    /**
     * SQL's operators rely on key order for maps of backends with certain names, and sort all
     * others.
     */
    @Test
    void theNameIsNoOtherBackends() throws Exception {
        fixture.use(fixture.newLava(true).set(LavaOptions.TIMER_SERVICE_FACTORY, HEAP));
        AbstractKeyedStateBackend<Integer> backend = fixture.create(BackendFixture.ALL);
        assertThat(backend.getBackendTypeIdentifier()).isEqualTo("lava");
        assertThat(new LavaAsyncStateAdaptor<>(backend).getBackendTypeIdentifier())
                .isEqualTo("lava");
        assertThat(new LavaStateBackend().getName()).isEqualTo("lava");
        assertThat(new LavaStateBackend().supportsAsyncKeyedStateBackend()).isTrue();
        // The map's entries are in key order nevertheless.
        MapState<String, Integer> map = BackendFixture.map(backend);
        backend.setCurrentKey(1);
        for (String name : List.of("c", "a", "b")) {
            map.put(name, 1);
        }
        Iterator<String> names = map.keys().iterator();
        assertThat(List.of(names.next(), names.next(), names.next()))
                .containsExactly("a", "b", "c");
    }
}
