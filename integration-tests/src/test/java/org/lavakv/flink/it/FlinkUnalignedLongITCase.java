// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.it;

import org.junit.platform.suite.api.SelectClasses;
import org.junit.platform.suite.api.Suite;

/** Flink's own tests of unaligned checkpoints, with failures and rescaling, on Lava. */
@Suite
@SelectClasses(
        names = {
            "org.apache.flink.test.checkpointing.UnalignedCheckpointITCase",
            "org.apache.flink.test.checkpointing.UnalignedCheckpointRescaleITCase",
            "org.apache.flink.test.checkpointing.UnalignedCheckpointRescaleWithMixedExchangesITCase",
            "org.apache.flink.test.checkpointing.UnalignedCheckpointStressITCase",
        })
public class FlinkUnalignedLongITCase extends ShadowedHashMap {}
