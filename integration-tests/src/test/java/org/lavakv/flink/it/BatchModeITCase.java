// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import org.apache.flink.api.common.JobExecutionResult;
import org.apache.flink.api.common.JobID;
import org.apache.flink.configuration.Configuration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.lavakv.Host;

/** A job with Lava configured, executed as a batch. */
class BatchModeITCase {

    @TempDir static Path directory;
    private static SessionCluster cluster;
    private static Path jar;

    @BeforeAll
    static void start() throws Exception {
        jar = SessionCluster.jar(directory.resolve("job.jar"), CountingJob.class, Set.of());
        cluster = new SessionCluster(directory, new Configuration());
    }

    @AfterAll
    static void stop() throws Exception {
        cluster.close();
    }

    /** Objects possibly left by other tests in this JVM. */
    private long openBefore;

    @BeforeEach
    void countOpenObjects() {
        openBefore = Host.openNativeObjects();
    }

    @AfterEach
    void nothingIsLeft() throws Exception {
        assertThat(Host.openNativeObjects()).isLessThanOrEqualTo(openBefore);
        assertThat(cluster.leftovers()).isEmpty();
    }

    /** Records are sorted by key, and Flink keeps the state of one key at a time itself. */
    @Test
    void flinksOwnBackendOfBatchesStepsIn() throws Exception {
        assertThat(backendsOf("execution.runtime-mode=BATCH")).containsOnly("batch");
    }

    @Test
    void whereThatIsSwitchedOffTheStateIsInLava() throws Exception {
        assertThat(
                        backendsOf(
                                "execution.runtime-mode=BATCH",
                                "execution.batch-state-backend.enabled=false"))
                .containsOnly("lava");
    }

    @Test
    void withoutSortedInputsTheStateIsInLavaToo() throws Exception {
        assertThat(
                        backendsOf(
                                "execution.runtime-mode=BATCH",
                                "execution.sorted-inputs.enabled=false",
                                "execution.batch-state-backend.enabled=false"))
                .containsOnly("lava");
    }

    @Test
    void automaticModeTakesABoundedJobForABatch() throws Exception {
        assertThat(backendsOf("execution.runtime-mode=AUTOMATIC")).containsOnly("batch");
    }

    private static List<String> backendsOf(String... own) throws Exception {
        // Not in the cluster's configuration: with sorted inputs, Flink only looks at the job's own
        // configuration to decide whether the backend gets a share of managed memory in addition to
        // the sorter.
        JobID job = cluster.submit(List.of("-Dstate.backend.type=lava"), jar, List.of(own));
        JobExecutionResult result = cluster.result(job);
        List<String> results =
                new ArrayList<>(result.<List<String>>getAccumulatorResult(CountingJob.RESULTS));
        Collections.sort(results);
        assertThat(results).isEqualTo(CountingJob.expectedResults());
        List<String> backends = result.getAccumulatorResult(CountingJob.BACKENDS);
        assertThat(backends).isNotEmpty();
        assertThat(cluster.lavaMetrics(job).isEmpty()).isEqualTo(!backends.contains("lava"));
        return backends;
    }
}
