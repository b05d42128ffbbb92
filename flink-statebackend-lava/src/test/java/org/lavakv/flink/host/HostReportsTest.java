// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.host;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
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
import org.lavakv.TableHandle;
import org.lavakv.TableOptions;
import org.lavakv.flink.LavaOptions;
import org.lavakv.flink.LavaStateBackend;
import org.lavakv.flink.engine.LavaInstance;
import org.lavakv.flink.engine.Separation;
import org.lavakv.flink.storage.PosixFiles;
import org.lavakv.flink.testing.BackendFixture;
import org.lavakv.flink.testing.LogLines;
import org.lavakv.local.OwnedPath;

/** The file on the host: its content, and the lifetime of the file and of its thread. */
class HostReportsTest {

    private static final Duration OFTEN = Duration.ofMillis(5);

    @TempDir private Path directory;

    private static LavaStateBackend reported(BackendFixture fixture) throws Exception {
        return fixture.newLava(true).set(LavaOptions.HOST_REPORT_INTERVAL, Duration.ofMinutes(1));
    }

    @Test
    void pageTellsOfTheOpenBackends() throws Exception {
        try (BackendFixture fixture = new BackendFixture(directory)) {
            AbstractKeyedStateBackend<Integer> backend =
                    fixture.use(reported(fixture)).create(BackendFixture.ALL);
            Path file = awaitPage(fixture.instances());
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
            JsonNode volumes = pageOnVolumes(fixture).get("volumes");
            assertThat(volumes).hasSize(1);
            assertThat(Path.of(volumes.get(0).get("path").asText())).exists();
            assertThat(volumes.get(0).get("capacity_bytes").asLong()).isPositive();
        }
    }

    /** Uses the file that the native inspect_test reads as a page. */
    @Test
    void pageHasTheNamesThatInspectReads() throws Exception {
        try (BackendFixture fixture = new BackendFixture(directory)) {
            JsonNode page = pageOnVolumes(fixture);
            JsonNode example = read(Path.of("../native/tools/inspect/data/host-page.json"));
            assertThat(example.get("format").asInt()).isEqualTo(HostPage.FORMAT);
            assertThat(names("", page)).isEqualTo(names("", example));
        }
    }

    /** The page written while a backend of the fixture is open on LavaFS. */
    private static JsonNode pageOnVolumes(BackendFixture fixture) throws Exception {
        LavaStateBackend onVolumes =
                reported(fixture).set(LavaOptions.FILE_SYSTEM, LavaOptions.FileSystemType.LAVAFS);
        fixture.use(onVolumes).create(BackendFixture.LOW);
        return read(awaitPage(fixture.instances()));
    }

    /** The paths of all fields, and whether they are text. */
    private static List<String> names(String where, JsonNode node) {
        List<String> names = new ArrayList<>();
        if (node.isObject()) {
            node.fields()
                    .forEachRemaining(
                            field ->
                                    names.addAll(
                                            names(where + "." + field.getKey(), field.getValue())));
        } else if (node.isArray()) {
            node.forEach(row -> names.addAll(names(where + "[]", row)));
        } else {
            names.add(where + (node.isTextual() ? ": text" : ""));
        }
        return names;
    }

    @Test
    void spaceAndSegmentsAreTold() throws Exception {
        try (LavaInstance one = instance("one")) {
            HostPage page = HostPage.read(List.of(new ReportedInstance(one, "job", "op")));
            JsonNode json = new ObjectMapper().readTree(page.json(null, 0, 1));
            Host.setSpaceLimit(123 << 20);
            JsonNode limited =
                    new ObjectMapper().readTree(HostPage.read(List.of()).json(page, 0, 1));
            Host.setSpaceLimit(0);
            assertThat(json.at("/space/limit_bytes").asLong()).isZero();
            assertThat(limited.at("/space/limit_bytes").asLong()).isEqualTo(123 << 20);
            assertThat(json.at("/space/live_bytes").asLong())
                    .isLessThanOrEqualTo(json.at("/space/used_bytes").asLong());
            assertThat(json.at("/cache/index_bytes_max").asLong())
                    .isBetween(1L, json.at("/cache/capacity_bytes").asLong());
            for (String number : List.of("used_bytes", "hits", "misses")) {
                assertThat(
                                json.at("/cache/index/" + number).asLong()
                                        + json.at("/cache/data/" + number).asLong())
                        .isEqualTo(json.at("/cache/" + number).asLong());
            }
        }
    }

