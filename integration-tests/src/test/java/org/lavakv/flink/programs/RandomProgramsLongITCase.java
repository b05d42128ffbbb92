package org.lavakv.flink.programs;

import org.junit.jupiter.api.Test;

/** More of them; bin/test gives them other seeds each day. */
class RandomProgramsLongITCase {

    @Test
    void allBackendsAnswerTheSame() throws Exception {
        RandomPrograms.run(1_000_000, 5_000);
    }
}
