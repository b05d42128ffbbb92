// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.snapshot;

import org.junit.jupiter.api.Nested;
import org.lavakv.flink.testing.OnLavaFs;

/** Runs tests of checkpoints again, with the files in volumes. */
class OnLavaFsTest {

    @Nested
    @OnLavaFs
    class Incremental extends IncrementalCheckpointTest {}

    @Nested
    @OnLavaFs
    class Packed extends PackedCheckpointTest {}

    @Nested
    @OnLavaFs
    class HeapTimersAndDispose extends HeapTimersAndDisposeTest {}
}
