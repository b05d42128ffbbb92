// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.it;

import org.junit.platform.suite.api.SelectClasses;
import org.junit.platform.suite.api.Suite;

/** Flink's other end-to-end tests with keyed state that finish in reasonable time. */
@Suite
@SelectClasses(
        names = {
            "org.apache.flink.test.checkpointing.AutoRescalingITCase",
            "org.apache.flink.test.checkpointing.CoStreamCheckpointingITCase",
            "org.apache.flink.test.checkpointing.ManualCheckpointITCase",
            "org.apache.flink.test.checkpointing.MapStateNullValueCheckpointingITCase",
            "org.apache.flink.test.checkpointing.RegionFailoverITCase",
            "org.apache.flink.test.checkpointing.RestoreUpgradedJobITCase",
            "org.apache.flink.test.checkpointing.StateCheckpointedITCase",
            "org.apache.flink.test.checkpointing.StreamCheckpointingITCase",
            "org.apache.flink.test.checkpointing.UdfStreamOperatorCheckpointingITCase",
            "org.apache.flink.test.state.ChangelogRecoveryCachingITCase",
            "org.apache.flink.test.state.ChangelogRescalingITCase",
        })
public class FlinkMoreLongITCase extends ShadowedHashMap {}
