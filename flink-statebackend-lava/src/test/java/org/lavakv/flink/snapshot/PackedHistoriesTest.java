// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.snapshot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.lavakv.flink.testing.BackendFixture.ALL;
import static org.lavakv.flink.testing.BackendFixture.remote;
import static org.lavakv.flink.testing.BackendFixture.value;

import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.runtime.checkpoint.CheckpointOptions;
import org.apache.flink.runtime.checkpoint.CheckpointType;
import org.apache.flink.runtime.checkpoint.SavepointType;
import org.apache.flink.runtime.checkpoint.SnapshotType;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.CheckpointStorageLocationReference;
import org.apache.flink.runtime.state.IncrementalKeyedStateHandle.HandleAndLocalPath;
import org.apache.flink.runtime.state.IncrementalRemoteKeyedStateHandle;
import org.apache.flink.runtime.state.PlaceholderStreamStateHandle;
import org.apache.flink.runtime.state.SharedStateRegistryImpl;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.lavakv.flink.LavaConfigurableOptions;
import org.lavakv.flink.LavaKeyedStateBackend;
import org.lavakv.flink.LavaOptions;
import org.lavakv.flink.checkpoint.PackedFiles;
import org.lavakv.flink.testing.BackendFixture;

/**
 * Random checkpoints are confirmed, aborted, or neither as far as the backend learns, while a
 * JobManager deletes everything that no completed checkpoint needs. The last completed checkpoint
 * always exists, whatever happened to its packs.
 */
@Timeout(600)
class PackedHistoriesTest {

    private static final int HISTORIES = 25;
    private static final int STEPS = 25;
    private static final int KEYS = 120;
    private static final int SEPARATED_BYTES = 300;

    @TempDir Path root;
    private BackendFixture fixture;
    private Random random;
    private AbstractKeyedStateBackend<Integer> backend;
    private SharedStateRegistryImpl jobManager;
    private IncrementalRemoteKeyedStateHandle completed;
    private Map<Integer, String> completedContent;
    private final Map<Integer, String> content = new TreeMap<>();
    private final ArrayDeque<Long> underWay = new ArrayDeque<>();
    private long lastId;
    private int reused;
    private int partlyDead;

    @AfterEach
    void close() throws Exception {
        fixture.close();
    }

    @Test
    void lastCompletedCheckpointIsAlwaysWhole() throws Exception {
        for (int history = 0; history < HISTORIES; history++) {
            long seed = Long.getLong("lava.test.seed", 1) + history;
            try {
                play(seed);
            } catch (Throwable e) {
                throw new AssertionError("with -Dlava.test.seed=" + seed, e);
            }
        }
        assertThat(reused).as("packs that were named").isGreaterThan(HISTORIES);
        assertThat(partlyDead).as("of them, with dead files").isGreaterThan(HISTORIES / 5);
    }

    private void play(long seed) throws Exception {
        random = new Random(seed);
        if (fixture != null) {
            fixture.close();
        }
        fixture = new BackendFixture(root.resolve("history-" + seed));
        fixture.use(
                fixture.newLava(true)
                        .set(LavaOptions.CHECKPOINT_PACK_FILE_SIZE, new MemorySize(8 << 10))
                        .set(LavaOptions.CHECKPOINT_PACK_SIZE, new MemorySize(64 << 10))
                        .set(
                                LavaConfigurableOptions.VALUE_SEPARATION_THRESHOLD,
                                new MemorySize(SEPARATED_BYTES)));
        backend = fixture.create(ALL);
        jobManager = new SharedStateRegistryImpl();
        completed = null;
        content.clear();
        underWay.clear();
        lastId = 0;
        for (int step = 0; step < STEPS; step++) {
            write();
            if (random.nextInt(4) == 0) {
                ((LavaKeyedStateBackend<?>) backend).compact();
            }
            checkpoint();
            while (!underWay.isEmpty() && random.nextBoolean()) {
                backend.notifyCheckpointComplete(underWay.remove());
            }
            if (completed != null && random.nextInt(3) == 0) {
                restore();
            }
        }
        restore();
    }

