// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.conformance;

import org.apache.flink.configuration.MemorySize;
import org.lavakv.flink.LavaConfigurableOptions;
import org.lavakv.flink.LavaStateBackend;

/** Flink's conformance suite of migrations, with values in value files. */
class LavaSeparatedMigrationTest extends LavaMigrationTest {

    @Override
    protected LavaStateBackend getStateBackend() {
        return super.getStateBackend()
                .set(LavaConfigurableOptions.VALUE_SEPARATION_THRESHOLD, new MemorySize(1));
    }
}
