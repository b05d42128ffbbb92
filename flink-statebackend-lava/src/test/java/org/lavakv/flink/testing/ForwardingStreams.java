// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.testing;

import java.io.IOException;
import java.util.Collection;
import java.util.List;
import org.apache.flink.runtime.state.CheckpointStateOutputStream;
import org.apache.flink.runtime.state.CheckpointStreamFactory;
import org.apache.flink.runtime.state.CheckpointedStateScope;
import org.apache.flink.runtime.state.StreamStateHandle;

/** Storage for a checkpoint that forwards all calls; tests override some of them. */
public class ForwardingStreams implements CheckpointStreamFactory {

    private final CheckpointStreamFactory factory;

    public ForwardingStreams(CheckpointStreamFactory factory) {
        this.factory = factory;
    }

    @Override
    public CheckpointStateOutputStream createCheckpointStateOutputStream(
            CheckpointedStateScope scope) throws IOException {
        return factory.createCheckpointStateOutputStream(scope);
    }

    @Override
    public boolean canFastDuplicate(StreamStateHandle handle, CheckpointedStateScope scope)
            throws IOException {
        return factory.canFastDuplicate(handle, scope);
    }

    @Override
    public List<StreamStateHandle> duplicate(
            List<StreamStateHandle> handles, CheckpointedStateScope scope) throws IOException {
        return factory.duplicate(handles, scope);
    }

    @Override
    public boolean couldReuseStateHandle(StreamStateHandle handle) {
        return factory.couldReuseStateHandle(handle);
    }

    @Override
    public void reusePreviousStateHandle(Collection<? extends StreamStateHandle> reused) {
        factory.reusePreviousStateHandle(reused);
    }
}
