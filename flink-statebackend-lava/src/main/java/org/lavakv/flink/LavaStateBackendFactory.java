// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink;

import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.runtime.state.StateBackendFactory;

/**
 * Creates a {@link LavaStateBackend} from a configuration.
 *
 * <p>Threads: any thread. Loads nothing native, because the JobManager calls it as well.
 */
public class LavaStateBackendFactory implements StateBackendFactory<LavaStateBackend> {

    @Override
    public LavaStateBackend createFromConfig(ReadableConfig config, ClassLoader classLoader) {
        return new LavaStateBackend().configure(config, classLoader);
    }
}
