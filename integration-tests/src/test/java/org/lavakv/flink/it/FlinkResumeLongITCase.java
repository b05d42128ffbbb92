package org.lavakv.flink.it;

import org.apache.flink.test.checkpointing.RescaleCheckpointManuallyITCase;
import org.apache.flink.test.checkpointing.ResumeCheckpointManuallyITCase;
import org.apache.flink.test.checkpointing.SnapshotFileMergingCompatibilityITCase;
import org.junit.platform.suite.api.SelectClasses;
import org.junit.platform.suite.api.Suite;

/** Flink's own resume and rescale tests: claim modes, local recovery, file merging, on Lava. */
@Suite
@SelectClasses({
    ResumeCheckpointManuallyITCase.class,
    RescaleCheckpointManuallyITCase.class,
    SnapshotFileMergingCompatibilityITCase.class,
})
public class FlinkResumeLongITCase extends ShadowedBackend {}
