// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.changelog;

import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;
import org.apache.flink.runtime.state.changelog.StateChangelogHandleReader;
import org.apache.flink.runtime.state.changelog.StateChangelogStorageView;

/** Gives a restoring job access to a changelog that another job wrote. Threads: any. */
class LavaChangelogStorageView
        implements StateChangelogStorageView<ChangelogStateHandleStreamImpl> {

    @Override
    public StateChangelogHandleReader<ChangelogStateHandleStreamImpl> createReader() {
        return new LavaChangelogReader();
    }
}
