// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.ExternalizedCheckpointRetention;
import org.apache.flink.configuration.StateBackendOptions;
import org.apache.flink.configuration.StateChangelogOptions;
import org.apache.flink.core.execution.RecoveryClaimMode;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.state.IncrementalRemoteKeyedStateHandle;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.changelog.ChangelogStateBackendHandle;
import org.apache.flink.runtime.state.filemerging.SegmentFileStateHandle;
import org.apache.flink.runtime.testutils.CommonTestUtils;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.state.api.runtime.SavepointLoader;
import org.apache.flink.test.junit5.InjectMiniCluster;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.apache.flink.util.FileUtils;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A job is stopped and started again several times. Each restart differs in the kind of its
 * snapshot, the ownership of the previous one, the parallelism, and Flink's features around Lava.
 * In the end the job contains every number once. Flink deletes snapshots that a job has claimed and
 * no longer needs. The test deletes unclaimed ones as soon as the next snapshot exists.
 */
@Timeout(180)
abstract class RestartWays {

    static final long NUMBERS = 200;

    @TempDir Path root;

    /** The cluster's storage of Flink's changelog. */
    abstract String storage();

    static MiniClusterExtension cluster(Supplier<Configuration> configuration) {
        return new MiniClusterExtension(
                () ->
                        new MiniClusterResourceConfiguration.Builder()
                                .setNumberTaskManagers(1)
                                .setNumberSlotsPerTaskManager(4)
                                .setConfiguration(configuration.get())
                                .build());
    }

    /** A feature of Flink in one run of the job. */
    enum Around {
        NOTHING,
        FILE_MERGING,
        UNALIGNED,
        UNALIGNED_FILE_MERGING,
        CHANGELOG,
        CHANGELOG_FILE_MERGING;

        boolean has(Around part) {
            return name().contains(part.name());
        }
    }

    /** One run of the job; it does not contain where the run begins. */
    static final class Run {
        final int parallelism;
        final Around around;
        final RecoveryClaimMode mode;
        final NumbersJob.Kind kind;

        /**
         * @param mode what the run does with the snapshot of the previous run
         * @param kind how the run ends
         */
        Run(int parallelism, Around around, RecoveryClaimMode mode, NumbersJob.Kind kind) {
            this.parallelism = parallelism;
            this.around = around;
            this.mode = mode;
            this.kind = kind;
        }

        @Override
        public String toString() {
            return parallelism + " " + around + " " + mode + " " + kind;
        }
    }

    private static Run claim(int parallelism, Around around, NumbersJob.Kind kind) {
        return new Run(parallelism, around, RecoveryClaimMode.CLAIM, kind);
    }

    private static Run noClaim(int parallelism, Around around, NumbersJob.Kind kind) {
        return new Run(parallelism, around, RecoveryClaimMode.NO_CLAIM, kind);
    }

