package org.lavakv.flink.programs;

import org.junit.jupiter.api.Test;

/** Random programs, the same each time. {@link RandomPrograms} says how to repeat one. */
class RandomProgramsTest {

    @Test
    void allBackendsAnswerTheSame() throws Exception {
        RandomPrograms.run(1, 500);
    }
}
