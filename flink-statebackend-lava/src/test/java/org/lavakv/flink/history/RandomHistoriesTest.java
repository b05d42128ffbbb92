package org.lavakv.flink.history;

import org.junit.jupiter.api.Test;

/** Random histories of jobs, the same each time. {@link RandomHistories} says how to repeat one. */
class RandomHistoriesTest {

    @Test
    void stateIsWhatItShouldBe() throws Exception {
        RandomHistories.run(1, 2_000, 3);
    }
}
