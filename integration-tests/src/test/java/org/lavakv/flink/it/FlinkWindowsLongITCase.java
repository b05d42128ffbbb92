// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.it;

import org.junit.platform.suite.api.SelectClasses;
import org.junit.platform.suite.api.Suite;

/** Flink's own windows under failures, with and without local recovery, on Lava. */
@Suite
@SelectClasses(
        names = {
            "org.apache.flink.test.checkpointing.EventTimeWindowCheckpointingITCase",
            "org.apache.flink.test.checkpointing.LocalRecoveryITCase",
        })
public class FlinkWindowsLongITCase extends ShadowedBackend {}
