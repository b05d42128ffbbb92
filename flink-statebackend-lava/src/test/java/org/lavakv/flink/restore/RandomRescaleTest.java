// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.restore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.lavakv.flink.testing.BackendFixture.KEY_GROUPS;
import static org.lavakv.flink.testing.BackendFixture.keysIn;
import static org.lavakv.flink.testing.BackendFixture.list;
import static org.lavakv.flink.testing.BackendFixture.map;
import static org.lavakv.flink.testing.BackendFixture.remote;
import static org.lavakv.flink.testing.BackendFixture.value;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.SharedStateRegistryImpl;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.lavakv.flink.LavaConfigurableOptions;
import org.lavakv.flink.LavaKeyedStateBackend;
import org.lavakv.flink.LavaOptions;
import org.lavakv.flink.testing.BackendFixture;
import org.lavakv.flink.testing.StateContent;

/**
 * A long random life of a job: writes of every kind, checkpoints, compactions, and restores with
 * other parallelisms, some of them on demand. Memtables and files are so small that there are many.
 * None, some or all values are in value files. The state must equal that of a map on the heap.
 */
@Timeout(300)
class RandomRescaleTest {

    private static final int KEYS = 200;
    private static final int WRITES = 4000;
    private static final int LIVES = 8;

    @TempDir Path root;

    @ParameterizedTest
    @CsvSource({"1, 0, false", "2, 60, false", "3, 1, false", "4, 1, true", "5, 60, true"})
    void readsWhatWasWritten(long seed, long separationBytes, boolean onDemand) throws Exception {
        try (BackendFixture fixture = new BackendFixture(root)) {
            fixture.use(
                    fixture.newLava(true)
                            .set(LavaOptions.RESTORE_ON_DEMAND, onDemand)
                            .set(LavaConfigurableOptions.MEMTABLE_SIZE, new MemorySize(64 << 10))
                            .set(LavaConfigurableOptions.TARGET_FILE_SIZE, new MemorySize(64 << 10))
                            .set(LavaConfigurableOptions.VALUE_FILE_SIZE, new MemorySize(64 << 10))
                            .set(
                                    LavaConfigurableOptions.VALUE_SEPARATION_THRESHOLD,
                                    new MemorySize(separationBytes))
                            .set(
                                    LavaConfigurableOptions.LEVEL_BASE_SIZE,
                                    new MemorySize(256 << 10)));
            new Life(fixture, new Random(seed)).run();
        }
    }

    /** One job, from the first start to the last. */
    private static final class Life {
        private final BackendFixture fixture;
        private final Random random;
        private final Map<Integer, Content> model = new TreeMap<>();
        private final SharedStateRegistryImpl registry = new SharedStateRegistryImpl();
        private List<KeyedStateHandle> handles = List.of();
        private long nextCheckpoint = 1;

        Life(BackendFixture fixture, Random random) {
            this.fixture = fixture;
            this.random = random;
            for (int key = 0; key < KEYS; key++) {
                model.put(key, new Content());
            }
        }

        void run() throws Exception {
            for (int life = 0; life < LIVES; life++) {
                List<KeyedStateHandle> next = new ArrayList<>();
                for (KeyGroupRange range : ranges()) {
                    List<KeyedStateHandle> overlapping =
                            handles.stream()
                                    .filter(handle -> handle.getIntersection(range) != null)
                                    .collect(Collectors.toList());
                    AbstractKeyedStateBackend<Integer> backend = fixture.create(range, overlapping);
                    next.add(live(backend, range));
                    fixture.close(backend);
                }
                handles = next;
            }
        }

        private List<KeyGroupRange> ranges() {
            List<KeyGroupRange> ranges = new ArrayList<>();
            for (int from = 0; from < KEY_GROUPS; ) {
                int to = from + random.nextInt(KEY_GROUPS - from);
                ranges.add(KeyGroupRange.of(from, to));
                from = to + 1;
            }
            return ranges;
        }

        /** Runs the backend for a while and returns its last checkpoint. */
        private KeyedStateHandle live(
                AbstractKeyedStateBackend<Integer> backend, KeyGroupRange range) throws Exception {
            List<Integer> keys = keysIn(range, KEYS);
            check(backend, keys);
            for (int i = random.nextInt(3); i >= 0; i--) {
                for (int write = 0; write < WRITES && !keys.isEmpty(); write++) {
                    write(backend, keys.get(random.nextInt(keys.size())));
                }
                if (random.nextInt(3) == 0) {
                    ((LavaKeyedStateBackend<Integer>) backend).compact();
                    check(backend, keys);
                }
                if (i > 0) {
                    checkpoint(backend);
                }
            }
            KeyedStateHandle last = checkpoint(backend);
            check(backend, keys);
            return last;
        }

        private KeyedStateHandle checkpoint(AbstractKeyedStateBackend<Integer> backend)
                throws Exception {
            // States must exist, otherwise there is nothing to restore.
            value(backend);
            list(backend);
            map(backend);
            long id = nextCheckpoint++;
            KeyedStateHandle handle = remote(fixture.checkpoint(backend, id));
            handle.registerSharedStates(registry, id);
            if (random.nextInt(4) > 0) {
                backend.notifyCheckpointComplete(id);
            }
            return handle;
        }

        private void write(AbstractKeyedStateBackend<Integer> backend, int key) throws Exception {
            backend.setCurrentKey(key);
            Content content = model.get(key);
            String text = "x".repeat(random.nextInt(120)) + random.nextInt(1000);
            String userKey = "key " + random.nextInt(12);
            switch (random.nextInt(12)) {
                case 0:
                    value(backend).clear();
                    content.value = null;
                    break;
                case 1:
                    list(backend).clear();
                    content.list.clear();
                    break;
                case 2:
                    map(backend).clear();
                    content.map.clear();
                    break;
                case 3:
                    map(backend).remove(userKey);
                    content.map.remove(userKey);
                    break;
                case 4:
                    List<Integer> elements = List.of(key, text.length());
                    list(backend).update(elements);
                    content.list = new ArrayList<>(elements);
                    break;
                case 5:
                case 6:
                case 7:
                    list(backend).add(text.length());
                    content.list.add(text.length());
                    break;
                case 8:
                case 9:
                    map(backend).put(userKey, text.length());
                    content.map.put(userKey, text.length());
                    break;
                default:
                    value(backend).update(text);
                    content.value = text;
            }
        }

        private void check(AbstractKeyedStateBackend<Integer> backend, List<Integer> keys)
                throws Exception {
            Map<Integer, String> expected = new TreeMap<>();
            for (int key : keys) {
                Content content = model.get(key);
                expected.put(key, content.value + " " + content.list + " " + content.map);
            }
            assertThat(StateContent.read(backend, keys)).isEqualTo(expected);
        }
    }

    /** The expected content of one key. */
    private static final class Content {
        private String value;
        private List<Integer> list = new ArrayList<>();
        private final TreeMap<String, Integer> map = new TreeMap<>();
    }
}
