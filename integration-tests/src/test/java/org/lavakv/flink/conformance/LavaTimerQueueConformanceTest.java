// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.conformance;

import java.nio.file.Path;
import org.apache.flink.runtime.state.InternalPriorityQueue;
import org.apache.flink.runtime.state.InternalPriorityQueueTestBase;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** Flink's conformance suite of priority queues, for timers in the engine. */
class LavaTimerQueueConformanceTest extends InternalPriorityQueueTestBase {

    @TempDir Path directory;

    private BackendFixture<Integer> fixture;
    private int queues;

    @BeforeEach
    void open() throws Exception {
        fixture = BackendFixture.ofIntKeys(directory, KEY_GROUP_RANGE);
    }

    @AfterEach
    void close() throws Exception {
        fixture.close();
    }

    @Override
    protected InternalPriorityQueue<TestElement> newPriorityQueue(int initialCapacity) {
        return fixture.backend().create("queue-" + queues++, TestElementSerializer.INSTANCE);
    }

    @Override
    protected boolean testSetSemanticsAgainstDuplicateElements() {
        return true;
    }
}
