// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import org.apache.flink.api.common.state.State;
import org.apache.flink.api.common.state.StateTtlConfig;
import org.apache.flink.runtime.state.CheckpointStorage;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.StateBackend;
import org.apache.flink.runtime.state.storage.FileSystemCheckpointStorage;
import org.apache.flink.runtime.state.ttl.StateBackendTestContext;
import org.apache.flink.runtime.state.ttl.TtlStateTestBase;
import org.apache.flink.runtime.state.ttl.TtlTimeProvider;
import org.junit.jupiter.api.TestTemplate;
import org.junit.jupiter.api.io.TempDir;
import org.lavakv.flink.LavaKeyedStateBackend;
import org.lavakv.flink.LavaStateBackend;

/** Flink's conformance suite of TTL. */
abstract class AbstractLavaTtlStateTest extends TtlStateTestBase {

    @TempDir Path directory;

    abstract boolean incremental();

    LavaStateBackend newBackend() {
        return new LavaStateBackend(incremental());
    }

    @Override
    protected StateBackendTestContext createStateBackendTestContext(TtlTimeProvider time) {
        return new StateBackendTestContext(time) {
            @Override
            protected StateBackend createStateBackend() {
                return newBackend();
            }

            @Override
            protected CheckpointStorage createCheckpointStorage() {
                return new FileSystemCheckpointStorage(directory.toUri());
            }
        };
    }

    /** Checkpoints are native: expired state is removed by compactions, not by snapshots. */
    @Override
    public boolean isSavepoint() {
        return false;
    }

    /** TTL may be disabled: the inherited test only applies to backends that refuse this. */
    @Override
    @TestTemplate
    protected void testRestoreTtlAndRegisterNonTtlStateCompatFailure() throws Exception {
        initTest();
        timeProvider.time = 0;
        ctx().update(ctx().updateEmpty);
        KeyedStateHandle snapshot = sbetc.takeSnapshot();
        sbetc.createAndRestoreKeyedStateBackend(snapshot);
        sbetc.setCurrentKey("defaultKey");
        State state = sbetc.createState(ctx().createStateDescriptor(), "");
        assertThat(state).isNotNull();
        snapshot.discardState();
    }

    /** Compactions drop expired state, and nothing else. */
    @TestTemplate
    void testCompactionDropsExpiredState() throws Exception {
        initTest(getConfBuilder(TTL).build());
        timeProvider.time = 0;
        sbetc.setCurrentKey("expires");
        ctx().update(ctx().updateEmpty);
        int expiring = entriesAfterCompaction();
        assertThat(expiring).isPositive();

        timeProvider.time = 50;
        sbetc.setCurrentKey("stays");
        ctx().update(ctx().updateUnexpired);
        Object stays = ctx().get();
        int all = entriesAfterCompaction();
        assertThat(all).isGreaterThan(expiring);
        takeAndRestoreSnapshot(StateBackendTestContext.NUMBER_OF_KEY_GROUPS);

        timeProvider.time = 120;
        assertThat(entriesAfterCompaction()).isEqualTo(all - expiring);
        sbetc.setCurrentKey("stays");
        assertThat((Object) ctx().get()).isEqualTo(stays);
    }

    /** Without background cleanup compactions keep expired state. */
    @TestTemplate
    void testCompactionKeepsExpiredStateWithoutBackgroundCleanup() throws Exception {
        initTest(
                StateTtlConfig.newBuilder(Duration.ofMillis(TTL))
                        .disableCleanupInBackground()
                        .build());
        timeProvider.time = 0;
        sbetc.setCurrentKey("kept");
        ctx().update(ctx().updateEmpty);
        int all = entriesAfterCompaction();
        assertThat(all).isPositive();
        timeProvider.time = 2 * TTL;
        assertThat(entriesAfterCompaction()).isEqualTo(all);
    }

    private int entriesAfterCompaction() throws Exception {
        LavaKeyedStateBackend<String> backend = sbetc.getKeyedStateBackend();
        backend.compact();
        return backend.numKeyValueStateEntries();
    }
}
