// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import org.apache.flink.api.common.JobExecutionResult;
import org.apache.flink.api.common.JobID;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.GlobalConfiguration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Every way to request Lava makes a job keep its state there, and nothing else does. */
class ConfigurationITCase {

    private static final String TYPE = "state.backend.type";
    private static final String OLDER = "state.backend";
    private static final String FACTORY = "org.lavakv.flink.LavaStateBackendFactory";

    @TempDir static Path shared;
    private static Path jar;

    /** A cluster that is not configured for Lava. */
    private static SessionCluster unconfigured;

    @BeforeAll
    static void start() throws Exception {
        jar = SessionCluster.jar(shared.resolve("job.jar"), CountingJob.class, Set.of());
        unconfigured = new SessionCluster(shared, new Configuration());
    }

    @AfterAll
    static void stop() throws Exception {
        unconfigured.close();
    }

    @Test
    void withoutItTheJobIsOnTheHeap() throws Exception {
        assertThat(backendsOf(unconfigured, List.of(), List.of())).containsOnly("hashmap");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                TYPE + ": lava",
                OLDER + ": lava",
                TYPE + ": " + FACTORY,
                OLDER + ": " + FACTORY,
                "state:\n  backend:\n    type: lava",
                "state:\n  backend: lava",
            })
    void inConfigYaml(String lines, @TempDir Path directory) throws Exception {
        Files.writeString(directory.resolve("config.yaml"), lines + "\n");
        Configuration configuration = GlobalConfiguration.loadConfiguration(directory.toString());
        try (SessionCluster cluster = new SessionCluster(directory, configuration)) {
            assertThat(backendsOf(cluster, List.of(), List.of())).containsOnly("lava");
            // The cluster's configuration is only a default.
            assertThat(backendsOf(cluster, List.of("-D" + TYPE + "=hashmap"), List.of()))
                    .containsOnly("hashmap");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {TYPE + "=lava", OLDER + "=lava", TYPE + "=" + FACTORY})
    void asOptionOfTheCommandLine(String option) throws Exception {
        assertThat(backendsOf(unconfigured, List.of("-D" + option), List.of()))
                .containsOnly("lava");
    }

    @ParameterizedTest
    @ValueSource(strings = {TYPE + "=lava", OLDER + "=lava", TYPE + "=" + FACTORY})
    void inTheJobItself(String option) throws Exception {
        assertThat(backendsOf(unconfigured, List.of(), List.of(option))).containsOnly("lava");
    }

    @Test
    void anOptionOfLavaWithABadValueIsNamed() throws Exception {
        assertThatThrownBy(
                        () ->
                                backendsOf(
                                        unconfigured,
                                        List.of("-D" + TYPE + "=lava"),
                                        List.of("state.backend.lava.timer-service.factory=MOON")))
                .hasStackTraceContaining("state.backend.lava.timer-service.factory")
                .hasStackTraceContaining("MOON");
    }

    /** Runs the job. Checks its results, and that its metrics agree with its accumulators. */
    private static List<String> backendsOf(
            SessionCluster cluster, List<String> options, List<String> own) throws Exception {
        JobID job = cluster.submit(options, jar, own);
        JobExecutionResult result = cluster.result(job);
        List<String> results =
                new ArrayList<>(result.<List<String>>getAccumulatorResult(CountingJob.RESULTS));
        Collections.sort(results);
        assertThat(results).isEqualTo(CountingJob.expectedResults());
        List<String> backends = result.getAccumulatorResult(CountingJob.BACKENDS);
        assertThat(backends).hasSize(CountingJob.PARALLELISM);
        if (backends.contains("lava")) {
            assertThat(cluster.lavaMetrics(job))
                    .contains(
                            "lava",
                            "lava.host",
                            "lava.state.count",
                            "lava.state.sum",
                            "lava.state.remainders");
        } else {
            assertThat(cluster.lavaMetrics(job)).isEmpty();
        }
        assertThat(cluster.leftovers()).isEmpty();
        return backends;
    }
}
