// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.programs;

import org.junit.jupiter.api.Test;

/** More random programs; bin/test uses other seeds each day. */
class RandomProgramsLongITCase {

    @Test
    void allBackendsAnswerTheSame() throws Exception {
        RandomPrograms.run(1_000_000, 5_000);
    }
}
