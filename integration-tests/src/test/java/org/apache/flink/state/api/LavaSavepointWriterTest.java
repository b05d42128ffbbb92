// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.apache.flink.state.api;

import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.StateBackendOptions;
import org.junit.Test;
import org.lavakv.flink.LavaStateBackend;

/**
 * Flink's own test of writing and changing savepoints, for a writer and a job on Lava, in addition
 * to Flink's own backends.
 */
public class LavaSavepointWriterTest extends SavepointWriterITCase {

    @Test
    public void testLava() throws Exception {
        testStateBootstrapAndModification(
                new Configuration().set(StateBackendOptions.STATE_BACKEND, "lava"),
                new LavaStateBackend());
    }
}
