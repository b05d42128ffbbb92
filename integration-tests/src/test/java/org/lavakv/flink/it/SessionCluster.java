// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import org.apache.flink.api.common.JobExecutionResult;
import org.apache.flink.api.common.JobID;
import org.apache.flink.client.cli.CliFrontend;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.CoreOptions;
import org.apache.flink.configuration.DeploymentOptions;
import org.apache.flink.configuration.RestOptions;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.minicluster.MiniClusterConfiguration;
import org.apache.flink.runtime.testutils.InMemoryReporter;

/**
 * A session cluster in this JVM that receives jobs like a user's cluster: as jars, from Flink's
 * command line client, over REST. Ownership: the test closes it.
 */
final class SessionCluster implements AutoCloseable {

    static final int SLOTS = 8;

    private final Path directory;
    private final InMemoryReporter reporter = InMemoryReporter.createWithRetainedMetrics();
    private final MiniCluster cluster;

    /**
     * @param directory an empty directory for all files of the cluster
     * @param configuration the content of its config.yaml
     */
    SessionCluster(Path directory, Configuration configuration) throws Exception {
        this.directory = directory;
        Configuration all = new Configuration(configuration);
        all.set(CoreOptions.TMP_DIRS, directory.resolve("tmp").toString());
        all.set(RestOptions.BIND_PORT, "0");
        reporter.addToConfiguration(all);
        cluster =
                new MiniCluster(
                        new MiniClusterConfiguration.Builder()
                                .setConfiguration(all)
                                .setNumTaskManagers(1)
                                .setNumSlotsPerTaskManager(SLOTS)
                                .build());
        cluster.start();
    }

    /** The client's configuration: only the address of the cluster. */
    Configuration client() throws Exception {
        URI address = cluster.getRestAddress().get();
        Configuration client = new Configuration();
        client.set(DeploymentOptions.TARGET, "remote");
        client.set(RestOptions.ADDRESS, address.getHost());
        client.set(RestOptions.PORT, address.getPort());
        return client;
    }

    /** Submits a job by {@code flink run -d}. */
    JobID submit(List<String> options, Path jar, List<String> arguments) throws Exception {
        Set<JobID> before = jobs();
        List<String> command = new ArrayList<>(List.of("run", "-d"));
        command.addAll(options);
        command.addAll(List.of("-c", CountingJob.class.getName(), jar.toString()));
        command.addAll(arguments);
        Configuration client = client();
        int code =
                new CliFrontend(
                                client,
                                CliFrontend.loadCustomCommandLines(client, directory.toString()))
                        .parseAndRun(command.toArray(new String[0]));
        assertThat(code).as("exit code of flink %s", command).isZero();
        Set<JobID> jobs = jobs();
        jobs.removeAll(before);
        assertThat(jobs).as("new jobs").hasSize(1);
        return jobs.iterator().next();
    }

    /** Waits for a job's end; throws the job's failure. */
    JobExecutionResult result(JobID job) throws Exception {
        return cluster.requestJobResult(job)
                .get()
                .toJobExecutionResult(getClass().getClassLoader());
    }

    Set<JobID> jobs() throws Exception {
        return cluster.listJobs().get().stream()
                .map(job -> job.getJobId())
                .collect(Collectors.toCollection(HashSet::new));
    }

    /** The groups of a job's metrics that belong to Lava, e.g. "lava.state.count". */
    Set<String> lavaMetrics(JobID job) {
        Set<String> groups = new TreeSet<>();
        for (MetricGroup group : reporter.getMetricsByGroup().keySet()) {
            List<String> scope = List.of(group.getScopeComponents());
            int at = scope.indexOf("lava");
            if (at >= 0 && job.toString().equals(group.getAllVariables().get("<job_id>"))) {
                groups.add(String.join(".", scope.subList(at, scope.size())));
            }
        }
        return groups;
    }

    /** Files and directories of Lava left under the cluster's working directories. */
    List<Path> leftovers() throws IOException {
        while (true) {
            try (Stream<Path> files = Files.walk(directory.resolve("tmp"))) {
                return files.filter(file -> file.getFileName().toString().contains("lava"))
                        .collect(Collectors.toList());
            } catch (UncheckedIOException e) {
                // Flink is still removing its own files there.
                if (!(e.getCause() instanceof NoSuchFileException)) {
                    throw e;
                }
            }
        }
    }

    @Override
    public void close() throws Exception {
        cluster.close();
    }

    /**
     * Packs a class with its inner classes, and the whole content of the given jars or directories.
     */
    static Path jar(Path file, Class<?> job, Set<Path> whole) throws IOException {
        try (OutputStream out = Files.newOutputStream(file);
                JarOutputStream jar = new JarOutputStream(out)) {
            Set<String> names = new HashSet<>();
            Path source = source(job);
            Path folder = source.resolve(job.getPackageName().replace('.', '/'));
            try (Stream<Path> classes = Files.list(folder)) {
                for (Path each : (Iterable<Path>) classes::iterator) {
                    String name = each.getFileName().toString();
                    if (name.equals(job.getSimpleName() + ".class")
                            || name.startsWith(job.getSimpleName() + "$")) {
                        add(
                                jar,
                                names,
                                source.relativize(each).toString(),
                                Files.readAllBytes(each));
                    }
                }
            }
            for (Path each : whole) {
                addAll(jar, names, each);
            }
        }
        return file;
    }

    /** The jar or directory that a class came from. */
    static Path source(Class<?> type) {
        return Path.of(
                URI.create(type.getProtectionDomain().getCodeSource().getLocation().toString()));
    }

    private static void addAll(JarOutputStream jar, Set<String> names, Path from)
            throws IOException {
        if (Files.isDirectory(from)) {
            try (Stream<Path> files = Files.walk(from)) {
                for (Path each : (Iterable<Path>) files.filter(Files::isRegularFile)::iterator) {
                    add(jar, names, from.relativize(each).toString(), Files.readAllBytes(each));
                }
            }
            return;
        }
        try (ZipFile zip = new ZipFile(from.toFile())) {
            for (ZipEntry entry :
                    (Iterable<ZipEntry>) zip.stream().map(e -> (ZipEntry) e)::iterator) {
                if (!entry.isDirectory()) {
                    add(jar, names, entry.getName(), zip.getInputStream(entry).readAllBytes());
                }
            }
        }
    }

    private static void add(JarOutputStream jar, Set<String> names, String name, byte[] content)
            throws IOException {
        if (names.add(name)) {
            jar.putNextEntry(new JarEntry(name));
            jar.write(content);
            jar.closeEntry();
        }
    }
}
