package org.lavakv.flink.changelog;

import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;
import org.apache.flink.runtime.state.changelog.StateChangelogHandleReader;
import org.apache.flink.runtime.state.changelog.StateChangelogStorageView;

/** What a job that restores needs of the changelog that another one wrote. Threads: any. */
class LavaChangelogStorageView
        implements StateChangelogStorageView<ChangelogStateHandleStreamImpl> {

    @Override
    public StateChangelogHandleReader<ChangelogStateHandleStreamImpl> createReader() {
        return new LavaChangelogReader();
    }
}
