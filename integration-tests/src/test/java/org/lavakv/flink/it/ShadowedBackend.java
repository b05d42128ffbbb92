// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.it;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.platform.suite.api.AfterSuite;
import org.junit.platform.suite.api.BeforeSuite;
import org.lavakv.Host;

/**
 * Common to all suites of Flink's own end-to-end tests: verifies by the count of {@link
 * CountedLava} that their tasks kept keyed state in Lava. Here {@code rocksdb} means Lava.
 */
abstract class ShadowedBackend {
    private static long keyedBackendsBefore;
    private static long leakedBefore;

    @BeforeSuite
    static void count() {
        keyedBackendsBefore = CountedLava.keyedBackends();
        leakedBefore = Host.leakedNativeObjects();
    }

    @AfterSuite
    static void nothingNativeIsLeft() throws InterruptedException {
        NativeLeakCheck.assertNothingLeakedSince(leakedBefore);
    }

    @AfterSuite
    static void ranOnLava() {
        assertThat(CountedLava.keyedBackends())
                .as("keyed backends on Lava that tasks of the suite got")
                .isGreaterThan(keyedBackendsBefore);
    }
}
