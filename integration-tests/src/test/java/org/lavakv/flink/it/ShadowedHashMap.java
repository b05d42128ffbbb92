// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.it;

import org.apache.flink.runtime.state.hashmap.HashMapStateBackendFactory;
import org.junit.platform.suite.api.AfterSuite;
import org.junit.platform.suite.api.BeforeSuite;

/** For suites whose tests configure {@code hashmap} or no backend: this means Lava as well. */
abstract class ShadowedHashMap extends ShadowedBackend {

    @BeforeSuite
    static void hashMapIsLava() {
        HashMapStateBackendFactory.makeLava(true);
    }

    @AfterSuite
    static void hashMapIsItself() {
        HashMapStateBackendFactory.makeLava(false);
    }
}
