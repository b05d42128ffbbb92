// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.apache.flink.state.api;

import java.util.Collection;
import java.util.List;
import org.apache.flink.runtime.state.StateBackend;
import org.junit.runners.Parameterized;
import org.lavakv.flink.LavaStateBackend;

/**
 * Flink's own test that a savepoint made from another does not depend on the other one, on Lava.
 */
public class LavaSavepointDeepCopyTest extends SavepointDeepCopyTest {

    public LavaSavepointDeepCopyTest(StateBackend backend) throws Exception {
        super(backend);
    }

    @Parameterized.Parameters(name = "{0}")
    public static Collection<StateBackend> data() {
        return List.of(new LavaStateBackend());
    }
}