    static Stream<List<Run>> ways() {
        NumbersJob.Kind checkpoint = NumbersJob.Kind.CHECKPOINT;
        NumbersJob.Kind canonical = NumbersJob.Kind.CANONICAL;
        NumbersJob.Kind nativeOne = NumbersJob.Kind.NATIVE;
        return Stream.of(
                // Each kind claimed, and rescaled out and in.
                List.of(
                        claim(2, Around.NOTHING, nativeOne),
                        claim(3, Around.NOTHING, checkpoint),
                        claim(1, Around.NOTHING, checkpoint),
                        claim(2, Around.NOTHING, canonical),
                        claim(2, Around.NOTHING, checkpoint)),
                // Each kind not claimed.
                List.of(
                        noClaim(2, Around.NOTHING, nativeOne),
                        noClaim(3, Around.NOTHING, checkpoint),
                        noClaim(1, Around.NOTHING, checkpoint),
                        noClaim(2, Around.NOTHING, canonical),
                        noClaim(2, Around.NOTHING, nativeOne),
                        noClaim(2, Around.NOTHING, canonical)),
                // Files merged, claimed: off, on, rescaled out and in, off.
                List.of(
                        claim(2, Around.NOTHING, checkpoint),
                        claim(2, Around.FILE_MERGING, checkpoint),
                        claim(3, Around.FILE_MERGING, checkpoint),
                        claim(1, Around.FILE_MERGING, checkpoint),
                        claim(2, Around.NOTHING, checkpoint)),
                // Files merged, not claimed, with savepoints between.
                List.of(
                        noClaim(2, Around.FILE_MERGING, checkpoint),
                        noClaim(3, Around.FILE_MERGING, checkpoint),
                        noClaim(1, Around.FILE_MERGING, nativeOne),
                        noClaim(2, Around.FILE_MERGING, checkpoint)),
                // In-flight records, restored with another number of channels.
                List.of(
                        claim(2, Around.UNALIGNED, checkpoint),
                        claim(3, Around.UNALIGNED, checkpoint),
                        noClaim(1, Around.UNALIGNED, checkpoint),
                        noClaim(3, Around.UNALIGNED_FILE_MERGING, checkpoint),
                        claim(2, Around.UNALIGNED_FILE_MERGING, checkpoint),
                        claim(2, Around.NOTHING, checkpoint)),
                // The changelog off, on, rescaled, off, on, off. It is not rescaled twice, and
                // never on immediately after a savepoint, see docs/testing.md.
                List.of(
                        claim(2, Around.NOTHING, checkpoint),
                        claim(2, Around.CHANGELOG, checkpoint),
                        claim(3, Around.CHANGELOG, checkpoint),
                        claim(3, Around.NOTHING, checkpoint),
                        claim(2, Around.CHANGELOG_FILE_MERGING, canonical),
                        claim(2, Around.NOTHING, nativeOne)),
                // A native savepoint out of the changelog, and back under it by a checkpoint.
                List.of(
                        claim(2, Around.CHANGELOG, nativeOne),
                        claim(3, Around.NOTHING, checkpoint),
                        claim(3, Around.CHANGELOG, checkpoint),
                        claim(2, Around.CHANGELOG, checkpoint)));
    }

    /** Flink would replay the changelog twice; the workaround in the message works. */
    @Test
    void refusesToRescaleTwiceUnderTheChangelog(@InjectMiniCluster MiniCluster cluster)
            throws Exception {
        NumbersJob.Kind checkpoint = NumbersJob.Kind.CHECKPOINT;
        String last = null;
        long taken = 0;
        for (Run run :
                List.of(
                        claim(2, Around.NOTHING, checkpoint),
                        claim(2, Around.CHANGELOG, checkpoint),
                        claim(3, Around.CHANGELOG, checkpoint))) {
            last = take(cluster, run, last, taken);
            taken += NUMBERS;
        }
        String twice = last;
        assertThatThrownBy(() -> job(cluster, Around.CHANGELOG, 1, twice).start())
                .hasStackTraceContaining("before all its subtasks have materialized");
        last = take(cluster, claim(3, Around.CHANGELOG, NumbersJob.Kind.NATIVE), last, taken);
        taken += NUMBERS;
        last = take(cluster, claim(3, Around.NOTHING, checkpoint), last, taken);
        taken += NUMBERS;
        assertThat(job(cluster, Around.CHANGELOG, 1, last).content())
                .isEqualTo(NumbersJob.expected(taken));
    }

    private NumbersJob job(MiniCluster cluster, Around around, int parallelism, String from) {
        return new NumbersJob(cluster, configuration(around), parallelism)
                .startFrom(from, RecoveryClaimMode.CLAIM);
    }

    private String take(MiniCluster cluster, Run run, String from, long begin) throws Exception {
        return job(cluster, run.around, run.parallelism, from)
                .take(begin, begin + NUMBERS, run.kind, root.resolve("savepoints"));
    }

    @ParameterizedTest
    @MethodSource("ways")
    void holdsEveryNumberOnce(List<Run> runs, @InjectMiniCluster MiniCluster cluster)
            throws Exception {
        String last = null;
        long taken = 0;
        boolean unaligned = false;
        boolean underWay = false;
        boolean changelog = false;
        for (Run run : runs) {
            unaligned |= run.around.has(Around.UNALIGNED);
            NumbersJob job =
                    new NumbersJob(cluster, configuration(run.around), run.parallelism)
                            .startFrom(last, run.mode)
                            .slow(run.around.has(Around.UNALIGNED) ? 5 : 0);
            String next = job.take(taken, taken + NUMBERS, run.kind, root.resolve("savepoints"));
            taken += NUMBERS;
            if (run.kind == NumbersJob.Kind.CHECKPOINT) {
                underWay |= subtasks(next).anyMatch(RestartWays::hasRecordsUnderWay);
                assertKept(next, run.around);
            }
            changelog |= run.around.has(Around.CHANGELOG);
            // The changelog needs the previous snapshot until it has materialized everything.
            if (last != null && !changelog) {
                assertOrMakeGone(last, run);
            }
            last = next;
        }
        assertThat(underWay).as("records in a checkpoint").isEqualTo(unaligned);
        assertThat(
                        new NumbersJob(cluster, configuration(Around.NOTHING), 2)
                                .startFrom(last, RecoveryClaimMode.NO_CLAIM)
                                .content())
                .isEqualTo(NumbersJob.expected(taken));
    }

