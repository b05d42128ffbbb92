// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.state;

import static org.assertj.core.api.Assertions.assertThat;
import static org.lavakv.flink.testing.BackendFixture.ALL;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.lavakv.flink.LavaKeyedStateBackend;
import org.lavakv.flink.testing.BackendFixture;

/**
 * Iterators that are not run to their end. Regression: each kept its page until the garbage
 * collector found it, so that each iteration allocated a new one of 17 KiB.
 */
class AbandonedIteratorTest {

    private static final MapStateDescriptor<Long, String> MAP =
            new MapStateDescriptor<>("map", LongSerializer.INSTANCE, StringSerializer.INSTANCE);

    private static final int ENTRIES = 5;
    private static final int ITERATIONS = 2_000;
    private static final long BYTES_MAX = 4 << 10;

    @TempDir Path root;
    private BackendFixture fixture;
    private LavaKeyedStateBackend<Integer> backend;
    private MapState<Long, String> map;

    @BeforeEach
    void open() throws Exception {
        fixture = new BackendFixture(root);
        backend = (LavaKeyedStateBackend<Integer>) fixture.create(ALL);
        map = BackendFixture.state(backend, MAP);
        for (int key = 0; key < 3; key++) {
            backend.setCurrentKey(key);
            for (long i = 0; i < ENTRIES; i++) {
                map.put(i, key + "-" + i);
            }
        }
    }

    @AfterEach
    void close() throws Exception {
        fixture.close();
    }

    @Test
    void theirPageIsUsedAgain() throws Exception {
        takeFirstEntries();
        assertThat(takeFirstEntries() / ITERATIONS).as("bytes an iteration").isLessThan(BYTES_MAX);
    }

    /** Returns the number of allocated bytes. */
    private long takeFirstEntries() throws Exception {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long id = Thread.currentThread().getId();
        long before = threads.getThreadAllocatedBytes(id);
        for (int i = 0; i < ITERATIONS; i++) {
            assertThat(map.iterator().next().getKey()).isZero();
        }
        return threads.getThreadAllocatedBytes(id) - before;
    }

    @Test
    void theyGoOnWithWhatTheyHad() throws Exception {
        List<Iterator<Map.Entry<Long, String>>> iterators = new ArrayList<>();
        for (int key = 0; key < 3; key++) {
            backend.setCurrentKey(key);
            Iterator<Map.Entry<Long, String>> iterator = map.iterator();
            for (int i = 0; i <= key; i++) {
                iterator.next();
            }
            iterators.add(iterator);
            map.put(ENTRIES - 1L, "changed");
        }
        for (int key = 0; key < 3; key++) {
            backend.setCurrentKey(key);
            Iterator<Map.Entry<Long, String>> iterator = iterators.get(key);
            iterator.remove();
            for (long i = key + 1; i < ENTRIES; i++) {
                assertThat(iterator.next()).isEqualTo(Map.entry(i, key + "-" + i));
            }
            assertThat(iterator.hasNext()).isFalse();
            assertThat(map.contains((long) key)).isFalse();
            assertThat(map.get(ENTRIES - 1L)).isEqualTo("changed");
        }
    }
}
