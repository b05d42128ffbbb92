// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.changelog;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntPredicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.CRC32C;
import org.apache.flink.api.common.JobID;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.IllegalConfigurationException;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.metrics.groups.UnregisteredMetricsGroup;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;
import org.apache.flink.runtime.state.changelog.SequenceNumber;
import org.apache.flink.runtime.state.changelog.StateChange;
import org.apache.flink.runtime.state.changelog.StateChangelogWriter;
import org.apache.flink.util.CloseableIterator;
import org.apache.flink.util.InstantiationUtil;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The contract of the changelog's writers, uploads and readers with Flink and with each other. */
@Timeout(60)
class LavaChangelogTest {
    private static final JobID JOB = new JobID(1, 2);
    private static final KeyGroupRange GROUPS = KeyGroupRange.of(0, 9);
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    @TempDir Path directory;

    private final Configuration config = new Configuration();
    private final TestMailbox mailbox = new TestMailbox();
    private boolean localBackups;
    private final List<LavaChangelogStorage> opened = new ArrayList<>();
    private final List<TestFiles> written = new ArrayList<>();

    @BeforeEach
    void beside() {
        config.set(CheckpointingOptions.CHECKPOINTS_DIRECTORY, directory.toUri().toString());
        config.set(ChangelogOptions.UPLOAD_RETRY_DELAY, Duration.ofMillis(1));
    }

    @AfterEach
    void close() throws Exception {
        opened.forEach(LavaChangelogStorage::close);
        for (TestFiles files : written) {
            files.hang.countDown();
            await(() -> files.underWay.get() == 0);
        }
    }

    @Test
    void changesOfSeveralOperatorsShareAFileAndAreReadInTheirOrder() throws Exception {
        config.set(ChangelogOptions.BATCH_DELAY, Duration.ofMillis(200));
        LavaChangelogStorage storage = open();
        StateChangelogWriter<ChangelogStateHandleStreamImpl> one = writer(storage);
        StateChangelogWriter<ChangelogStateHandleStreamImpl> other = writer(storage);
        one.appendMeta(bytes("about a"));
        one.append(3, bytes("a3"));
        other.append(9, bytes("b9"));
        one.append(3, bytes("a3 again"));
        one.append(0, new byte[0]);
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> first =
                one.persist(one.initialSequenceNumber(), 1);
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> second =
                other.persist(other.initialSequenceNumber(), 1);
        assertThat(read(mailbox.await(first)))
                .containsExactly("-1 about a", "3 a3", "3 a3 again", "0 ");
        assertThat(read(mailbox.await(second))).containsExactly("9 b9");
        assertThat(files()).hasSize(1);
    }

    @Test
    void aLaterCheckpointNamesWhatIsUploadedAndUploadsTheRest() throws Exception {
        StateChangelogWriter<ChangelogStateHandleStreamImpl> writer = writer(open());
        SequenceNumber begin = writer.initialSequenceNumber();
        writer.append(1, bytes("one"));
        SnapshotResult<ChangelogStateHandleStreamImpl> first = persist(writer, begin, 1);
        // Aborted: the next checkpoint needs the same changes.
        writer.reset(begin, writer.nextSequenceNumber(), 1);
        SequenceNumber between = writer.nextSequenceNumber();
        writer.append(1, bytes("two"));
        SnapshotResult<ChangelogStateHandleStreamImpl> second = persist(writer, begin, 2);
        assertThat(read(second)).containsExactly("1 one", "1 two");
        assertThat(second.getJobManagerOwnedSnapshot().getHandlesAndOffsets())
                .containsAll(first.getJobManagerOwnedSnapshot().getHandlesAndOffsets());
        assertThat(second.getJobManagerOwnedSnapshot().getCheckpointedSize())
                .isLessThan(second.getJobManagerOwnedSnapshot().getStateSize());
        assertThat(read(persist(writer, between, 3))).containsExactly("1 two");
        assertThat(files()).hasSize(2);
        assertThat(read(persist(writer, writer.nextSequenceNumber(), 4))).isEmpty();
    }

