// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.restore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.lavakv.flink.testing.BackendFixture.ALL;
import static org.lavakv.flink.testing.BackendFixture.HIGH;
import static org.lavakv.flink.testing.BackendFixture.LOW;
import static org.lavakv.flink.testing.BackendFixture.keysIn;
import static org.lavakv.flink.testing.BackendFixture.savepoint;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.runtime.execution.CancelTaskException;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.BackendBuildingException;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyGroupsSavepointStateHandle;
import org.apache.flink.runtime.state.KeyGroupsStateHandle;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.SavepointResources;
import org.apache.flink.runtime.state.hashmap.HashMapStateBackend;
import org.apache.flink.runtime.state.memory.ByteStreamStateHandle;
import org.apache.flink.util.StateMigrationException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.lavakv.flink.BackendInstance;
import org.lavakv.flink.LavaKeyedStateBackend;
import org.lavakv.flink.testing.BackendFixture;
import org.lavakv.flink.testing.StateContent;

@Timeout(120)
class CanonicalSavepointTest {

    private static final List<Integer> KEYS = keysIn(ALL, 500);

    @TempDir Path root;
    private BackendFixture fixture;

    @BeforeEach
    void open() throws Exception {
        fixture = new BackendFixture(root);
    }

    @AfterEach
    void close() throws Exception {
        fixture.close();
    }

    private AbstractKeyedStateBackend<Integer> filled() throws Exception {
        AbstractKeyedStateBackend<Integer> backend = fixture.create(ALL);
        for (int round = 0; round < 3; round++) {
            StateContent.change(backend, KEYS, round);
        }
        return backend;
    }

    @Test
    void savepointOfLavaRestoresOnLavaAndGoesOn() throws Exception {
        AbstractKeyedStateBackend<Integer> before = filled();
        AbstractKeyedStateBackend<Integer> after = fixture.create(ALL, savepoint(before));
        assertThat(StateContent.read(after, KEYS)).isEqualTo(StateContent.read(before, KEYS));
        // Joined lists and the prefixes of restored map entries must continue to work.
        StateContent.change(before, KEYS, 3);
        StateContent.change(after, KEYS, 3);
        Map<Integer, String> content = StateContent.read(before, KEYS);
        assertThat(StateContent.read(after, KEYS)).isEqualTo(content);
        AbstractKeyedStateBackend<Integer> again = fixture.create(ALL, savepoint(after));
        assertThat(StateContent.read(again, KEYS)).isEqualTo(content);
        AbstractKeyedStateBackend<Integer> checkpointed =
                fixture.create(ALL, BackendFixture.remote(fixture.checkpoint(after, 1)));
        assertThat(StateContent.read(checkpointed, KEYS)).isEqualTo(content);
    }

    @Test
    void savepointOfLavaRestoresOnTheHeapAndBack() throws Exception {
        AbstractKeyedStateBackend<Integer> lava = filled();
        Map<Integer, String> content = StateContent.read(lava, KEYS);
        KeyedStateHandle ofLava = savepoint(lava);
        fixture.use(new HashMapStateBackend());
        AbstractKeyedStateBackend<Integer> heap = fixture.create(ALL, ofLava);
        assertThat(StateContent.read(heap, KEYS)).isEqualTo(content);
        KeyedStateHandle ofHeap = savepoint(heap);
        fixture.use(fixture.newLava(true));
        assertThat(StateContent.read(fixture.create(ALL, ofHeap), KEYS)).isEqualTo(content);
    }

    @Test
    void savepointShowsTheMomentOfItsSynchronousPart() throws Exception {
        AbstractKeyedStateBackend<Integer> lava = filled();
        Map<Integer, String> content = StateContent.read(lava, KEYS);
        SavepointResources<Integer> resources = lava.savepoint();
        StateContent.change(lava, KEYS, 3);
        KeyedStateHandle handle = savepoint(resources);
        assertThat(StateContent.read(fixture.create(ALL, handle), KEYS)).isEqualTo(content);
    }

