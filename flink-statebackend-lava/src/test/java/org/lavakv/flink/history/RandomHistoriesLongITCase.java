// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.history;

import org.junit.jupiter.api.Test;

/** More and longer random histories; bin/test uses other seeds each day. */
class RandomHistoriesLongITCase {

    @Test
    void stateIsWhatItShouldBe() throws Exception {
        RandomHistories.run(1_000_000, 10_000, 6);
    }
}
