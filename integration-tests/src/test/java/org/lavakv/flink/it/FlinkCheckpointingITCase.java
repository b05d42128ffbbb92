package org.lavakv.flink.it;

import org.apache.flink.test.checkpointing.ChangelogLocalRecoveryITCase;
import org.apache.flink.test.checkpointing.IncrementalStateReuseAfterFailureITCase;
import org.apache.flink.test.checkpointing.KeyedStateCheckpointingITCase;
import org.apache.flink.test.checkpointing.RescalingITCase;
import org.apache.flink.test.checkpointing.TimersSavepointITCase;
import org.apache.flink.test.state.StatefulOperatorChainedTaskTest;
import org.junit.platform.suite.api.SelectClasses;
import org.junit.platform.suite.api.Suite;

/** Flink's own checkpointing tests, with failures, rescaling and windows, on Lava. */
@Suite
@SelectClasses({
    RescalingITCase.class,
    KeyedStateCheckpointingITCase.class,
    TimersSavepointITCase.class,
    IncrementalStateReuseAfterFailureITCase.class,
    ChangelogLocalRecoveryITCase.class,
    StatefulOperatorChainedTaskTest.class,
})
public class FlinkCheckpointingITCase extends ShadowedBackend {}
