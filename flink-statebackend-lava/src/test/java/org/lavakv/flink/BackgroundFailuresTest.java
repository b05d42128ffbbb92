// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.lavakv.flink.testing.BackendFixture.ALL;

import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.util.ExceptionUtils;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.lavakv.LavaDB;
import org.lavakv.LavaDBException;
import org.lavakv.Snapshot;
import org.lavakv.Status;
import org.lavakv.flink.metrics.LavaMetrics;
import org.lavakv.flink.testing.BackendFixture;
import org.lavakv.flink.testing.LogLines;
import org.lavakv.flink.testing.RecordingMetricGroup;

/** Problems of background jobs are reported by the TaskManager's log, a metric, and checkpoints. */
@Timeout(120)
class BackgroundFailuresTest {

    private static final String LOG = "org.lavakv.flink.host.BackgroundEventLog";
    private static final int KEYS = 100;

    @TempDir Path root;

    private BackendFixture fixture;
    private LavaKeyedStateBackend<Integer> backend;

    @BeforeEach
    void open() throws Exception {
        fixture = new BackendFixture(root);
        fixture.use(
                fixture.newLava(true)
                        .set(LavaConfigurableOptions.MEMTABLE_SIZE, MemorySize.parse("1mb")));
        backend = (LavaKeyedStateBackend<Integer>) fixture.create(ALL);
    }

    @AfterEach
    void close() throws Exception {
        fixture.close();
    }

    private LavaDB db() {
        return backend.instance().db();
    }

    private void write(int from) throws Exception {
        ValueState<String> state = BackendFixture.value(backend);
        for (int key = from; key < from + KEYS; key++) {
            backend.setCurrentKey(key);
            state.update("value of " + key);
        }
        db().flush();
    }

    private Path damage(String end) throws Exception {
        List<Path> files = BackendFixture.filesIn(fixture.instanceDirectories().get(0));
        Path file =
                files.stream()
                        .filter(path -> path.toString().endsWith(end))
                        .findFirst()
                        .orElseThrow();
        try (RandomAccessFile bytes = new RandomAccessFile(file.toFile(), "rw")) {
            long at = 40;
            bytes.seek(at);
            int old = bytes.read();
            bytes.seek(at);
            bytes.write(old ^ 1);
        }
        return file;
    }

    private static void awaitLines(LogLines log, int count) throws Exception {
        while (log.lines().size() < count) {
            Thread.sleep(5);
        }
    }

    @Test
    void aDamagedFileThatACompactionMeetsIsLoggedOnceAndFailsTheCheckpoint() throws Exception {
        Map<String, Gauge<?>> gauges = gauges();
        write(0);
        Path damaged = damage(".ksst");
        write(KEYS);
        try (LogLines log = new LogLines(LOG, true)) {
            assertThatThrownBy(() -> backend.compact())
                    .isInstanceOfSatisfying(
                            LavaDBException.class,
                            e -> assertThat(e.getCode()).isEqualTo(Status.Code.CORRUPTION));
            awaitLines(log, 1);
            String line = log.lines().get(0);
            assertThat(line)
                    .startsWith("ERROR")
                    .contains(damaged.toString(), "offset", "operator")
                    .contains(BackendFixture.VALUE.getName());
            assertThatThrownBy(() -> fixture.checkpoint(backend, 1))
                    .satisfies(
                            e ->
                                    assertThat(ExceptionUtils.stringifyException(e))
                                            .contains(damaged.getFileName().toString(), "offset")
                                            .contains(BackendFixture.VALUE.getName()));
            assertThat((Long) gauges.get(".lava.damaged-files").getValue()).isEqualTo(1);
            // Undamaged data can still be used.
            ValueState<String> state = BackendFixture.value(backend);
            backend.setCurrentKey(KEYS + 1);
            assertThat(state.value()).isEqualTo("value of " + (KEYS + 1));
            assertThatThrownBy(() -> backend.compact()).isInstanceOf(LavaDBException.class);
            fixture.close(backend);
            assertThat(log.lines()).as("it is told once").hasSize(1);
        }
    }

    private Map<String, Gauge<?>> gauges() {
        RecordingMetricGroup group = new RecordingMetricGroup();
        new LavaMetrics(backend.instance(), group, true);
        return group.gauges();
    }

    /** No file can be created in the instance's directory until the directory is restored. */
    @Test
    void aDiskThatIsAwayIsLoggedOnceWhenItBeginsAndOnceWhenItEnds() throws Exception {
        write(0);
        Path directory =
                Files.list(fixture.instanceDirectories().get(0))
                        .filter(Files::isDirectory)
                        .findFirst()
                        .orElse(fixture.instanceDirectories().get(0));
        Path away = directory.resolveSibling(directory.getFileName() + ".away");
        try (LogLines log = new LogLines(LOG, true)) {
            Files.move(directory, away);
            for (int i = 0; i < 3; i++) {
                assertThatThrownBy(() -> write(0));
            }
            Files.move(away, directory);
            backend.setCurrentKey(1);
            BackendFixture.value(backend).update("again");
            db().flush();
            awaitLines(log, 2);
            fixture.close(backend);
            assertThat(log.lines()).hasSize(2);
            assertThat(log.lines().get(0)).startsWith("WARN").contains("No such file");
            assertThat(log.lines().get(1)).startsWith("INFO").contains("work again");
        }
    }

    @Test
    void whatIsLeakedIsLoggedByTheTaskManagersLogger() throws Exception {
        List<Snapshot> left = new ArrayList<>();
        try (LogLines log = new LogLines(LavaDB.class.getName(), true)) {
            left.add(db().getSnapshot());
            fixture.close(backend);
            left.forEach(Snapshot::close);
            assertThat(log.lines()).hasSize(1);
            assertThat(log.lines().get(0))
                    .startsWith("WARN")
                    .contains("with 1 snapshot of it open");
        }
    }
}
