// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.lavakv.flink.testing.BackendFixture.ALL;
import static org.lavakv.flink.testing.BackendFixture.remote;
import static org.lavakv.flink.testing.BackendFixture.value;

import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.RunnableFuture;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.runtime.checkpoint.CheckpointOptions;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.memory.MemCheckpointStreamFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.lavakv.flink.testing.BackendFixture;
import org.lavakv.flink.testing.LogLines;
import org.lavakv.flink.testing.RecordingMetricGroup;

/** Each checkpoint is described by one log line, and its gauges show the same figures. */
@Timeout(120)
class CheckpointReportTest {

    private static final String LOGGER = "org.lavakv.flink.snapshot.SnapshotOperation";
    private static final int LARGE = 5000;

    private static final Pattern LINE =
            Pattern.compile(
                    "Checkpoint (\\d+) of (.*): sealed (\\d+) bytes of memtables, which became"
                            + " (\\d+) bytes of files; uploaded (\\d+) files of (\\d+) bytes, (\\d+)"
                            + " of them in (\\d+) packs; reused (\\d+) files of (\\d+) bytes\\."
                            + " Including descriptions, (\\d+) bytes are new, of (\\d+) bytes in"
                            + " all\\. The synchronous part took (\\d+) us, the flush (\\d+) ms,"
                            + " the upload (\\d+) ms, and the whole checkpoint (\\d+) ms\\.");

    @TempDir Path root;
    private LogLines log;
    private final RecordingMetricGroup metrics = new RecordingMetricGroup();
    private BackendFixture fixture;
    private LavaKeyedStateBackend<Integer> backend;

    @BeforeEach
    void open() throws Exception {
        log = new LogLines(LOGGER);
        fixture = new BackendFixture(root).useMetrics(metrics);
        fixture.use(
                fixture.newLava(true)
                        .set(
                                LavaConfigurableOptions.VALUE_SEPARATION_THRESHOLD,
                                new MemorySize(LARGE)));
        backend = (LavaKeyedStateBackend<Integer>) fixture.create(ALL);
    }

    @AfterEach
    void close() throws Exception {
        log.close();
        fixture.close();
    }

    private void write(int key, int length) throws IOException {
        backend.setCurrentKey(key);
        value(backend).update("x".repeat(length));
    }

    private long sealable() {
        return backend.instance().db().getStatistics().memtableActiveBytes();
    }

    private long liveFiles() {
        return backend.instance().db().getStatistics().liveFiles();
    }

    private long liveBytes() {
        return backend.instance().db().getStatistics().liveFileBytes();
    }

    private long gauge(String name) {
        return (Long) metrics.gauges().get(".lava.checkpoint." + name).getValue();
    }

    /** The numbers of the last line, after checking the number of lines. */
    private long[] numbers(int lines) {
        assertThat(log.lines()).hasSize(lines);
        Matcher line = LINE.matcher(log.lines().get(lines - 1));
        assertThat(line.matches()).as(log.lines().get(lines - 1)).isTrue();
        assertThat(line.group(2)).isEqualTo(backend.instance().files().toString());
        long[] numbers = new long[line.groupCount() + 1];
        for (int i = 1; i < numbers.length; i++) {
            numbers[i] = i == 2 ? 0 : Long.parseLong(line.group(i));
        }
        assertThat(numbers[16])
                .as("all that it took, in milliseconds")
                .isGreaterThanOrEqualTo(numbers[13] / 1000 + numbers[14] + numbers[15]);
        assertThat(gauge("uploaded-files")).isEqualTo(numbers[5]);
        assertThat(gauge("uploaded-bytes")).isEqualTo(numbers[6]);
        assertThat(gauge("reused-files")).isEqualTo(numbers[9]);
        assertThat(gauge("reused-bytes")).isEqualTo(numbers[10]);
        return numbers;
    }

    private KeyedStateHandle checkpoint(long id) throws Exception {
        return remote(fixture.checkpoint(backend, id));
    }

    @Test
    void lineHasTheNumbersOfTheCheckpoint() throws Exception {
        assertThat(gauge("uploaded-files")).isZero();
        assertThat(gauge("reused-bytes")).isZero();
        for (int key = 0; key < 100; key++) {
            write(key, 10);
        }
        write(1000, 2 * LARGE);
        long sealed = sealable();
        KeyedStateHandle first = checkpoint(1);
        long[] numbers = numbers(1);
        long files = liveFiles();
        long bytes = liveBytes();
        assertThat(files).isEqualTo(2);
        assertThat(numbers).startsWith(0, 1, 0, sealed, bytes, 2, bytes, 2, 1, 0, 0);
        assertThat(numbers[11]).isEqualTo(first.getCheckpointedSize()).isGreaterThan(bytes);
        assertThat(numbers[12]).isEqualTo(first.getStateSize()).isEqualTo(numbers[11]);

        backend.notifyCheckpointComplete(1);
        write(7, 20);
        sealed = sealable();
        KeyedStateHandle second = checkpoint(7);
        numbers = numbers(2);
        long fresh = liveBytes() - bytes;
        assertThat(numbers).startsWith(0, 7, 0, sealed, fresh, 1, fresh, 0, 0, 2, bytes);
        assertThat(numbers[11]).isEqualTo(second.getCheckpointedSize()).isGreaterThan(fresh);
        assertThat(numbers[12])
                .isEqualTo(second.getStateSize())
                .isEqualTo(bytes + second.getCheckpointedSize());

        backend.notifyCheckpointComplete(7);
        checkpoint(8);
        numbers = numbers(3);
        assertThat(numbers).startsWith(0, 8, 0, 0, 0, 0, 0, 0, 0, 3, bytes + fresh);
        assertThat(numbers[11]).as("descriptions").isPositive();
    }

    /** Dead bytes in a pack are stored, but do not count as reused files. */
    @Test
    void deadBytesOfPacksAreNotReused() throws Exception {
        for (int key = 0; key < 20; key++) {
            write(key, LARGE);
        }
        KeyedStateHandle first = checkpoint(1);
        long dead = liveBytes();
        backend.notifyCheckpointComplete(1);
        write(1, LARGE);
        backend.compact();
        KeyedStateHandle second = checkpoint(2);
        long[] numbers = numbers(2);
        assertThat(numbers[5] + numbers[9]).as("files").isEqualTo(liveFiles());
        assertThat(numbers[6] + numbers[10]).as("bytes").isEqualTo(liveBytes());
        assertThat(numbers[9]).as("reused").isEqualTo(1);
        dead -= numbers[10];
        assertThat(dead).as("of the key file that was compacted").isPositive();
        assertThat(second.getStateSize() - second.getCheckpointedSize())
                .isEqualTo(numbers[10] + dead);
        assertThat(first.getStateSize()).isGreaterThan(numbers[10] + dead);
    }

    @Test
    void checkpointThatFailsSaysNothingAndIsNotTheLast() throws Exception {
        write(1, 10);
        checkpoint(1);
        long[] before = numbers(1);
        write(2, 10);
        RunnableFuture<SnapshotResult<KeyedStateHandle>> future =
                backend.snapshot(
                        2,
                        0,
                        new MemCheckpointStreamFactory(1),
                        CheckpointOptions.forCheckpointWithDefaultLocation());
        future.run();
        assertThatThrownBy(future::get).hasMessageContaining("Size of the state is larger");
        assertThat(numbers(1)).isEqualTo(before);
    }
}
