// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.apache.flink.state.api;

import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.StateBackendOptions;
import org.lavakv.flink.LavaStateBackend;

/** Flink's own tests of reading windows from a savepoint, for a job and a reader on Lava. */
public class LavaWindowReaderLongITCase extends SavepointWindowReaderITCase<LavaStateBackend> {

    @Override
    protected Tuple2<Configuration, LavaStateBackend> getStateBackendTuple() {
        return Tuple2.of(
                new Configuration().set(StateBackendOptions.STATE_BACKEND, "lava"),
                new LavaStateBackend());
    }
}
