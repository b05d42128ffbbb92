// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.it;

import org.junit.platform.suite.api.SelectClasses;
import org.junit.platform.suite.api.Suite;

/** Flink's own resume and rescale tests: claim modes, local recovery, file merging, on Lava. */
@Suite
@SelectClasses(
        names = {
            "org.apache.flink.test.checkpointing.ResumeCheckpointManuallyITCase",
            "org.apache.flink.test.checkpointing.RescaleCheckpointManuallyITCase",
            "org.apache.flink.test.checkpointing.SnapshotFileMergingCompatibilityITCase",
        })
public class FlinkResumeLongITCase extends ShadowedBackend {}
