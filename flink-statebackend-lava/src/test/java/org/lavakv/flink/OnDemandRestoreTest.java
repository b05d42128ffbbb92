// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.lavakv.flink.testing.BackendFixture.ALL;
import static org.lavakv.flink.testing.BackendFixture.HIGH;
import static org.lavakv.flink.testing.BackendFixture.LOW;
import static org.lavakv.flink.testing.BackendFixture.keysIn;
import static org.lavakv.flink.testing.BackendFixture.remote;
import static org.lavakv.flink.testing.BackendFixture.value;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RunnableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.runtime.checkpoint.CheckpointOptions;
import org.apache.flink.runtime.checkpoint.CheckpointType;
import org.apache.flink.runtime.checkpoint.SavepointType;
import org.apache.flink.runtime.checkpoint.SnapshotType;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.CheckpointStorageLocationReference;
import org.apache.flink.runtime.state.IncrementalKeyedStateHandle.HandleAndLocalPath;
import org.apache.flink.runtime.state.IncrementalRemoteKeyedStateHandle;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyGroupedInternalPriorityQueue;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.PlaceholderStreamStateHandle;
import org.apache.flink.runtime.state.SharedStateRegistryImpl;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.apache.flink.streaming.api.operators.TimerHeapInternalTimer;
import org.apache.flink.streaming.api.operators.TimerSerializer;
import org.apache.flink.util.ExceptionUtils;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.lavakv.flink.testing.BackendFixture;
import org.lavakv.flink.testing.HeldStorage;
import org.lavakv.flink.testing.RecordingMetricGroup;

/** Restores in which the job begins before the files have been fetched. */
@Timeout(180)
class OnDemandRestoreTest {

    /** Far more than the wait may take: only a hang is a failure. */
    private static final long HANG_S = 60;

    private static final int KEYS = 600;
    private static final int VALUE_BYTES = 1000;

    @TempDir Path root;
    private BackendFixture fixture;
    private final HeldStorage storage = new HeldStorage();
    private final SharedStateRegistryImpl registry = new SharedStateRegistryImpl();
    private IncrementalRemoteKeyedStateHandle checkpoint;

    @BeforeEach
    void takeCheckpoint() throws Exception {
        fixture = new BackendFixture(root);
        fixture.use(newLava());
        AbstractKeyedStateBackend<Integer> backend = fixture.create(ALL);
        timers(backend).add(timer(7));
        checkpoint = storage.hold(filledCheckpoint(backend, ALL, 1));
        checkpoint.registerSharedStates(registry, 1);
        fixture.close(backend);
        assertThat(checkpoint.getSharedState()).hasSizeGreaterThan(5);
    }

    @AfterEach
    void close() throws Exception {
        storage.releaseAll();
        fixture.close();
    }

    /** Small files without packs, one of which is fetched at a time in the background. */
    private LavaStateBackend newLava() throws IOException {
        return fixture.newLava(true)
                .set(LavaOptions.RESTORE_ON_DEMAND, true)
                .set(LavaOptions.CHECKPOINT_PACK_FILE_SIZE, MemorySize.ZERO)
                .set(LavaOptions.CHECKPOINT_TRANSFER_THREAD_NUM, 1)
                .set(LavaConfigurableOptions.MEMTABLE_SIZE, new MemorySize(1 << 20))
                .set(LavaConfigurableOptions.TARGET_FILE_SIZE, new MemorySize(64 << 10));
    }

    private KeyedStateHandle filledCheckpoint(
            AbstractKeyedStateBackend<Integer> backend, KeyGroupRange range, long id)
            throws Exception {
        for (int key : keysIn(range, KEYS)) {
            write(backend, key, text(key));
        }
        ((LavaKeyedStateBackend<Integer>) backend).compact();
        return remote(fixture.checkpoint(backend, id));
    }

    private static void write(AbstractKeyedStateBackend<Integer> backend, int key, String text)
            throws IOException {
        backend.setCurrentKey(key);
        value(backend).update(text);
    }

    private static String read(AbstractKeyedStateBackend<Integer> backend, int key)
            throws IOException {
        backend.setCurrentKey(key);
        return value(backend).value();
    }

    /** Incompressible text. */
    private static String text(int key) {
        Random random = new Random(key);
        return random.ints(VALUE_BYTES, ' ', '~')
                .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
                .toString();
    }