    Configuration configuration(Around around) {
        return new Configuration()
                .set(StateBackendOptions.STATE_BACKEND, "lava")
                .set(
                        CheckpointingOptions.CHECKPOINTS_DIRECTORY,
                        root.resolve("checkpoints").toUri().toString())
                .set(CheckpointingOptions.INCREMENTAL_CHECKPOINTS, true)
                .set(
                        CheckpointingOptions.EXTERNALIZED_CHECKPOINT_RETENTION,
                        ExternalizedCheckpointRetention.RETAIN_ON_CANCELLATION)
                .set(CheckpointingOptions.FILE_MERGING_ENABLED, around.has(Around.FILE_MERGING))
                .set(CheckpointingOptions.FILE_MERGING_ACROSS_BOUNDARY, true)
                .set(CheckpointingOptions.ENABLE_UNALIGNED, around.has(Around.UNALIGNED))
                .set(StateChangelogOptions.ENABLE_STATE_CHANGE_LOG, around.has(Around.CHANGELOG));
    }

    static Stream<OperatorSubtaskState> subtasks(String snapshot) throws IOException {
        return SavepointLoader.loadSavepointMetadata(snapshot).getOperatorStates().stream()
                .flatMap(operator -> operator.getStates().stream());
    }

    private static boolean hasRecordsUnderWay(OperatorSubtaskState subtask) {
        return subtask.getInputChannelState().hasState()
                || subtask.getResultSubpartitionState().hasState();
    }

    /** Checks that a checkpoint is of the requested kind, so that the intended path was tested. */
    void assertKept(String checkpoint, Around around) throws IOException {
        List<KeyedStateHandle> handles =
                subtasks(checkpoint)
                        .flatMap(subtask -> subtask.getManagedKeyedState().stream())
                        .collect(Collectors.toList());
        assertThat(handles).isNotEmpty();
        assertThat(handles)
                .allSatisfy(
                        handle ->
                                assertThat(handle instanceof ChangelogStateBackendHandle)
                                        .isEqualTo(around.has(Around.CHANGELOG)));
        if (around.has(Around.CHANGELOG)) {
            assertThat(handles)
                    .flatMap(
                            handle ->
                                    ((ChangelogStateBackendHandle) handle)
                                            .getNonMaterializedStateHandles())
                    .isNotEmpty()
                    .allSatisfy(
                            changes ->
                                    assertThat(changes.getStorageIdentifier())
                                            .isEqualTo(storage()));
        }
        if (around.has(Around.FILE_MERGING) && !around.has(Around.CHANGELOG)) {
            assertThat(handles)
                    .flatMap(
                            handle ->
                                    ((IncrementalRemoteKeyedStateHandle) handle)
                                            .getSharedStateHandles())
                    .anyMatch(file -> file.getHandle() instanceof SegmentFileStateHandle);
        }
    }

    /** The previous snapshot is deleted when the run's own snapshot exists. */
    private static void assertOrMakeGone(String last, Run run) throws Exception {
        Path directory = Path.of(URI.create(last));
        if (run.mode == RecoveryClaimMode.NO_CLAIM) {
            // Deletes the whole directory of a job, because files shared by its checkpoints are
            // beside them.
            FileUtils.deleteDirectory(
                    (directory.getFileName().toString().startsWith("chk-")
                                    ? directory.getParent()
                                    : directory)
                            .toFile());
        } else if (run.kind == NumbersJob.Kind.CHECKPOINT) {
            CommonTestUtils.waitUntilCondition(
                    () -> Files.notExists(directory.resolve("_metadata")));
        }
    }
}
