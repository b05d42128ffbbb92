// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.it;

import org.junit.platform.suite.api.SelectClasses;
import org.junit.platform.suite.api.Suite;

/** Flink's own checkpointing tests, with failures, rescaling and windows, on Lava. */
@Suite
@SelectClasses(
        names = {
            "org.apache.flink.test.checkpointing.RescalingITCase",
            "org.apache.flink.test.checkpointing.KeyedStateCheckpointingITCase",
            "org.apache.flink.test.checkpointing.TimersSavepointITCase",
            "org.apache.flink.test.checkpointing.IncrementalStateReuseAfterFailureITCase",
            "org.apache.flink.test.state.StatefulOperatorChainedTaskTest",
            // Last, because fewer leaks can be detected after it: see NativeLeakCheck.
            "org.apache.flink.test.checkpointing.ChangelogLocalRecoveryITCase",
        })
public class FlinkCheckpointingITCase extends ShadowedBackend {}
