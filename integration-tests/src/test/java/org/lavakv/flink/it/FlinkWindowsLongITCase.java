package org.lavakv.flink.it;

import org.apache.flink.test.checkpointing.EventTimeWindowCheckpointingITCase;
import org.apache.flink.test.checkpointing.LocalRecoveryITCase;
import org.junit.platform.suite.api.SelectClasses;
import org.junit.platform.suite.api.Suite;

/** Flink's own windows under failures, with and without local recovery, on Lava. */
@Suite
@SelectClasses({
    EventTimeWindowCheckpointingITCase.class,
    LocalRecoveryITCase.class,
})
public class FlinkWindowsLongITCase extends ShadowedBackend {}
