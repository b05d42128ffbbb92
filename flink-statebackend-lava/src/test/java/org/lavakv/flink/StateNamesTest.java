// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink;

import static org.assertj.core.api.Assertions.assertThat;
import static org.lavakv.flink.testing.BackendFixture.ALL;

import java.nio.file.Path;
import java.util.List;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.hashmap.HashMapStateBackend;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.lavakv.flink.testing.BackendFixture;

/**
 * States with any name that Flink's formats allow. Some used to be refused, and some were confused
 * with others.
 */
class StateNamesTest {

    private static final List<String> NAMES =
            List.of(
                    "",
                    "\0",
                    "?",
                    "\ud800",
                    "\ud801",
                    "a\udc00",
                    "\ud83d\ude00",
                    "n".repeat(4097),
                    "n".repeat(65535),
                    "\uffff".repeat(21845));

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

    private static ValueStateDescriptor<String> value(String name) {
        return new ValueStateDescriptor<>(name, StringSerializer.INSTANCE);
    }

    private static MapStateDescriptor<Integer, Integer> map(int index) {
        return new MapStateDescriptor<>(
                NAMES.get(index).substring(Math.min(1, NAMES.get(index).length())) + "/map" + index,
                IntSerializer.INSTANCE,
                IntSerializer.INSTANCE);
    }

    private static void holdsAll(AbstractKeyedStateBackend<Integer> backend) throws Exception {
        backend.setCurrentKey(7);
        for (int i = 0; i < NAMES.size(); i++) {
            assertThat(BackendFixture.state(backend, value(NAMES.get(i))).value())
                    .isEqualTo("value " + i);
        }
        assertThat(BackendFixture.state(backend, map(3)).get(1)).isEqualTo(3);
    }

    @Test
    void statesOfAllNamesInCheckpointsAndSavepoints() throws Exception {
        AbstractKeyedStateBackend<Integer> lava = fixture.create(ALL);
        lava.setCurrentKey(7);
        for (int i = 0; i < NAMES.size(); i++) {
            BackendFixture.state(lava, value(NAMES.get(i))).update("value " + i);
        }
        BackendFixture.state(lava, map(3)).put(1, 3);
        holdsAll(lava);
        holdsAll(fixture.create(ALL, BackendFixture.remote(fixture.checkpoint(lava, 1))));
        KeyedStateHandle ofLava = BackendFixture.savepoint(lava);
        holdsAll(fixture.create(ALL, ofLava));
        fixture.use(new HashMapStateBackend());
        AbstractKeyedStateBackend<Integer> heap = fixture.create(ALL, ofLava);
        holdsAll(heap);
        KeyedStateHandle ofHeap = BackendFixture.savepoint(heap);
        fixture.use(fixture.newLava(true));
        holdsAll(fixture.create(ALL, ofHeap));
    }
}
