// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.history;

import org.junit.jupiter.api.Test;

/** Deterministic random histories of jobs. {@link RandomHistories} tells how to repeat one. */
class RandomHistoriesTest {

    @Test
    void stateIsWhatItShouldBe() throws Exception {
        RandomHistories.run(1, 2_000, 3);
    }
}
