// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.snapshot;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.apache.flink.runtime.state.IncrementalKeyedStateHandle.HandleAndLocalPath;
import org.apache.flink.runtime.state.PhysicalStateHandleID;
import org.apache.flink.runtime.state.PlaceholderStreamStateHandle;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.runtime.state.memory.ByteStreamStateHandle;
import org.junit.jupiter.api.Test;
import org.lavakv.flink.checkpoint.PackedFiles;
import org.lavakv.flink.checkpoint.UploadedFiles;

/** Which files a checkpoint may name instead of uploading them. */
class UploadHistoryTest {

    private final UploadHistory history = new UploadHistory(Collections.emptySortedMap(), -1);

    private static HandleAndLocalPath uploaded(String file, String remote) {
        return HandleAndLocalPath.of(new ByteStreamStateHandle(remote, new byte[3]), file);
    }

    private static HandleAndLocalPath reused(String file, String remote) {
        return HandleAndLocalPath.of(
                new PlaceholderStreamStateHandle(new PhysicalStateHandleID(remote), 3, false),
                file);
    }

    private Map<String, String> reusable() {
        return reusable(history.base());
    }

    private static Map<String, String> reusable(UploadHistory.Base base) {
        return base.reusable().entrySet().stream()
                .collect(
                        Collectors.toMap(
                                Map.Entry::getKey,
                                e -> e.getValue().getStreamStateHandleID().getKeyString()));
    }

    private void upload(long id, HandleAndLocalPath... files) {
        history.uploaded(id, new UploadedFiles(Arrays.asList(files), PackedFiles.NONE));
    }

    @Test
    void nothingIsReusedBeforeTheFirstConfirmation() {
        upload(1, uploaded("a", "x"));
        assertThat(reusable()).isEmpty();
    }

    @Test
    void filesOfTheLastCompletedCheckpointAreReusedWithTheirSize() {
        upload(1, uploaded("a", "x"), uploaded("b", "y"));
        history.completed(1);
        assertThat(reusable()).containsOnly(Map.entry("a", "x"), Map.entry("b", "y"));
        assertThat(history.base().reusable().get("a").getStateSize()).isEqualTo(3);
    }

    @Test
    void fileThatWasUploadedAgainIsNotReusedUnderItsFirstName() {
        // 1) Checkpoint 1 uploads file a as x. 2) Checkpoint 2 uploads it again, as y, because 1 is
        // not confirmed. 3) The confirmation of 1 arrives. 4) The JobManager has completed 2 and
        // deleted x. 5) Checkpoint 3 must not name x.
        upload(1, uploaded("a", "x"), uploaded("b", "b1"));
        upload(2, uploaded("a", "y"), reused("b", "b1"));
        history.completed(1);
        assertThat(reusable()).containsOnly(Map.entry("b", "b1"));
        history.completed(2);
        assertThat(reusable()).containsOnly(Map.entry("a", "y"), Map.entry("b", "b1"));
    }

    @Test
    void fileThatACheckpointUnderWayMayNotNameIsNotReused() {
        // 1) Checkpoint 1 uploads file a as x. 2) Checkpoint 2 begins, and will upload it again,
        // because 1 is not confirmed. 3) The confirmation of 1 arrives. 4) Checkpoint 3 begins. 5)
        // Checkpoint 2 is completed, so the JobManager deletes x, which 3 must not name.
        upload(1, uploaded("a", "x"));
        history.began(2, history.base());
        history.completed(1);
        UploadHistory.Base third = history.base();
        history.began(3, third);
        upload(2, uploaded("a", "y"));
        history.completed(2);
        assertThat(reusable(third)).isEmpty();
        // Checkpoint 4 must not name y either, because 3 does not name it.
        assertThat(reusable()).isEmpty();
        history.aborted(3);
        assertThat(reusable()).containsOnly(Map.entry("a", "y"));
    }

    @Test
    void checkpointsUnderWayThatNameAFileLeaveItUsable() {
        upload(1, uploaded("a", "x"));
        history.completed(1);
        history.began(2, history.base());
        history.began(3, history.base());
        assertThat(reusable()).containsOnly(Map.entry("a", "x"));
        upload(2, reused("a", "x"), uploaded("b", "y"));
        history.completed(2);
        assertThat(reusable()).containsOnly(Map.entry("a", "x"));
    }

    @Test
    void nothingIsReusedWhileACheckpointThatUploadsAllIsUnderWay() {
        upload(1, uploaded("a", "x"));
        history.completed(1);
        history.began(2, UploadHistory.Base.NONE);
        assertThat(reusable()).isEmpty();
        history.aborted(2);
        assertThat(reusable()).containsOnly(Map.entry("a", "x"));
    }

    @Test
    void fileThatALaterCheckpointNamesOtherwiseIsNotReused() {
        upload(1, uploaded("a", "x"));
        upload(2, uploaded("a", "y"));
        upload(3, reused("a", "x"));
        history.completed(2);
        assertThat(reusable()).isEmpty();
    }

    @Test
    void reuseInALaterCheckpointLeavesTheNameUsable() {
        upload(1, uploaded("a", "x"));
        history.completed(1);
        upload(2, reused("a", "x"), uploaded("c", "z"));
        assertThat(reusable()).containsOnly(Map.entry("a", "x"));
    }