    private static void assertContent(
            AbstractKeyedStateBackend<Integer> backend, KeyGroupRange range) throws Exception {
        for (int key : keysIn(range, KEYS)) {
            assertThat(read(backend, key)).isEqualTo(text(key));
        }
    }

    private static KeyGroupedInternalPriorityQueue<TimerHeapInternalTimer<Integer, VoidNamespace>>
            timers(AbstractKeyedStateBackend<Integer> backend) {
        return backend.create(
                "_timer_state/event_timers",
                new TimerSerializer<>(IntSerializer.INSTANCE, VoidNamespaceSerializer.INSTANCE));
    }

    private static TimerHeapInternalTimer<Integer, VoidNamespace> timer(long time) {
        return new TimerHeapInternalTimer<>(time, 1, VoidNamespace.INSTANCE);
    }

    /** Runs an action on another thread. */
    private static <T> Future<T> async(Callable<T> action) {
        FutureTask<T> task = new FutureTask<>(action);
        new Thread(task).start();
        return task;
    }

    private static <T> T get(Future<T> future) throws Exception {
        return future.get(HANG_S, TimeUnit.SECONDS);
    }

    private static void assertWaits(Future<?> future) {
        assertThatThrownBy(() -> future.get(50, TimeUnit.MILLISECONDS))
                .isInstanceOf(TimeoutException.class);
    }

    private int missing(AbstractKeyedStateBackend<Integer> backend) throws Exception {
        return ((LavaKeyedStateBackend<Integer>) backend).instance().db().missingFiles().size();
    }

    private void awaitAll(AbstractKeyedStateBackend<Integer> backend) throws Exception {
        while (missing(backend) > 0) {
            Thread.sleep(5);
        }
    }

    // ---------------------------------------------------------------------- reads

    @Test
    void firstReadsAreServedWhileOtherFilesAreMissing() throws Exception {
        storage.holdAll();
        AbstractKeyedStateBackend<Integer> backend = fixture.create(ALL, checkpoint);
        int files = checkpoint.getSharedState().size();
        assertThat(missing(backend)).isEqualTo(files);
        storage.awaitOpened(1);
        // The only background thread hangs at a file that the last key does not need.
        int key = keysIn(KeyGroupRange.of(7, 7), KEYS).get(0);
        Future<String> read = async(() -> read(backend, key));
        for (int known = 1; !read.isDone(); ) {
            List<String> opened = storage.opened();
            if (opened.size() > known) {
                opened.subList(1, opened.size()).forEach(storage::release);
                known = opened.size();
            }
            Thread.sleep(1);
        }
        assertThat(get(read)).isEqualTo(text(key));
        assertThat(missing(backend)).isBetween(1, files - 1);
        storage.releaseAll();
        assertContent(backend, ALL);
        awaitAll(backend);
    }

    @Test
    void writesAndWhatTheyLeaveInMemoryWaitForNothing() throws Exception {
        storage.holdAll();
        AbstractKeyedStateBackend<Integer> backend = fixture.create(ALL, checkpoint);
        write(backend, 5, "new");
        assertThat(read(backend, 5)).isEqualTo("new");
        backend.setCurrentKey(6);
        value(backend).clear();
        assertThat(value(backend).value()).isNull();
        BackendFixture.map(backend).put("a", 1);
        BackendFixture.list(backend).add(3);
        assertThat(storage.opened()).hasSizeLessThanOrEqualTo(1);
        storage.releaseAll();
        assertThat(read(backend, 4)).isEqualTo(text(4));
        assertThat(BackendFixture.map(backend).get("a")).isNull();
        backend.setCurrentKey(6);
        assertThat(BackendFixture.map(backend).get("a")).isEqualTo(1);
    }

    @Test
    void timersAndScansBringWhatTheyNeed() throws Exception {
        AbstractKeyedStateBackend<Integer> backend = fixture.create(ALL, checkpoint);
        assertThat(timers(backend).poll()).isEqualTo(timer(7));
        assertThat(timers(backend).isEmpty()).isTrue();
        assertThat(backend.getKeys(BackendFixture.VALUE.getName(), VoidNamespace.INSTANCE))
                .hasSize(KEYS);
        assertThat(backend.numKeyValueStateEntries()).isEqualTo(KEYS);
    }

