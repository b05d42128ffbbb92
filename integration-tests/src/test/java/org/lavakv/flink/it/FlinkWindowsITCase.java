// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.it;

import org.junit.platform.suite.api.IncludeClassNamePatterns;
import org.junit.platform.suite.api.Select;
import org.junit.platform.suite.api.SelectClasses;
import org.junit.platform.suite.api.Suite;

/**
 * Flink's own tests of windows under failures, and of checkpoints in merged files, on Lava: a fast
 * selection. All of them are in {@link FlinkWindowsLongITCase} and {@link FlinkResumeLongITCase}.
 */
@Suite
@IncludeClassNamePatterns(".*")
@SelectClasses(
        names = "org.apache.flink.test.checkpointing.ProcessingTimeWindowCheckpointingITCase")
// The fourth of the test's backends is "rocksdb" with incremental checkpoints.
@Select({
    "iteration:method:org.apache.flink.test.checkpointing.EventTimeWindowCheckpointingITCase"
            + "#testTumblingTimeWindowWithKVStateMaxMaxParallelism[3]",
    "iteration:method:org.apache.flink.test.checkpointing.SnapshotFileMergingCompatibilityITCase"
            + "#testSwitchFromEnablingToDisablingFileMerging("
            + "org.apache.flink.core.execution.RecoveryClaimMode, boolean, java.nio.file.Path)[0]",
    "iteration:method:org.apache.flink.test.checkpointing.SnapshotFileMergingCompatibilityITCase"
            + "#testSwitchFromDisablingToEnablingFileMerging("
            + "org.apache.flink.core.execution.RecoveryClaimMode, boolean, java.nio.file.Path)[3]",
})
public class FlinkWindowsITCase extends ShadowedHashMap {}
