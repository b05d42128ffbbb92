// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink;

import org.lavakv.flink.engine.LavaInstance;

/** Gives tests of other packages access to a backend's instance. */
public final class BackendInstance {
    private BackendInstance() {}

    public static LavaInstance of(LavaKeyedStateBackend<?> backend) {
        return backend.instance();
    }
}