    /**
     * Regression: a savepoint took one scan for each key group and state, 1.3 million calls for any
     * state.
     */
    @Test
    void savepointOfManyKeyGroupsAndStatesIsOneWalk() throws Exception {
        int keyGroups = 32768;
        int states = 40;
        fixture.useKeyGroups(keyGroups);
        KeyGroupRange range = KeyGroupRange.of(0, keyGroups - 1);
        LavaKeyedStateBackend<Integer> lava =
                (LavaKeyedStateBackend<Integer>) fixture.create(range);
        for (int state = 0; state < states; state++) {
            for (int key = state; key < 500; key += 3) {
                lava.setCurrentKey(key);
                ValueState<String> values = BackendFixture.state(lava, valueOf(state));
                values.update(state + " of " + key);
            }
        }
        long before = BackendInstance.of(lava).db().getStatistics().scans();
        KeyedStateHandle handle = savepoint(lava);
        // One page more than the 6,500 entries fill.
        assertThat(BackendInstance.of(lava).db().getStatistics().scans() - before)
                .isBetween(1L, 4L);
        fixture.use(new HashMapStateBackend());
        AbstractKeyedStateBackend<Integer> heap = fixture.create(range, handle);
        for (int state = 0; state < states; state++) {
            for (int key = 0; key < 500; key++) {
                heap.setCurrentKey(key);
                assertThat(BackendFixture.state(heap, valueOf(state)).value())
                        .isEqualTo(
                                key >= state && (key - state) % 3 == 0
                                        ? state + " of " + key
                                        : null);
            }
        }
    }

    private static ValueStateDescriptor<String> valueOf(int state) {
        return new ValueStateDescriptor<>("value " + state, StringSerializer.INSTANCE);
    }

    @Test
    void rescalesBothWays() throws Exception {
        AbstractKeyedStateBackend<Integer> whole = filled();
        Map<Integer, String> content = StateContent.read(whole, KEYS);
        KeyedStateHandle handle = savepoint(whole);
        List<KeyedStateHandle> halves = new ArrayList<>();
        for (KeyGroupRange range : List.of(LOW, HIGH)) {
            halves.add(savepoint(fixture.create(range, handle.getIntersection(range))));
        }
        assertThat(StateContent.read(fixture.create(ALL, halves), KEYS)).isEqualTo(content);
    }

    @Test
    void otherKeySerializerIsRefusedAndNothingStays() throws Exception {
        KeyedStateHandle handle = savepoint(filled());
        fixture.close();
        assertThatThrownBy(() -> fixture.create(ALL, List.of(handle), StringSerializer.INSTANCE))
                .hasRootCauseInstanceOf(StateMigrationException.class)
                .hasMessageContaining("key serializer");
        assertThat(BackendFixture.filesIn(fixture.instances())).isEmpty();
    }

    @Test
    void damagedSavepointNamesFilePlaceAndState() throws Exception {
        KeyGroupsStateHandle good = (KeyGroupsStateHandle) savepoint(filled());
        byte[] bytes = good.getDelegateStateHandle().asBytesIfInMemory().orElseThrow();
        fixture.close();
        long firstKeyGroup = good.getOffsetForKeyGroup(0);
        int damages = 30;
        for (int i = 0; i < damages; i++) {
            int length = (int) ((long) i * (bytes.length - 1) / (damages - 1));
            refused(good, Arrays.copyOf(bytes, length), length > firstKeyGroup + 64);
        }
        // Makes the length of the first key, after its state's number, negative.
        byte[] flipped = bytes.clone();
        flipped[(int) firstKeyGroup + Short.BYTES] ^= (byte) 0x80;
        refused(good, flipped, false);
        // The number of a state that does not exist.
        flipped = bytes.clone();
        flipped[(int) firstKeyGroup + 1] ^= 0x40;
        refused(good, flipped, false);
        assertThat(StateContent.read(fixture.create(ALL, of(good, bytes)), KEYS.subList(0, 1)))
                .hasSize(1);
    }