    @Test
    void manyChangesAreUploadedBeforeACheckpointAsksForThem() throws Exception {
        config.set(ChangelogOptions.PREEMPTIVE_PERSIST_THRESHOLD, MemorySize.parse("1kb"));
        StateChangelogWriter<ChangelogStateHandleStreamImpl> writer = writer(open());
        List<String> expected = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            writer.append(i % 10, bytes("change " + i + " of many".repeat(10)));
            expected.add(i % 10 + " change " + i + " of many".repeat(10));
        }
        await(() -> !files().isEmpty());
        assertThat(read(persist(writer, writer.initialSequenceNumber(), 1))).isEqualTo(expected);
    }

    @Test
    void aFileGoesWithTheLastSetInItUnlessACheckpointHasIt() throws Exception {
        StateChangelogWriter<ChangelogStateHandleStreamImpl> writer = writer(open());
        SequenceNumber begin = writer.initialSequenceNumber();
        writer.append(1, bytes("one"));
        SequenceNumber second = writer.nextSequenceNumber();
        writer.append(1, bytes("two"));
        persist(writer, begin, 1);
        assertThat(files()).hasSize(1);
        writer.truncate(second);
        assertThat(read(persist(writer, second, 2))).containsExactly("1 two");
        writer.truncate(writer.nextSequenceNumber());
        await(() -> files().isEmpty());

        SequenceNumber third = writer.nextSequenceNumber();
        writer.append(1, bytes("three"));
        SnapshotResult<ChangelogStateHandleStreamImpl> confirmed = persist(writer, third, 3);
        writer.confirm(third, writer.nextSequenceNumber(), 3);
        SequenceNumber fourth = writer.nextSequenceNumber();
        writer.append(1, bytes("four"));
        persist(writer, third, 4);
        assertThat(files()).hasSize(2);
        writer.truncateAndClose(third);
        await(() -> files().size() == 1);
        assertThat(read(confirmed)).containsExactly("1 three");
        assertThat(fourth).isNotEqualTo(third);
    }

    /**
     * Otherwise Flink would restore its local copy of the state, complete or not, without other
     * changes.
     */
    @Test
    void whatIsKeptLocallySendsToTheCheckpoint() throws Exception {
        localBackups = true;
        StateChangelogWriter<ChangelogStateHandleStreamImpl> writer = writer(open());
        SequenceNumber begin = writer.initialSequenceNumber();
        assertThat(persist(writer, begin, 1).getTaskLocalSnapshot()).isNull();
        writer.append(1, bytes("one"));
        SnapshotResult<ChangelogStateHandleStreamImpl> result = persist(writer, begin, 2);
        ChangelogStateHandleStreamImpl local =
                InstantiationUtil.clone(result.getTaskLocalSnapshot());
        assertThat(local.getStateSize()).isPositive();
        assertThatThrownBy(() -> read(SnapshotResult.of(local)))
                .hasStackTraceContaining("The checkpoint itself is tried next");
        local.discardState();
        assertThat(read(result)).containsExactly("1 one");
    }

    @Test
    void whatIsTruncatedIsNotToBeHad() throws Exception {
        StateChangelogWriter<ChangelogStateHandleStreamImpl> writer = writer(open());
        SequenceNumber begin = writer.initialSequenceNumber();
        writer.append(1, bytes("one"));
        SequenceNumber end = writer.nextSequenceNumber();
        writer.truncate(end);
        assertThatThrownBy(() -> writer.persist(begin, 7)).hasMessageContaining("Checkpoint 7");
        assertThatThrownBy(() -> writer.persist(end.next(), 7))
                .hasMessageContaining("Checkpoint 7");
        assertThatThrownBy(() -> writer.truncate(end.next())).hasMessageContaining("ends at");
        assertThatThrownBy(() -> writer.confirm(begin, end.next(), 7))
                .hasMessageContaining("Checkpoint 7");
    }

    @Test
    void anUploadThatFailsIsTriedAgain() throws Exception {
        TestFiles files = failing(2);
        StateChangelogWriter<ChangelogStateHandleStreamImpl> writer = writer(open(files));
        writer.append(1, bytes("one"));
        assertThat(read(persist(writer, writer.initialSequenceNumber(), 1)))
                .containsExactly("1 one");
        assertThat(files.attempts).hasValue(3);
    }

    @Test
    void aCheckpointWhoseUploadsAllFailSaysWhyAndTheNextOneHasEverything() throws Exception {
        StateChangelogWriter<ChangelogStateHandleStreamImpl> writer = writer(open(failing(3)));
        SequenceNumber begin = writer.initialSequenceNumber();
        writer.append(1, bytes("one"));
        assertThatThrownBy(() -> persist(writer, begin, 1))
                .isInstanceOf(ExecutionException.class)
                .cause()
                .hasMessageContaining("operator")
                .hasMessageContaining(directory.getFileName().toString())
                .hasMessageContaining("the storage is away");
        writer.append(1, bytes("two"));
        assertThat(read(persist(writer, begin, 2))).containsExactly("1 one", "1 two");
    }

    @Test
    void changesThatCannotBeUploadedForLongFailTheTask() throws Exception {
        config.set(ChangelogOptions.PREEMPTIVE_PERSIST_THRESHOLD, MemorySize.parse("1kb"));
        config.set(ChangelogOptions.BATCH_SIZE, MemorySize.parse("1kb"));
        config.set(ChangelogOptions.IN_FLIGHT_LIMIT, MemorySize.parse("4kb"));
        StateChangelogWriter<ChangelogStateHandleStreamImpl> writer =
                writer(open(failing(Integer.MAX_VALUE)));
        assertThatThrownBy(
                        () -> {
                            for (int i = 0; i < 1000; i++) {
                                writer.append(1, new byte[1024]);
                                while (mailbox.tryYield()) {}
                                Thread.sleep(2);
                            }
                        })
                .isInstanceOf(IOException.class)
                .hasMessageContaining("Check the storage")
                .hasStackTraceContaining("the storage is away");
    }

    @Test
    void anUploadThatHangsIsOvertakenAndWhatItLeavesIsDeleted() throws Exception {
        config.set(ChangelogOptions.UPLOAD_TIMEOUT, Duration.ofMillis(50));
        TestFiles files = new TestFiles(attempt -> false, attempt -> attempt == 1);
        StateChangelogWriter<ChangelogStateHandleStreamImpl> writer = writer(open(files));
        writer.append(1, bytes("one"));
        SnapshotResult<ChangelogStateHandleStreamImpl> result =
                persist(writer, writer.initialSequenceNumber(), 1);
        files.hang.countDown();
        await(() -> files.attempts.get() == 2 && files.underWay.get() == 0 && files().size() == 1);
        assertThat(read(result)).containsExactly("1 one");
    }

    /** Also with a long timeout of uploads. */
    @Test
    void whatIsUploadedIsNotKeptInMemory() throws Exception {
        config.set(ChangelogOptions.UPLOAD_TIMEOUT, Duration.ofHours(1));
        List<WeakReference<ChangeSet>> written = new ArrayList<>();
        ChangeFiles files =
                new ChangeFiles(ChangelogSettings.of(JOB, config)) {
                    @Override
                    List<UploadedChanges> write(List<ChangeSet> sets) throws IOException {
                        sets.forEach(set -> written.add(new WeakReference<>(set)));
                        return super.write(sets);
                    }
                };
        StateChangelogWriter<ChangelogStateHandleStreamImpl> writer = writer(open(files));
        writer.append(1, bytes("one"));
        persist(writer, writer.initialSequenceNumber(), 1);
        assertThat(written).hasSize(1);
        await(
                () -> {
                    System.gc();
                    return written.get(0).get() == null;
                });
    }

    @Test
    void aStorageThatNeverAnswersFailsTheCheckpoint() throws Exception {
        config.set(ChangelogOptions.UPLOAD_TIMEOUT, Duration.ofMillis(20));
        StateChangelogWriter<ChangelogStateHandleStreamImpl> writer = writer(open(hanging()));
        writer.append(1, bytes("one"));
        assertThatThrownBy(() -> persist(writer, writer.initialSequenceNumber(), 1))
                .hasStackTraceContaining("None of 3 attempts")
                .hasStackTraceContaining(ChangelogOptions.UPLOAD_TIMEOUT.key());
    }

    @Test
    void tasksTakeNoInputWhileTooMuchIsUnderUpload() throws Exception {
        config.set(ChangelogOptions.BATCH_SIZE, MemorySize.parse("1kb"));
        config.set(ChangelogOptions.PREEMPTIVE_PERSIST_THRESHOLD, MemorySize.parse("1kb"));
        config.set(ChangelogOptions.IN_FLIGHT_LIMIT, MemorySize.parse("2kb"));
        TestFiles files = hanging();
        LavaChangelogStorage storage = open(files);
        StateChangelogWriter<ChangelogStateHandleStreamImpl> writer = writer(storage);
        assertThat(storage.getAvailabilityProvider().isAvailable()).isTrue();
        writer.append(1, new byte[1024]);
        assertThat(storage.getAvailabilityProvider().isAvailable()).isTrue();
        writer.append(1, new byte[1024]);
        assertThat(storage.getAvailabilityProvider().isAvailable()).isFalse();
        Future<?> available = storage.getAvailabilityProvider().getAvailableFuture();
        files.hang.countDown();
        mailbox.await(writer.persist(writer.initialSequenceNumber(), 1));
        available.get();
        assertThat(storage.getAvailabilityProvider().isAvailable()).isTrue();
    }

    @Test
    void whatComesAfterTheTaskIsDeleted() throws Exception {
        TestFiles files = hanging();
        StateChangelogWriter<ChangelogStateHandleStreamImpl> writer = writer(open(files));
        writer.append(1, bytes("one"));
        Future<?> persist = writer.persist(writer.initialSequenceNumber(), 1);
        writer.close();
        mailbox.close();
        files.hang.countDown();
        assertThatThrownBy(persist::get).hasMessageContaining("closed");
        await(() -> files.attempts.get() == 1 && files.underWay.get() == 0 && files().isEmpty());
        assertThatThrownBy(() -> writer.append(1, bytes("two"))).hasMessageContaining("closed");
    }

    @Test
    void uploadsOfAClosedStorageFail() throws Exception {
        LavaChangelogStorage storage = open();
        StateChangelogWriter<ChangelogStateHandleStreamImpl> writer = writer(storage);
        writer.append(1, bytes("one"));
        storage.close();
        assertThatThrownBy(() -> persist(writer, writer.initialSequenceNumber(), 1))
                .hasStackTraceContaining("was closed before the upload");
    }

    @Test
    void uploadsThatWaitForAThreadFailWhenTheStorageIsClosed() throws Exception {
        config.set(ChangelogOptions.UPLOAD_THREADS, 1);
        config.set(ChangelogOptions.BATCH_DELAY, Duration.ZERO);
        LavaChangelogStorage storage = open(hanging());
        List<Future<?>> persists = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            StateChangelogWriter<ChangelogStateHandleStreamImpl> writer = writer(storage);
            writer.append(1, bytes("one"));
            persists.add(writer.persist(writer.initialSequenceNumber(), 1));
            Thread.sleep(20); // for a file of its own
        }
        storage.close();
        for (Future<?> persist : persists) {
            assertThatThrownBy(() -> mailbox.await(persist))
                    .isInstanceOf(ExecutionException.class)
                    .hasStackTraceContaining("were not uploaded");
        }
    }

    @Test
    void whatComesAfterTheStorageIsClosedIsDeleted() throws Exception {
        TestFiles files = hanging();
        files.heedsInterrupts = false;
        LavaChangelogStorage storage = open(files);
        StateChangelogWriter<ChangelogStateHandleStreamImpl> writer = writer(storage);
        writer.append(1, bytes("one"));
        Future<?> persist = writer.persist(writer.initialSequenceNumber(), 1);
        await(() -> files.attempts.get() == 1);
        storage.close();
        assertThatThrownBy(() -> mailbox.await(persist)).hasStackTraceContaining("was closed");
        files.hang.countDown();
        await(() -> files.underWay.get() == 0 && files().isEmpty());
    }

    /** One attempt fails, the others hang: the failure is reported. */
    @Test
    void whyAnAttemptFailedIsToldThoughTheLastOneHung() throws Exception {
        config.set(ChangelogOptions.UPLOAD_TIMEOUT, Duration.ofMillis(50));
        TestFiles files = new TestFiles(attempt -> attempt == 1, attempt -> attempt > 1);
        StateChangelogWriter<ChangelogStateHandleStreamImpl> writer = writer(open(files));
        writer.append(1, bytes("one"));
        assertThatThrownBy(() -> persist(writer, writer.initialSequenceNumber(), 1))
                .hasStackTraceContaining("None of 3 attempts")
                .hasStackTraceContaining("the storage is away");
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 100})
    void everyDamagedByteIsToldWithItsFile(int times) throws Exception {
        String three = "three".repeat(times);
        StateChangelogWriter<ChangelogStateHandleStreamImpl> writer = writer(open());
        SequenceNumber begin = writer.initialSequenceNumber();
        writer.append(1, bytes("one"));
        writer.append(2, bytes("two"));
        writer.nextSequenceNumber();
        writer.append(3, bytes(three));
        SnapshotResult<ChangelogStateHandleStreamImpl> result = persist(writer, begin, 1);
        Path file = files().get(0);
        byte[] whole = Files.readAllBytes(file);
        assertThat(whole.length).isLessThan(200); // compressed if it is long
        for (int at = 0; at < whole.length; at++) {
            byte[] damaged = whole.clone();
            damaged[at] ^= (byte) (1 << at % 8);
            Files.write(file, damaged);
            assertThatThrownBy(() -> read(result))
                    .as("byte %d", at)
                    .hasStackTraceContaining(file.getFileName().toString())
                    .hasStackTraceContaining("is damaged");
            Files.write(file, Arrays.copyOf(whole, at));
            assertThatThrownBy(() -> read(result)).as("cut at %d", at).isNotNull();
        }
        Files.write(file, whole);
        assertThat(read(result)).containsExactly("1 one", "2 two", "3 " + three);
    }

    @Test
    void changesAreCompressedWhereThatPaysUnlessSwitchedOff() throws Exception {
        String zeros = "0".repeat(10_000);
        byte[] noise = new byte[10_000];
        new Random(1).nextBytes(noise);
        assertThat(bytesOfFileWith(bytes(zeros))).isBetween(100L, 2_000L);
        long header = ChangeFormat.HEADER_BYTES + 3; // key group and length of the change
        assertThat(bytesOfFileWith(noise)).isEqualTo(header + noise.length);
        config.setString("state.changelog.dstl.dfs.compression.enabled", "false");
        assertThat(bytesOfFileWith(bytes(zeros))).isEqualTo(header + zeros.length());
    }

    private long bytesOfFileWith(byte[] change) throws Exception {
        StateChangelogWriter<ChangelogStateHandleStreamImpl> writer = writer(open());
        writer.append(3, change);
        SnapshotResult<ChangelogStateHandleStreamImpl> result =
                persist(writer, writer.initialSequenceNumber(), 1);
        try (CloseableIterator<StateChange> changes =
                new LavaChangelogStorageView()
                        .createReader()
                        .getChanges(result.getJobManagerOwnedSnapshot())) {
            assertThat(changes.next().getChange()).isEqualTo(change);
            assertThat(changes.hasNext()).isFalse();
        }
        return result.getStateSize();
    }

    /** A checksum is no proof: a damaged file may contain a matching checksum. */
    @ParameterizedTest
    @ValueSource(ints = {0, 9_999, 10_003, 10_005, Integer.MAX_VALUE})
    void aCompressedSetHasTheLengthThatItSays(int length) throws Exception {
        ChangeSet set = new ChangeSet();
        set.add(3, new byte[10_000]); // 10,003 bytes as stored
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ChangeFormat.write(set, true, out);
        ByteBuffer file = ByteBuffer.wrap(out.toByteArray());
        file.putInt(16, length);
        CRC32C crc = new CRC32C();
        crc.update(file.array(), 0, 20);
        file.putInt(20, (int) crc.getValue());
        ThrowingCallable read =
                () ->
                        ChangeFormat.read(
                                        new ByteArrayInputStream(file.array()),
                                        file.capacity(),
                                        "a file")
                                .next();
        if (length == set.length()) {
            assertThatCode(read).doesNotThrowAnyException();
        } else {
            assertThatThrownBy(read).hasStackTraceContaining("a file is damaged");
        }
    }

    @Test
    void optionsAreThoseOfFlinksStorageOrItsOwnAndAreChecked() {
        config.setString("state.changelog.dstl.dfs.upload.max-attempts", "7");
        assertThat(ChangelogSettings.of(JOB, config).attemptsMax).isEqualTo(7);
        config.set(ChangelogOptions.UPLOAD_ATTEMPTS, 2);
        assertThat(ChangelogSettings.of(JOB, config).attemptsMax).isEqualTo(2);
        config.set(ChangelogOptions.UPLOAD_ATTEMPTS, 0);
        assertThatThrownBy(() -> ChangelogSettings.of(JOB, config))
                .isInstanceOf(IllegalConfigurationException.class)
                .hasMessageContaining("upload.max-attempts");
        config.set(ChangelogOptions.UPLOAD_ATTEMPTS, 1);
        config.set(ChangelogOptions.IN_FLIGHT_LIMIT, MemorySize.parse("1mb"));
        assertThatThrownBy(() -> ChangelogSettings.of(JOB, config))
                .hasMessageContaining("raise it to at least");
        assertThatThrownBy(() -> ChangelogSettings.of(JOB, new Configuration()))
                .hasMessageContaining(CheckpointingOptions.CHECKPOINTS_DIRECTORY.key());
    }

    // ------------------------------------------------------------------------------------------

    private LavaChangelogStorage open() throws IOException {
        return open(new ChangeFiles(ChangelogSettings.of(JOB, config)));
    }

    private LavaChangelogStorage open(ChangeFiles files) {
        LavaChangelogStorage storage =
                new LavaChangelogStorage(
                        ChangelogSettings.of(JOB, config),
                        files,
                        localBackups,
                        new UnregisteredMetricsGroup());
        opened.add(storage);
        return storage;
    }

    private StateChangelogWriter<ChangelogStateHandleStreamImpl> writer(
            LavaChangelogStorage storage) {
        return storage.createWriter("operator", GROUPS, mailbox);
    }

    private SnapshotResult<ChangelogStateHandleStreamImpl> persist(
            StateChangelogWriter<ChangelogStateHandleStreamImpl> writer,
            SequenceNumber from,
            long checkpoint)
            throws Exception {
        return mailbox.await(writer.persist(from, checkpoint));
    }

    private static List<String> read(SnapshotResult<ChangelogStateHandleStreamImpl> result)
            throws Exception {
        List<String> changes = new ArrayList<>();
        try (CloseableIterator<StateChange> read =
                new LavaChangelogStorageView()
                        .createReader()
                        .getChanges(result.getJobManagerOwnedSnapshot())) {
            read.forEachRemaining(
                    change ->
                            changes.add(
                                    change.getKeyGroup()
                                            + " "
                                            + new String(
                                                    change.getChange(), StandardCharsets.UTF_8)));
        }
        return changes;
    }

    /** The changelog's files; files that disappear meanwhile are ignored. */
    private List<Path> files() {
        File[] files =
                directory
                        .resolve(JOB.toHexString())
                        .resolve("changelog")
                        .toFile()
                        .listFiles((in, name) -> !name.startsWith("."));
        return files == null
                ? List.of()
                : Stream.of(files).map(File::toPath).collect(Collectors.toList());
    }

    private interface Condition {
        boolean holds();
    }

    private static void await(Condition condition) throws Exception {
        long end = System.nanoTime() + PATIENCE.toNanos();
        while (!condition.holds()) {
            assertThat(System.nanoTime()).as("patience").isLessThan(end);
            Thread.sleep(5);
        }
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /** The first writes fail. */
    private TestFiles failing(int writes) throws IOException {
        return new TestFiles(attempt -> attempt <= writes, attempt -> false);
    }

    /** Writes block until the test releases them. */
    private TestFiles hanging() throws IOException {
        return new TestFiles(attempt -> false, attempt -> true);
    }

    private class TestFiles extends ChangeFiles {
        final AtomicInteger attempts = new AtomicInteger();
        final AtomicInteger underWay = new AtomicInteger();
        final CountDownLatch hang = new CountDownLatch(1);
        volatile boolean heedsInterrupts = true;
        private final IntPredicate fails;
        private final IntPredicate hangs;

        /** The predicates take the number of the attempt, from 1 on. */
        TestFiles(IntPredicate fails, IntPredicate hangs) throws IOException {
            super(ChangelogSettings.of(JOB, config));
            this.fails = fails;
            this.hangs = hangs;
            written.add(this);
        }

        @Override
        List<UploadedChanges> write(List<ChangeSet> sets) throws IOException {
            underWay.incrementAndGet();
            try {
                int attempt = attempts.incrementAndGet();
                if (hangs.test(attempt)) {
                    awaitEnd();
                }
                if (fails.test(attempt)) {
                    throw new IOException("the storage is away");
                }
                return super.write(sets);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IOException("interrupted", e);
            } finally {
                underWay.decrementAndGet();
            }
        }

        private void awaitEnd() throws InterruptedException {
            while (true) {
                try {
                    hang.await();
                    return;
                } catch (InterruptedException e) {
                    if (heedsInterrupts) {
                        throw e;
                    }
                }
            }
        }
    }
}