    @Test
    void aCanonicalSavepointBringsWhatItNeeds() throws Exception {
        storage.holdAll();
        AbstractKeyedStateBackend<Integer> backend = fixture.create(ALL, checkpoint);
        var resources = backend.savepoint();
        Future<KeyedStateHandle> savepoint = async(() -> BackendFixture.savepoint(resources));
        assertWaits(savepoint);
        write(backend, 1, "newer than the savepoint");
        storage.releaseAll();
        KeyedStateHandle handle = get(savepoint);
        assertContent(fixture.create(ALL, handle), ALL);
    }

    // ---------------------------------------------------------------------- failures

    private String anyFile() {
        return checkpoint.getSharedState().get(0).getLocalPath();
    }

    private void takeAllAway() {
        checkpoint.getSharedState().forEach(file -> storage.takeAway(file.getLocalPath()));
    }

    @Test
    void aFetchThatFailsFailsTheReadAndNamesTheFile() throws Exception {
        takeAllAway();
        AbstractKeyedStateBackend<Integer> backend = fixture.create(ALL, checkpoint);
        assertThatThrownBy(() -> read(backend, 1))
                .satisfies(
                        e ->
                                assertThat(ExceptionUtils.stringifyException(e))
                                        .contains("the-value")
                                        .contains("of the restored checkpoint on demand failed")
                                        .containsPattern("the storage has lost \\S+\\.ksst"));
        storage.giveBack();
        assertContent(backend, ALL);
        awaitAll(backend); // a failed background fetch is retried
    }

    @Test
    void aDamagedFileIsNamedWithItsOffset() throws Exception {
        for (Path file : BackendFixture.filesIn(fixture.shared())) {
            byte[] content = Files.readAllBytes(file);
            content[content.length / 2] ^= 1;
            Files.delete(file);
            Files.write(file, content);
        }
        AbstractKeyedStateBackend<Integer> backend = fixture.create(ALL, checkpoint);
        assertThatThrownBy(() -> read(backend, 1))
                .satisfies(
                        e ->
                                assertThat(ExceptionUtils.stringifyException(e))
                                        .contains(fixture.shared().toString())
                                        .contains("is damaged: at offset")
                                        .contains("Restore from another checkpoint"));
        assertThat(missing(backend)).isEqualTo(checkpoint.getSharedState().size());
    }

    @Test
    void aReadThatWaitsIsCancelledThoughTheFetchHangs() throws Exception {
        storage.holdAll();
        AbstractKeyedStateBackend<Integer> backend = fixture.create(ALL, checkpoint);
        FutureTask<String> read = new FutureTask<>(() -> read(backend, 1));
        Thread task = new Thread(read);
        task.start();
        storage.awaitOpened(1);
        assertWaits(read);
        task.interrupt();
        assertThatThrownBy(() -> get(read))
                .satisfies(
                        e ->
                                assertThat(ExceptionUtils.stringifyException(e))
                                        .contains("the thread was interrupted"));
        get(
                async(
                        () -> {
                            fixture.close(backend);
                            return null;
                        }));
        assertThat(fixture.instanceDirectories()).isEmpty();
        storage.releaseAll();
        awaitThreadsGone();
        // A hanging fetch keeps its volume, if it has one.
        assertThat(BackendFixture.filesIn(fixture.instances())).isEmpty();
    }

    @Test
    void closingTheBackendEndsReadsThatWait() throws Exception {
        storage.holdAll();
        AbstractKeyedStateBackend<Integer> backend = fixture.create(ALL, checkpoint);
        var resources = backend.savepoint();
        Future<KeyedStateHandle> savepoint = async(() -> BackendFixture.savepoint(resources));
        Future<String> read = async(() -> read(backend, 1));
        storage.awaitOpened(1);
        assertWaits(read);
        assertWaits(savepoint);
        get(
                async(
                        () -> {
                            fixture.close(backend);
                            return null;
                        }));
        for (Future<?> waiting : List.of(read, savepoint)) {
            assertThatThrownBy(() -> get(waiting))
                    .isInstanceOf(ExecutionException.class)
                    .satisfies(
                            e ->
                                    assertThat(ExceptionUtils.stringifyException(e))
                                            .contains("closed"));
        }
        storage.releaseAll();
        awaitThreadsGone();
    }