    @Test
    void abortedCheckpointIsForgotten() {
        upload(1, uploaded("a", "x"));
        history.completed(1);
        upload(2, uploaded("a", "y"));
        history.aborted(2);
        assertThat(reusable()).containsOnly(Map.entry("a", "x"));
    }

    @Test
    void savepointsAndOldIdsChangeNothing() {
        upload(3, uploaded("a", "x"));
        history.completed(3);
        history.completed(7);
        history.completed(1);
        assertThat(reusable()).containsOnly(Map.entry("a", "x"));
    }

    @Test
    void baseDoesNotChangeAfterwards() {
        upload(1, uploaded("a", "x"));
        history.completed(1);
        UploadHistory.Base base = history.base();
        upload(2, uploaded("b", "y"));
        history.completed(2);
        assertThat(reusable(base)).containsOnly(Map.entry("a", "x"));
    }

    @Test
    void restoredCheckpointIsTheBaseAtOnce() {
        TreeMap<Long, UploadedFiles> restored = new TreeMap<>();
        restored.put(9L, new UploadedFiles(List.of(uploaded("a", "x")), PackedFiles.NONE));
        assertThat(reusable(new UploadHistory(restored, 9).base()))
                .containsOnly(Map.entry("a", "x"));
    }

    /** A job is moved under the changelog, whose materializations are numbered from one. */
    @Test
    void idsMayBeginAnewAfterARestore() {
        TreeMap<Long, UploadedFiles> restored = new TreeMap<>();
        restored.put(9L, new UploadedFiles(List.of(uploaded("a", "x")), PackedFiles.NONE));
        UploadHistory under = new UploadHistory(restored, 9);
        under.uploaded(
                1,
                new UploadedFiles(List.of(reused("a", "x"), uploaded("b", "y")), PackedFiles.NONE));
        under.completed(1);
        assertThat(reusable(under.base())).containsOnly(Map.entry("a", "x"), Map.entry("b", "y"));
    }

    @Test
    void handlesThatTheJobManagerReplacesDoNotCountAsUploadedAgain() {
        upload(1, uploaded("a", "x"));
        history.completed(1);
        HandleAndLocalPath again = reused("a", "x");
        upload(2, again);
        StreamStateHandle original = new ByteStreamStateHandle("x", new byte[3]);
        again.replaceHandle(original);
        assertThat(reusable()).containsOnly(Map.entry("a", "x"));
    }

    private static PackedFiles in(String pack, String... files) {
        Map<String, PackedFiles.Location> locations = new TreeMap<>();
        for (String file : files) {
            locations.put(file, new PackedFiles.Location(pack, locations.size(), 1));
        }
        return PackedFiles.of(locations);
    }

    private void upload(long id, PackedFiles packed, HandleAndLocalPath... files) {
        history.uploaded(id, new UploadedFiles(Arrays.asList(files), packed));
    }

    /** Files that may be named, with the pack that they are in, if any. */
    private Map<String, String> reusableFiles() {
        UploadHistory.Base base = history.base();
        Map<String, String> files = new TreeMap<>();
        for (String file : base.packed().files()) {
            String pack = base.packed().of(file).pack();
            if (base.reusable().containsKey(pack)) {
                files.put(file, pack);
            }
        }
        return files;
    }

    @Test
    void filesInAPackOfTheLastCompletedCheckpointAreReused() {
        upload(1, in("p", "a", "b"), uploaded("p", "x"));
        assertThat(reusableFiles()).isEmpty();
        history.completed(1);
        assertThat(reusableFiles()).containsOnly(Map.entry("a", "p"), Map.entry("b", "p"));
        assertThat(reusable()).containsOnly(Map.entry("p", "x"));
        upload(2, in("p", "a"), reused("p", "x"), uploaded("c", "z"));
        assertThat(reusable()).containsOnly(Map.entry("p", "x"));
        history.completed(2);
        assertThat(reusableFiles()).as("b is gone for good").containsOnly(Map.entry("a", "p"));
    }

    @Test
    void packOfWhichTheRestWasUploadedAgainIsNotReused() {
        // As for a file: when the confirmation of 1 arrives, the JobManager may have completed 2,
        // which does not name the pack, and deleted the pack. Its name does not show this.
        upload(1, in("p", "a", "b"), uploaded("p", "x"), uploaded("c", "c1"));
        upload(2, in("q", "a", "d"), uploaded("q", "y"), reused("c", "c1"));
        history.completed(1);
        assertThat(reusable()).containsOnly(Map.entry("c", "c1"));
        assertThat(reusableFiles()).isEmpty();
        history.completed(2);
        assertThat(reusableFiles()).containsOnly(Map.entry("a", "q"), Map.entry("d", "q"));
    }

    @Test
    void packIsReusedOnceTheCheckpointThatDidWithoutItIsAborted() {
        upload(1, in("p", "a", "b"), uploaded("p", "x"));
        history.completed(1);
        upload(2, PackedFiles.NONE, uploaded("a", "y"));
        assertThat(reusableFiles()).isEmpty();
        history.aborted(2);
        assertThat(reusableFiles()).containsOnly(Map.entry("a", "p"), Map.entry("b", "p"));
    }

    @Test
    void placesInPacksThatTheHandleHasNotAreForgotten() {
        upload(1, in("p", "a"), uploaded("c", "z"));
        history.completed(1);
        assertThat(history.base().packed().files()).isEmpty();
    }
}
