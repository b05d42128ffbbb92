package org.lavakv.flink.conformance;

import org.apache.flink.runtime.state.AsyncKeyedStateBackend;
import org.apache.flink.runtime.state.CheckpointStorage;
import org.apache.flink.runtime.state.ConfigurableStateBackend;
import org.apache.flink.runtime.state.storage.FileSystemCheckpointStorage;
import org.apache.flink.runtime.state.v2.StateBackendTestV2Base;
import org.apache.flink.runtime.state.v2.adaptor.AsyncKeyedStateBackendAdaptor;

import org.junit.jupiter.api.io.TempDir;
import org.lavakv.flink.LavaStateBackend;

import java.io.IOException;
import java.nio.file.Path;

/** Flink's conformance suite of the asynchronous state, through the adaptor that Flink puts on. */
class LavaStateBackendV2Test extends StateBackendTestV2Base<LavaStateBackend> {

    @TempDir Path directory;

    @Override
    protected ConfigurableStateBackend getStateBackend() {
        return new AdaptedBackend();
    }

    @Override
    protected void restoreJob() {
        // The backend under test keeps nothing across jobs.
    }

    @Override
    protected CheckpointStorage getCheckpointStorage() {
        return new FileSystemCheckpointStorage(directory.toUri());
    }

    private static final class AdaptedBackend extends LavaStateBackend {

        private static final long serialVersionUID = 1L;

        @Override
        public <K> AsyncKeyedStateBackend<K> createAsyncKeyedStateBackend(
                KeyedStateBackendParameters<K> parameters) throws IOException {
            return new AsyncKeyedStateBackendAdaptor<>(createKeyedStateBackend(parameters));
        }

        @Override
        public boolean supportsAsyncKeyedStateBackend() {
            return true;
        }
    }
}