    private static void awaitThreadsGone() throws InterruptedException {
        while (Thread.getAllStackTraces().keySet().stream()
                .anyMatch(thread -> thread.getName().startsWith("lava-fetch-"))) {
            Thread.sleep(5);
        }
    }

    @Test
    void threadsEndWhenAllIsThere() throws Exception {
        AbstractKeyedStateBackend<Integer> backend = fixture.create(ALL, checkpoint);
        awaitAll(backend);
        awaitThreadsGone();
        assertContent(backend, ALL);
    }

    // ---------------------------------------------------------------------- checkpoints

    private static CheckpointOptions options(SnapshotType type) {
        return new CheckpointOptions(type, CheckpointStorageLocationReference.getDefault());
    }

    private RunnableFuture<SnapshotResult<KeyedStateHandle>> snapshot(
            AbstractKeyedStateBackend<Integer> backend, long id, SnapshotType type)
            throws Exception {
        return backend.snapshot(id, 0, fixture.streams(id), options(type));
    }

    private static List<HandleAndLocalPath> reusedIn(IncrementalRemoteKeyedStateHandle handle) {
        return handle.getSharedState().stream()
                .filter(file -> file.getHandle() instanceof PlaceholderStreamStateHandle)
                .collect(Collectors.toList());
    }

    @Test
    void aCheckpointMeanwhileWaitsForNothingAndIsRestorable() throws Exception {
        storage.holdAll();
        AbstractKeyedStateBackend<Integer> backend = fixture.create(ALL, checkpoint);
        write(backend, 5, "new");
        IncrementalRemoteKeyedStateHandle next =
                (IncrementalRemoteKeyedStateHandle) remote(fixture.checkpoint(backend, 2));
        assertThat(reusedIn(next)).hasSameSizeAs(checkpoint.getSharedState());
        next.registerSharedStates(registry, 2);
        backend.notifyCheckpointComplete(2);
        registry.unregisterUnusedState(2);
        fixture.close(backend);
        storage.releaseAll();
        AbstractKeyedStateBackend<Integer> again = fixture.create(ALL, next);
        assertThat(read(again, 5)).isEqualTo("new");
        write(again, 5, text(5));
        assertContent(again, ALL);
    }

    @ParameterizedTest(name = "a native savepoint: {0}")
    @ValueSource(booleans = {false, true})
    void whatUploadsAllWaitsForAll(boolean savepoint) throws Exception {
        SnapshotType type =
                savepoint
                        ? SavepointType.savepoint(SavepointFormatType.NATIVE)
                        : CheckpointType.FULL_CHECKPOINT; // the first after NO_CLAIM
        storage.holdAll();
        AbstractKeyedStateBackend<Integer> backend = fixture.create(ALL, checkpoint);
        RunnableFuture<SnapshotResult<KeyedStateHandle>> future = snapshot(backend, 2, type);
        async(
                () -> {
                    future.run();
                    return null;
                });
        assertWaits(future);
        write(backend, 5, "newer");
        storage.releaseAll();
        IncrementalRemoteKeyedStateHandle next =
                (IncrementalRemoteKeyedStateHandle) remote(get(future));
        assertThat(reusedIn(next)).isEmpty();
        assertThat(missing(backend)).isZero();
        fixture.close(backend);
        // The checkpoint is independent: the files of the first one may be deleted.
        for (HandleAndLocalPath file : checkpoint.getSharedState()) {
            file.getHandle().discardState();
        }
        assertContent(fixture.create(ALL, next), ALL);
    }

    @Test
    void aCheckpointThatLacksAFileFailsAndNamesIt() throws Exception {
        storage.takeAway(anyFile());
        AbstractKeyedStateBackend<Integer> backend = fixture.create(ALL, checkpoint);
        RunnableFuture<SnapshotResult<KeyedStateHandle>> future =
                snapshot(backend, 2, CheckpointType.FULL_CHECKPOINT);
        future.run();
        assertThatThrownBy(() -> get(future))
                .satisfies(
                        e ->
                                assertThat(ExceptionUtils.stringifyException(e))
                                        .contains("Checkpoint 2 must upload all files")
                                        .contains("the storage has lost " + anyFile()));
        assertThat(BackendFixture.filesIn(fixture.checkpoints().resolve("chk-2"))).isEmpty();
        storage.giveBack();
        RunnableFuture<SnapshotResult<KeyedStateHandle>> next =
                snapshot(backend, 3, CheckpointType.FULL_CHECKPOINT);
        next.run();
        assertThat(reusedIn((IncrementalRemoteKeyedStateHandle) remote(get(next)))).isEmpty();
    }

