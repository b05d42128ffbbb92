package org.lavakv.flink.history;

import org.junit.jupiter.api.Test;

/** More of them, and longer ones; bin/test gives them other seeds each day. */
class RandomHistoriesLongITCase {

    @Test
    void stateIsWhatItShouldBe() throws Exception {
        RandomHistories.run(1_000_000, 10_000, 6);
    }
}
