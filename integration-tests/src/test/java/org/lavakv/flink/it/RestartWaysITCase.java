// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.StateBackendOptions;
import org.apache.flink.configuration.StateChangelogOptions;
import org.apache.flink.core.execution.RecoveryClaimMode;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.test.junit5.InjectMiniCluster;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.lavakv.flink.changelog.ChangelogOptions;

/** All cases, with the changelog in Lava's storage. */
class RestartWaysITCase extends RestartWays {

    @TempDir static Path changelog;

    @RegisterExtension
    static final MiniClusterExtension CLUSTER =
            cluster(
                    () ->
                            new Configuration()
                                    .set(StateChangelogOptions.STATE_CHANGE_LOG_STORAGE, "lava")
                                    // A job's own directory is not available to the changelog.
                                    .set(
                                            CheckpointingOptions.CHECKPOINTS_DIRECTORY,
                                            changelog.toUri().toString())
                                    // Small values are sufficient for a test.
                                    .set(
                                            ChangelogOptions.SHARED_VALUE_MIN_SIZE,
                                            new MemorySize(1)));

    @Override
    String storage() {
        return "lava";
    }

    @Test
    void theStorageServesOtherBackends(@InjectMiniCluster MiniCluster cluster) throws Exception {
        Configuration heap =
                configuration(Around.CHANGELOG).set(StateBackendOptions.STATE_BACKEND, "hashmap");
        String last = null;
        for (int run = 0; run < 3; run++) {
            last =
                    new NumbersJob(cluster, heap, 2)
                            .startFrom(last, RecoveryClaimMode.CLAIM)
                            .take(
                                    run * NUMBERS,
                                    (run + 1) * NUMBERS,
                                    NumbersJob.Kind.CHECKPOINT,
                                    root.resolve("savepoints"));
            assertKept(last, Around.CHANGELOG);
        }
        assertThat(
                        new NumbersJob(cluster, heap, 2)
                                .startFrom(last, RecoveryClaimMode.CLAIM)
                                .content())
                .isEqualTo(NumbersJob.expected(3 * NUMBERS));
    }
}