    @Test
    void memoryThatStaysBeyondTheBudgetIsWarnedOf() throws Exception {
        HostReports reports = new HostReports();
        try (LavaInstance one = instance("one", 1)) { // takes more than a byte
            HostReports.Registration registration = reports.add(one, "job", "op", directory, OFTEN);
            HostReportThread thread = reports.thread();
            until(thread::hasWarnedOfBudget);
            JsonNode memory = read(awaitPage(directory)).get("memory");
            assertThat(memory.get("over_budget_bytes").asLong())
                    .isEqualTo(memory.get("charged_bytes").asLong() - 1)
                    .isPositive();
            assertThat(HostPage.read(List.of()).overBudgetLine())
                    .contains("above its budget of 0 KiB");
            registration.close();
        }
        try (LavaInstance one = instance("two")) {
            assertThat(HostPage.read(List.of()).isOverBudget()).isFalse();
        }
        noThread();
    }

    @Test
    void decisionsAboutValuesAreLogged() throws Exception {
        HostReports reports = new HostReports();
        try (LogLines log = new LogLines(HostReportThread.class.getName());
                LavaInstance one = instance("one")) {
            TableHandle values =
                    one.db().createTable("values", new TableOptions().setSeparationBytes(100));
            byte[] value = new byte[1000];
            for (int round = 0; round < 2; round++) {
                for (byte key = 0; key < 100; key += 1 + round) {
                    byte[] bytes = {0, key};
                    one.db().put(values, bytes, 0, 2, 0, value, 0, value.length);
                }
                one.db().flush();
            }
            one.db().compactAll();
            HostReports.Registration registration = reports.add(one, "job", "op", directory, OFTEN);
            until(() -> log.lines().stream().filter(HostReportsTest::isDecision).count() == 2);
            String begin = "Values in " + one.directory().getName();
            assertThat(log.lines())
                    .filteredOn(HostReportsTest::isDecision)
                    .allMatch(line -> line.startsWith(begin + ": compaction of L0 to L1, "))
                    .anyMatch(line -> line.contains("of 100000 bytes 0 are garbage"));
            registration.close();
        }
        noThread();
    }

    private static boolean isDecision(String line) {
        return line.startsWith("Values in ");
    }

    @Test
    void oneReportBeyondTheBudgetIsNoWarningNorIsTheThird() {
        OverBudget over = new OverBudget();
        for (int time = 0; time < 2; time++) {
            assertThat(over.isToWarn(true)).isFalse();
            assertThat(over.isToWarn(true)).isTrue();
            assertThat(over.isToWarn(true)).isFalse();
            assertThat(over.isToWarn(true)).isFalse();
            assertThat(over.isToWarn(false)).isFalse();
            assertThat(over.isToWarn(true)).isFalse();
            assertThat(over.isToWarn(false)).isFalse();
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
            assertThat(pages(fixture.instances())).isEmpty();
        }
    }

    @Test
    void fileIsRefreshedAndGoesWithTheLastInstance() throws Exception {
        HostReports reports = new HostReports();
        for (int life = 0; life < 3; life++) {
            try (LavaInstance one = instance("one" + life);
                    LavaInstance two = instance("two" + life)) {
                HostReports.Registration first = reports.add(one, "job", "op", directory, OFTEN);
                Path file = awaitPage(directory);
                HostReports.Registration second =
                        reports.add(two, "job2", "op2", directory.resolve("no"), Duration.ZERO);
                until(() -> read(file).get("instances").size() == 2);
                JsonNode row = read(file).get("instances").get(0);
                assertThat(row.get("directory").asText()).isEqualTo(one.directory().getName());
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
        return instance(name, 32 << 20);
    }

    private static Path awaitPage(Path in) throws Exception {
        until(() -> pages(in).size() == 1);
        return pages(in).get(0);
    }

    /** The complete pages of this process. */
    private static List<Path> pages(Path in) throws Exception {
        String begin = "lava-host-" + ProcessHandle.current().pid() + "-";
        try (java.util.stream.Stream<Path> files = Files.list(in)) {
            return files.filter(file -> file.getFileName().toString().startsWith(begin))
                    .filter(file -> file.toString().endsWith(".json"))
                    .collect(java.util.stream.Collectors.toList());
        }
    }

    private LavaInstance instance(String name, long leaseBytes) throws Exception {
        OwnedPath home = OwnedPath.claim(directory, name, "");
        Files.createDirectory(home.path());
        LavaDB.loadLibrary(Files.createDirectories(directory.resolve("library")).toFile());
        Lease lease = Host.acquire(leaseBytes, 0.5);
        PosixFiles files = new PosixFiles(Files.createDirectory(home.path().resolve("db")));
        LavaDB db =
                files.open(
                        new DBOptions().setPartitionLast(7).setValueDecisionsMax(10),
                        lease,
                        List.of());
        return new LavaInstance(
                db, lease, home, files, 1, KeyGroupRange.of(0, 7), Separation.of(0));
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