    /**
     * A fetch that began before the checkpoint may have failed for a reason that no longer exists.
     */
    @Test
    void aCheckpointFailsOnlyForAFetchThatBeganAfterIt() throws Exception {
        storage.holdAll();
        AbstractKeyedStateBackend<Integer> backend = fixture.create(ALL, checkpoint);
        storage.awaitOpened(1);
        RunnableFuture<SnapshotResult<KeyedStateHandle>> future =
                snapshot(backend, 2, CheckpointType.FULL_CHECKPOINT);
        async(
                () -> {
                    future.run();
                    return null;
                });
        assertWaits(future);
        storage.takeAwayOnce(storage.opened().get(0));
        storage.releaseAll();
        assertThat(reusedIn((IncrementalRemoteKeyedStateHandle) remote(get(future)))).isEmpty();
    }

    @Test
    void aCheckpointThatWaitsIsCancelledThoughTheFetchHangs() throws Exception {
        storage.holdAll();
        AbstractKeyedStateBackend<Integer> backend = fixture.create(ALL, checkpoint);
        RunnableFuture<SnapshotResult<KeyedStateHandle>> future =
                snapshot(backend, 2, CheckpointType.FULL_CHECKPOINT);
        Future<?> running =
                async(
                        () -> {
                            future.run();
                            return null;
                        });
        assertWaits(running);
        assertThat(future.cancel(true)).isTrue();
        get(running);
        storage.releaseAll();
        assertContent(backend, ALL);
    }

    @Test
    void localCopiesAreWholeOrNotMadeAndTakenBeforeTheJobBegins() throws Exception {
        fixture.enableLocalRecovery();
        storage.holdAll();
        AbstractKeyedStateBackend<Integer> backend = fixture.create(ALL, checkpoint);
        SnapshotResult<KeyedStateHandle> without = fixture.checkpoint(backend, 2);
        assertThat(without.getTaskLocalSnapshot()).isNull();
        backend.notifyCheckpointComplete(2);
        storage.releaseAll();
        awaitAll(backend);
        SnapshotResult<KeyedStateHandle> with = fixture.checkpoint(backend, 3);
        assertThat(with.getTaskLocalSnapshot()).isNotNull();
        fixture.close(backend);
        storage.holdAll();
        AbstractKeyedStateBackend<Integer> local = fixture.create(ALL, with.getTaskLocalSnapshot());
        assertThat(missing(local)).isZero();
        assertContent(local, ALL);
    }

    // ---------------------------------------------------------------------- other parallelisms

    @Test
    void scalesOutAndInWhileFilesAreMissing() throws Exception {
        List<KeyedStateHandle> halves = new ArrayList<>();
        long id = 2;
        for (KeyGroupRange range : List.of(LOW, HIGH)) {
            storage.holdAll();
            AbstractKeyedStateBackend<Integer> half = fixture.create(range, checkpoint);
            assertThat(missing(half)).isBetween(1, checkpoint.getSharedState().size());
            for (int key : keysIn(range, 10)) {
                write(half, key, text(key));
            }
            RunnableFuture<SnapshotResult<KeyedStateHandle>> future =
                    snapshot(half, id, CheckpointType.CHECKPOINT);
            async(
                    () -> {
                        future.run();
                        return null;
                    });
            // No subtask may name the files of the whole.
            assertWaits(future);
            storage.releaseAll();
            halves.add(storage.hold(remote(get(future))));
            id++;
            assertContent(half, range);
            fixture.close(half);
        }
        AbstractKeyedStateBackend<Integer> whole = fixture.create(ALL, halves);
        assertContent(whole, ALL);
        ((LavaKeyedStateBackend<Integer>) whole).compact();
        assertContent(whole, ALL);
    }

    // ---------------------------------------------------------------------- other cases

    @Test
    void compactionsGoOnOnceTheFilesAreThere() throws Exception {
        storage.holdAll();
        AbstractKeyedStateBackend<Integer> backend = fixture.create(ALL, checkpoint);
        write(backend, 5, "new");
        Future<?> compaction =
                async(
                        () -> {
                            ((LavaKeyedStateBackend<Integer>) backend).compact();
                            return null;
                        });
        assertWaits(compaction);
        storage.releaseAll();
        get(compaction);
        assertThat(read(backend, 5)).isEqualTo("new");
    }