    /** Regression: the length was allocated before the read, and the task ran out of memory. */
    @Test
    void lengthBeyondTheSavepointTakesNoMemory() throws Exception {
        KeyGroupsStateHandle good = (KeyGroupsStateHandle) savepoint(filled());
        byte[] bytes = good.getDelegateStateHandle().asBytesIfInMemory().orElseThrow();
        fixture.close();
        int keyLength = (int) good.getOffsetForKeyGroup(0) + Short.BYTES;
        int valueLength = keyLength + Integer.BYTES + ByteBuffer.wrap(bytes).getInt(keyLength);
        for (int length : new int[] {keyLength, valueLength}) {
            byte[] flipped = bytes.clone();
            flipped[length] ^= 0x40;
            long before = allocated();
            refused(good, flipped, true, "bytes ends after");
            assertThat(allocated() - before).isLessThan(64 << 20);
        }
    }

    private static long allocated() {
        return ((ThreadMXBean) ManagementFactory.getThreadMXBean())
                .getThreadAllocatedBytes(Thread.currentThread().getId());
    }

    @Test
    void keyOfAnotherKeyGroupIsRefused() throws Exception {
        KeyGroupsStateHandle good = (KeyGroupsStateHandle) savepoint(filled());
        byte[] bytes = good.getDelegateStateHandle().asBytesIfInMemory().orElseThrow();
        fixture.close();
        int keyLength = (int) good.getOffsetForKeyGroup(2) + Short.BYTES;
        byte[] flipped = bytes.clone();
        flipped[keyLength + Integer.BYTES] ^= 1;
        refused(good, flipped, true, "a key belongs to key group 3");
        // A key without bytes; Flink's own reader accesses its first byte.
        flipped = bytes.clone();
        ByteBuffer.wrap(flipped).putInt(keyLength, 0);
        refused(good, flipped, false, "a key of 0 bytes has no key group");
    }

    /** Flink reads the descriptions of states, and allocates arrays by the counts in them. */
    @Test
    void countInTheDescriptionNeverFailsTheTaskForWantOfMemory() throws Exception {
        KeyGroupsStateHandle good = (KeyGroupsStateHandle) savepoint(filled());
        byte[] bytes = good.getDelegateStateHandle().asBytesIfInMemory().orElseThrow();
        fixture.close();
        int refused = 0;
        for (int at = 0; at < good.getOffsetForKeyGroup(0); at++) {
            if (bytes[at] != 0) {
                continue;
            }
            byte[] flipped = bytes.clone();
            flipped[at] = 0x7f;
            try {
                fixture.close(fixture.create(ALL, of(good, flipped)));
            } catch (BackendBuildingException e) {
                assertThat(e).hasMessageContaining("the-file at offset ");
                refused++;
            }
        }
        assertThat(refused).isPositive();
        assertThat(BackendFixture.filesIn(fixture.instances())).isEmpty();
    }

    private static KeyedStateHandle of(KeyGroupsStateHandle original, byte[] bytes) {
        return new KeyGroupsSavepointStateHandle(
                original.getGroupRangeOffsets(), new ByteStreamStateHandle("the-file", bytes));
    }

    private void refused(KeyGroupsStateHandle good, byte[] bytes, boolean ofStates, String... why) {
        assertThatThrownBy(() -> fixture.create(ALL, of(good, bytes)))
                .isInstanceOf(BackendBuildingException.class)
                .hasMessageContaining("the-file at offset ")
                .hasMessageContaining("Restore from another savepoint")
                .satisfies(e -> assertThat(List.of(why)).allMatch(e.getMessage()::contains))
                .satisfies(
                        e -> {
                            if (ofStates) {
                                assertThat(e.getMessage())
                                        .containsAnyOf("state the-", "start of a key group");
                            }
                        });
        assertThat(BackendFixture.filesIn(fixture.instances())).isEmpty();
    }

    @Test
    void cancelledRestoreLeavesNothing() throws Exception {
        KeyedStateHandle handle = savepoint(filled());
        fixture.close();
        fixture.cancel().close();
        assertThatThrownBy(() -> fixture.create(ALL, handle))
                .hasCauseInstanceOf(CancelTaskException.class);
        assertThat(BackendFixture.filesIn(fixture.instances())).isEmpty();
    }
}
