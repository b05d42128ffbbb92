// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.conformance;

import org.apache.flink.configuration.MemorySize;
import org.lavakv.flink.LavaConfigurableOptions;
import org.lavakv.flink.LavaStateBackend;

/** TTL of values in value files. */
class LavaSeparatedTtlStateTest extends LavaIncrementalTtlStateTest {

    @Override
    LavaStateBackend newBackend() {
        return super.newBackend()
                .set(LavaConfigurableOptions.VALUE_SEPARATION_THRESHOLD, new MemorySize(1));
    }
}
