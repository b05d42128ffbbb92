// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.conformance;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.UncheckedIOException;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.StateChangelogOptions;
import org.apache.flink.runtime.state.ConfigurableStateBackend;
import org.apache.flink.runtime.state.StateBackendLoader;
import org.apache.flink.runtime.state.TestTaskStateManager;
import org.apache.flink.runtime.state.changelog.inmemory.InMemoryStateChangelogStorage;
import org.junit.jupiter.api.TestTemplate;

/** Flink's conformance suite of state backends, on Lava wrapped by Flink's changelog. */
class LavaChangelogStateBackendTest extends LavaStateBackendTest {

    @Override
    protected ConfigurableStateBackend getStateBackend() {
        Configuration changelog = new Configuration();
        changelog.set(StateChangelogOptions.ENABLE_STATE_CHANGE_LOG, true);
        try {
            return (ConfigurableStateBackend)
                    StateBackendLoader.fromApplicationOrConfigOrDefault(
                            super.getStateBackend(),
                            changelog,
                            new Configuration(),
                            getClass().getClassLoader(),
                            null);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    protected TestTaskStateManager getTestTaskStateManager() throws IOException {
        return TestTaskStateManager.builder()
                .setStateChangelogStorage(new InMemoryStateChangelogStorage())
                .build();
    }

    /** Changes go to the changelog's storage. */
    @Override
    protected boolean snapshotUsesStreamFactory() {
        return false;
    }

    /** The changelog replays meta information, and checks it when the state is registered. */
    @Override
    protected boolean supportsMetaInfoVerification() {
        return false;
    }

    /** Flink's wrapper serializes a map's values without a null flag, for any wrapped backend. */
    @Override
    @TestTemplate
    public void testMapStateWithNullValue() {
        assertThatThrownBy(super::testMapStateWithNullValue)
                .isInstanceOf(NullPointerException.class)
                .hasStackTraceContaining("ChangelogMapState.serializeValue");
    }
}
