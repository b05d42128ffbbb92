// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.conformance;

/** TTL with incremental checkpoints. */
class LavaIncrementalTtlStateTest extends AbstractLavaTtlStateTest {

    @Override
    boolean incremental() {
        return true;
    }
}
