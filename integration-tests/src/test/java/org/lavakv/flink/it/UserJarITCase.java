// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.flink.api.common.JobExecutionResult;
import org.apache.flink.api.common.JobID;
import org.apache.flink.configuration.Configuration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.lavakv.Host;
import org.lavakv.LavaDB;
import org.lavakv.flink.LavaStateBackend;

/**
 * The plugin is in {@code lib/}, and also inside the jar of a job: Flink gives each such job Lava's
 * classes from its own jar, and one TaskManager loads the native library several times.
 */
@Timeout(180)
class UserJarITCase {

    @TempDir Path directory;
    private SessionCluster cluster;
    private Path gate;
    private Path thin;
    private Path fat;

    @BeforeEach
    void pack() throws Exception {
        gate = Files.createDirectory(directory.resolve("gate"));
        thin = SessionCluster.jar(directory.resolve("thin.jar"), CountingJob.class, Set.of());
        fat =
                SessionCluster.jar(
                        directory.resolve("fat.jar"),
                        CountingJob.class,
                        new HashSet<>(
                                List.of(
                                        SessionCluster.source(LavaStateBackend.class),
                                        SessionCluster.source(LavaDB.class))));
    }

    private void start(String... options) throws Exception {
        Configuration configuration = new Configuration();
        configuration.setString("state.backend.type", "lava");
        for (int i = 0; i < options.length; i += 2) {
            configuration.setString("state.backend.lava." + options[i], options[i + 1]);
        }
        cluster = new SessionCluster(directory, configuration);
    }

    @AfterEach
    void stop() throws Exception {
        cluster.close();
    }

    @Test
    void threeCopiesWorkSideBySide() throws Exception {
        start();
        // One for each slot.
        threeCopies(CountingJob.PARALLELISM);
    }

    /** Flink has one shared resource for each id, and each copy has its own lease class. */
    @Test
    void threeCopiesHaveFixedMemoryOfTheTaskManager() throws Exception {
        start("memory.managed", "false", "memory.fixed-per-tm", "48mb");
        threeCopies(1);
    }

    private void threeCopies(int leases) throws Exception {
        long openBefore = Host.openNativeObjects();
        // A lease may be left of a backend that Flink has lost: see NativeLeakCheck.
        long leasesBefore = Host.getStatistics().leasesOpen();
        List<JobID> jobs =
                List.of(
                        cluster.submit(List.of(), thin, List.of("gate:" + gate)),
                        cluster.submit(List.of(), fat, List.of("gate:" + gate)),
                        cluster.submit(List.of(), fat, List.of("gate:" + gate)));
        // All subtasks have opened their backends when the first of them continues.
        while (waiting() < 3 * CountingJob.PARALLELISM) {
            Thread.sleep(50);
        }
        assertThat(Host.openNativeObjects()).isGreaterThan(openBefore);
        assertThat(Host.getStatistics().leasesOpen() - leasesBefore).isEqualTo(leases);
        Files.createFile(gate.resolve("open"));

        List<Set<String>> loaders = new ArrayList<>();
        for (JobID job : jobs) {
            loaders.add(loadersOf(job));
        }
        assertThat(loaders.get(0)).allMatch(name -> name.startsWith("AppClassLoader@"));
        assertThat(loaders.get(1)).allMatch(name -> name.startsWith("ChildFirstClassLoader@"));
        assertThat(loaders.get(2)).allMatch(name -> name.startsWith("ChildFirstClassLoader@"));
        assertThat(loaders.get(1)).doesNotContainAnyElementsOf(loaders.get(2));
        assertThat(Host.openNativeObjects()).isLessThanOrEqualTo(openBefore);
        assertThat(cluster.leftovers()).isEmpty();
    }

    @Test
    void oneAfterTheOther() throws Exception {
        start();
        Set<String> seen = new HashSet<>();
        for (Path jar : List.of(fat, thin, fat, fat)) {
            seen.addAll(loadersOf(cluster.submit(List.of(), jar, List.of())));
        }
        assertThat(seen).hasSize(4);
        assertThat(cluster.leftovers()).isEmpty();
    }

    private long waiting() throws Exception {
        try (Stream<Path> files = Files.list(gate)) {
            return files.filter(file -> file.getFileName().toString().startsWith("waiting"))
                    .count();
        }
    }

    /** Waits for the job. Checks its results, and that its own copy of Lava contained its state. */
    private Set<String> loadersOf(JobID job) throws Exception {
        JobExecutionResult result = cluster.result(job);
        List<String> results =
                new ArrayList<>(result.<List<String>>getAccumulatorResult(CountingJob.RESULTS));
        Collections.sort(results);
        assertThat(results).isEqualTo(CountingJob.expectedResults());
        assertThat(result.<List<String>>getAccumulatorResult(CountingJob.BACKENDS))
                .containsOnly("lava");
        List<String> loaders = result.getAccumulatorResult(CountingJob.LOADERS);
        assertThat(loaders).hasSize(CountingJob.PARALLELISM);
        // "loader objects": a copy that was not loaded has none.
        assertThat(loaders).noneMatch(loader -> loader.endsWith(" 0"));
        return loaders.stream()
                .map(loader -> loader.substring(0, loader.indexOf(' ')))
                .collect(Collectors.toSet());
    }
}