    private void write() throws Exception {
        int first = random.nextInt(KEYS);
        int keys = 1 + random.nextInt(random.nextBoolean() ? 5 : 60);
        int length = random.nextBoolean() ? 40 : SEPARATED_BYTES + random.nextInt(200);
        for (int key = first; key < Math.min(KEYS, first + keys); key++) {
            StringBuilder text = new StringBuilder(length);
            random.ints(length, ' ', '~').forEach(c -> text.append((char) c));
            backend.setCurrentKey(key);
            value(backend).update(text.toString());
            content.put(key, text.toString());
        }
    }

    private void checkpoint() throws Exception {
        long id = ++lastId;
        int kind = random.nextInt(12);
        SnapshotType type =
                kind == 0
                        ? SavepointType.savepoint(SavepointFormatType.NATIVE)
                        : kind == 1 ? CheckpointType.FULL_CHECKPOINT : CheckpointType.CHECKPOINT;
        IncrementalRemoteKeyedStateHandle handle =
                (IncrementalRemoteKeyedStateHandle)
                        remote(
                                fixture.snapshot(
                                        backend,
                                        id,
                                        new CheckpointOptions(
                                                type,
                                                CheckpointStorageLocationReference.getDefault())));
        if (type.isSavepoint()) {
            fixture.close(holds(handle, content));
            handle.discardState();
            return;
        }
        count(handle);
        boolean fails = random.nextInt(5) == 0;
        if (!fails || random.nextBoolean()) {
            handle.registerSharedStates(jobManager, id);
        }
        if (!fails) {
            complete(id, handle);
            return;
        }
        // The checkpoint failed elsewhere, before or after the JobManager knew of this part.
        handle.discardState();
        if (random.nextInt(3) > 0) {
            backend.notifyCheckpointAborted(id);
        }
    }

    private void complete(long id, IncrementalRemoteKeyedStateHandle handle) throws Exception {
        if (completed != null) {
            completed.discardState();
        }
        jobManager.unregisterUnusedState(id);
        completed = handle;
        completedContent = new TreeMap<>(content);
        int heard = random.nextInt(5);
        if (heard > 1) {
            backend.notifyCheckpointComplete(id);
        } else if (heard == 1) {
            underWay.add(id);
        }
    }

    /** At least half of each named pack is alive. */
    private void count(IncrementalRemoteKeyedStateHandle handle) throws Exception {
        PackedFiles packed = PackedCheckpointTest.packed(handle);
        Map<String, Long> alive = new TreeMap<>();
        for (String file : packed.files()) {
            alive.merge(packed.of(file).pack(), packed.of(file).bytes(), Long::sum);
        }
        for (HandleAndLocalPath file : handle.getSharedState()) {
            if (file.getLocalPath().endsWith(".pack")) {
                long bytes = file.getHandle().getStateSize();
                assertThat(2 * alive.get(file.getLocalPath())).isGreaterThanOrEqualTo(bytes);
                if (file.getHandle() instanceof PlaceholderStreamStateHandle) {
                    reused++;
                    partlyDead += alive.get(file.getLocalPath()) < bytes ? 1 : 0;
                }
            }
        }
    }

    /** The backend continues with the restored state, or with its own. */
    private void restore() throws Exception {
        AbstractKeyedStateBackend<Integer> restored = holds(completed, completedContent);
        if (random.nextBoolean()) {
            fixture.close(restored);
            return;
        }
        fixture.close(backend);
        backend = restored;
        content.clear();
        content.putAll(completedContent);
        underWay.clear();
    }

    private AbstractKeyedStateBackend<Integer> holds(
            IncrementalRemoteKeyedStateHandle handle, Map<Integer, String> expected)
            throws Exception {
        AbstractKeyedStateBackend<Integer> restored = fixture.create(ALL, handle);
        Map<Integer, String> read = new TreeMap<>();
        for (int key = 0; key < KEYS; key++) {
            restored.setCurrentKey(key);
            String text = value(restored).value();
            if (text != null) {
                read.put(key, text);
            }
        }
        assertThat(read).isEqualTo(expected);
        return restored;
    }
}
