// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.it;

import org.junit.platform.suite.api.SelectClasses;
import org.junit.platform.suite.api.Suite;

/** Flink's own savepoint tests on Lava, in both formats, with and without a relocation. */
@Suite
@SelectClasses(
        names = {
            "org.apache.flink.test.checkpointing.SavepointFormatITCase",
        })
public class FlinkSavepointITCase extends ShadowedBackend {}
