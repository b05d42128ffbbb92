// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.programs;

import org.junit.jupiter.api.Test;

/** Deterministic random programs. {@link RandomPrograms} tells how to repeat one. */
class RandomProgramsTest {

    @Test
    void allBackendsAnswerTheSame() throws Exception {
        RandomPrograms.run(1, 500);
    }
}
