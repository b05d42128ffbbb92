// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.it;

import org.junit.platform.suite.api.IncludeClassNamePatterns;
import org.junit.platform.suite.api.Select;
import org.junit.platform.suite.api.SelectClasses;
import org.junit.platform.suite.api.Suite;

/**
 * Flink's own tests of unaligned checkpoints, with failures, on Lava: a fast selection. All of them
 * are in {@link FlinkUnalignedLongITCase}.
 */
@Suite
@IncludeClassNamePatterns(".*")
@SelectClasses(
        names = "org.apache.flink.test.checkpointing.UnalignedCheckpointFailureHandlingITCase")
// A pipeline with remote channels, one with several inputs, and a union, all with parallelism 5.
@Select(
        "iteration:method:org.apache.flink.test.checkpointing.UnalignedCheckpointITCase"
                + "#execute(org.junit.jupiter.api.TestInfo)[3,7,9]")
public class FlinkUnalignedITCase extends ShadowedHashMap {}