    @Test
    void progressIsShown() throws Exception {
        RecordingMetricGroup metrics = new RecordingMetricGroup();
        fixture.useMetrics(metrics);
        storage.holdAll();
        AbstractKeyedStateBackend<Integer> backend = fixture.create(ALL, checkpoint);
        int files = checkpoint.getSharedState().size();
        long bytes =
                checkpoint.getSharedState().stream()
                        .mapToLong(file -> file.getHandle().getStateSize())
                        .sum();
        Map<String, Gauge<?>> gauges = metrics.gauges();
        assertThat(gauges.get(".lava.restore.files-left").getValue()).isEqualTo((long) files);
        assertThat(gauges.get(".lava.restore.bytes-left").getValue()).isEqualTo(bytes);
        assertThat(gauges.get(".lava.restore.seconds-left").getValue()).isEqualTo(-1L);
        storage.releaseAll();
        awaitAll(backend);
        while ((long) gauges.get(".lava.restore.files-left").getValue() > 0) {
            Thread.sleep(1);
        }
        assertThat(gauges.get(".lava.restore.files").getValue()).isEqualTo((long) files);
        assertThat(gauges.get(".lava.restore.bytes").getValue()).isEqualTo(bytes);
        assertThat(gauges.get(".lava.restore.bytes-left").getValue()).isEqualTo(0L);
        assertThat(gauges.get(".lava.restore.seconds-left").getValue()).isEqualTo(0L);
    }

    @Test
    void restoresOfCanonicalSavepointsShowTheirProgress() throws Exception {
        AbstractKeyedStateBackend<Integer> backend = fixture.create(ALL, checkpoint);
        KeyedStateHandle savepoint = BackendFixture.savepoint(backend);
        RecordingMetricGroup metrics = new RecordingMetricGroup();
        fixture.useMetrics(metrics);
        fixture.create(ALL, savepoint);
        assertThat(metrics.gauges().get(".lava.restore.files").getValue()).isEqualTo(1L);
        assertThat((long) metrics.gauges().get(".lava.restore.bytes").getValue())
                .isBetween(savepoint.getStateSize() * 9 / 10, savepoint.getStateSize());
        assertThat(metrics.gauges().get(".lava.restore.bytes-left").getValue()).isEqualTo(0L);
    }

    @Test
    void withoutTheOptionAllIsThereFromTheStart() throws Exception {
        RecordingMetricGroup metrics = new RecordingMetricGroup();
        fixture.useMetrics(metrics).use(newLava().set(LavaOptions.RESTORE_ON_DEMAND, false));
        AbstractKeyedStateBackend<Integer> backend = fixture.create(ALL, checkpoint);
        assertThat(missing(backend)).isZero();
        assertThat(metrics.gauges().get(".lava.restore.files").getValue())
                .isEqualTo((long) checkpoint.getSharedState().size());
    }

    @Test
    void filesOfAPackComeOnDemandAndArePackedAnew() throws Exception {
        fixture.use(
                newLava().set(LavaOptions.CHECKPOINT_PACK_FILE_SIZE, MemorySize.ofMebiBytes(1)));
        AbstractKeyedStateBackend<Integer> backend = fixture.create(ALL);
        IncrementalRemoteKeyedStateHandle packed = storage.hold(filledCheckpoint(backend, ALL, 1));
        fixture.close(backend);
        assertThat(packed.getSharedState()).hasSize(1);
        storage.holdAll();
        AbstractKeyedStateBackend<Integer> restored = fixture.create(ALL, packed);
        int files = missing(restored);
        assertThat(files).isGreaterThan(5);
        // The handle names the pack, although it needs none of its files.
        IncrementalRemoteKeyedStateHandle next =
                (IncrementalRemoteKeyedStateHandle) remote(fixture.checkpoint(restored, 2));
        assertThat(next.getSharedState()).hasSize(1);
        assertThat(missing(restored)).isEqualTo(files);
        Future<String> reader = async(() -> read(restored, 0));
        assertWaits(reader);
        storage.releaseAll();
        assertThat(get(reader)).isEqualTo(text(0));
        awaitAll(restored);
        assertContent(restored, ALL);
    }
}
