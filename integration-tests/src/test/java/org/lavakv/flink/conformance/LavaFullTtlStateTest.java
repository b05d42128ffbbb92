// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.conformance;

/** TTL with full checkpoints. */
class LavaFullTtlStateTest extends AbstractLavaTtlStateTest {

    @Override
    boolean incremental() {
        return false;
    }
}
