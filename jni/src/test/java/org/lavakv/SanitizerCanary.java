// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv;

import org.junit.jupiter.api.Test;

/**
 * Triggers errors that the sanitizers must report and that the JVM does not survive. Its name
 * excludes it from the tests: only tools/asan_test.sh runs it, to verify that such a report fails.
 */
class SanitizerCanary extends LavaTestBase {

    private static final int HEAP_OVERFLOW = 6;
    private static final int UNDEFINED = 7;

    @Test
    void heapOverflow() {
        callWith(HEAP_OVERFLOW);
    }

    @Test
    void undefined() {
        callWith(UNDEFINED);
    }

    private static void callWith(int fault) {
        try {
            LavaLibrary.setFault0(fault);
            Host.getStatistics();
        } finally {
            LavaLibrary.setFault0(0);
        }
    }
}
