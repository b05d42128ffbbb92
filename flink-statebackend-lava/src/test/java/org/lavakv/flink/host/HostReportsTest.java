package org.lavakv.flink.host;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.lavakv.DBOptions;
import org.lavakv.Host;
import org.lavakv.LavaDB;
import org.lavakv.Lease;
import org.lavakv.flink.LavaOptions;
import org.lavakv.flink.LavaStateBackend;
import org.lavakv.flink.engine.LavaInstance;
import org.lavakv.flink.storage.PosixFiles;
import org.lavakv.flink.testing.BackendFixture;

/** The file on the host: what is in it, and how long it and its thread are there. */
class HostReportsTest {

    private static final Duration OFTEN = Duration.ofMillis(5);

    @TempDir private Path directory;

    private static LavaStateBackend reported(BackendFixture fixture) throws Exception {
        return fixture.newLava(true).set(LavaOptions.HOST_REPORT_INTERVAL, Duration.ofMinutes(1));
    }

    @Test
    void pageTellsOfTheOpenBackends() throws Exception {
        try (BackendFixture fixture = new BackendFixture(directory)) {
            Path file = fixture.instances().resolve(HostReportThread.fileName());
            AbstractKeyedStateBackend<Integer> backend =
                    fixture.use(reported(fixture)).create(BackendFixture.ALL);
            until(() -> Files.exists(file));
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                    .isEqualTo("rw-------");
            JsonNode page = read(file);
            assertThat(page.get("format").asInt()).isEqualTo(HostPage.FORMAT);
            assertThat(page.get("pid").asLong()).isEqualTo(ProcessHandle.current().pid());
            assertThat(page.get("written_ms").asLong())
                    .isGreaterThanOrEqualTo(page.get("started_ms").asLong());
            assertThat(page.get("memory").get("budget_bytes").asLong()).isPositive();
            assertThat(page.get("background").get("threads").asLong()).isPositive();
            assertThat(page.get("volumes")).isEmpty();
            assertThat(page.get("instances")).hasSize(1);
            JsonNode row = page.get("instances").get(0);
            assertThat(fixture.instanceDirectories().get(0).getFileName())
                    .hasToString(row.get("directory").asText());
            assertThat(row.get("operator").asText()).isEqualTo("operator");
            fixture.close(backend);
            assertThat(file).doesNotExist();
        }
        noThread();
    }

    @Test
    void volumesAreTold() throws Exception {
        try (BackendFixture fixture = new BackendFixture(directory)) {
            LavaStateBackend onVolumes =
                    reported(fixture)
                            .set(LavaOptions.FILE_SYSTEM, LavaOptions.FileSystemType.LAVAFS);
            fixture.use(onVolumes).create(BackendFixture.LOW);
            Path file = fixture.instances().resolve(HostReportThread.fileName());
            until(() -> Files.exists(file));
            JsonNode volumes = read(file).get("volumes");
            assertThat(volumes).hasSize(1);
            assertThat(Path.of(volumes.get(0).get("path").asText())).exists();
            assertThat(volumes.get(0).get("capacity_bytes").asLong()).isPositive();
        }
    }

    @Test
    void withoutAnIntervalThereIsNeitherFileNorThread() throws Exception {
        try (BackendFixture fixture = new BackendFixture(directory)) {
            LavaStateBackend silent =
                    fixture.newLava(true).set(LavaOptions.HOST_REPORT_INTERVAL, Duration.ZERO);
            fixture.use(silent).create(BackendFixture.ALL);
            fixture.use(reported(fixture)).create(BackendFixture.ALL);
            assertThat(threads()).as("the first backend decides").isEmpty();
            assertThat(fixture.instances().resolve(HostReportThread.fileName())).doesNotExist();
        }
    }

    @Test
    void fileIsRefreshedAndGoesWithTheLastInstance() throws Exception {
        HostReports reports = new HostReports();
        Path file = directory.resolve(HostReportThread.fileName());
        Files.createFile(directory.resolve(file.getFileName() + ".tmp")); // left by a kill
        for (int life = 0; life < 3; life++) {
            try (LavaInstance one = instance("one" + life);
                    LavaInstance two = instance("two" + life)) {
                HostReports.Registration first = reports.add(one, "job", "op", directory, OFTEN);
                until(() -> Files.exists(file));
                HostReports.Registration second =
                        reports.add(two, "job2", "op2", directory.resolve("no"), Duration.ZERO);
                until(() -> read(file).get("instances").size() == 2);
                JsonNode row = read(file).get("instances").get(0);
                assertThat(row.get("directory").asText()).isEqualTo("one" + life);
                assertThat(row.get("job").asText()).isEqualTo("job");
                assertThat(row.get("operator").asText()).isEqualTo("op");
                assertThat(row.get("stall_us").isNumber()).isTrue();
                long before = read(file).get("written_ms").asLong();
                until(() -> read(file).get("written_ms").asLong() > before);
                first.close();
                first.close();
                until(() -> read(file).get("instances").size() == 1);
                second.close();
                assertThat(file).doesNotExist();
            }
            noThread();
        }
        try (java.util.stream.Stream<Path> left = Files.list(directory)) {
            assertThat(left.map(path -> path.getFileName().toString()))
                    .noneMatch(name -> name.startsWith("lava-host"));
        }
    }

    @Test
    void directoryThatCannotBeWrittenDisturbsNobody() throws Exception {
        Path none = Files.createFile(directory.resolve("a-file"));
        HostReports reports = new HostReports();
        try (LavaInstance one = instance("one")) {
            HostReports.Registration registration = reports.add(one, "job", "op", none, OFTEN);
            HostReportThread thread = reports.thread();
            until(thread::hasWarned);
            assertThat(threads()).as("it tries again").isNotEmpty();
            registration.close();
        }
        noThread();
    }

    @Test
    void lineSaysTheEssentials() throws Exception {
        try (LavaInstance one = instance("one")) {
            List<ReportedInstance> all = List.of(new ReportedInstance(one, "job", "op"));
            HostPage page = HostPage.read(all);
            assertThat(HostPage.read(all).line(page))
                    .startsWith("Lava: 1 instances; native memory ")
                    .contains(" of 32 MiB; ", "cache hit ratio -", "stalls 0.0 s");
        }
    }

    private LavaInstance instance(String name) throws Exception {
        Path home = Files.createDirectories(directory.resolve(name));
        LavaDB.loadLibrary(Files.createDirectories(directory.resolve("library")).toFile());
        Lease lease = Host.acquire(32 << 20, 0.5);
        PosixFiles files = new PosixFiles(Files.createDirectory(home.resolve("db")));
        LavaDB db = files.open(new DBOptions().setPartitionLast(7), lease, List.of());
        return new LavaInstance(db, lease, home.toFile(), files, 1, KeyGroupRange.of(0, 7), 0);
    }

    private static JsonNode read(Path file) throws Exception {
        return new ObjectMapper().readTree(Files.readAllBytes(file));
    }

    private static List<Thread> threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().equals(HostReportThread.NAME))
                .collect(java.util.stream.Collectors.toList());
    }

    private static void noThread() throws Exception {
        until(() -> threads().isEmpty());
    }

    private static void until(Callable<Boolean> done) throws Exception {
        for (int i = 0; i < 6000 && !done.call(); ++i) {
            Thread.sleep(5);
        }
        assertThat(done.call()).isTrue();
    }
}
