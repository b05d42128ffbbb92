// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.snapshot;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.apache.flink.runtime.state.IncrementalKeyedStateHandle.HandleAndLocalPath;
import org.apache.flink.runtime.state.PlaceholderStreamStateHandle;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.runtime.state.memory.ByteStreamStateHandle;
import org.apache.flink.runtime.state.memory.MemCheckpointStreamFactory;
import org.junit.jupiter.api.Test;
import org.lavakv.FileInfo;
import org.lavakv.flink.checkpoint.PackedFiles;
import org.lavakv.flink.checkpoint.UploadedFiles;

/** What a checkpoint does with each of its files. */
class UploadPlanTest {

    private static final PackLimits LIMITS = new PackLimits(100, 250);

    private final List<HandleAndLocalPath> confirmed = new ArrayList<>();
    private final TreeMap<String, PackedFiles.Location> locations = new TreeMap<>();
    private final Map<String, StreamStateHandle> shared = new HashMap<>();
    private boolean storageRefuses;
    private int asked;

    private static FileInfo file(String name, long bytes) {
        return new FileInfo(name, bytes, 0);
    }

    /** A handle of the last completed checkpoint. */
    private void uploaded(String name, int bytes) {
        StreamStateHandle handle = new ByteStreamStateHandle("remote " + name, new byte[bytes]);
        confirmed.add(HandleAndLocalPath.of(handle, name));
    }

    private void packed(String file, String pack, long offset, long bytes) {
        locations.put(file, new PackedFiles.Location(pack, offset, bytes));
    }

    private UploadPlan plan(PackLimits limits, FileInfo... files) throws Exception {
        TreeMap<Long, UploadedFiles> uploads = new TreeMap<>();
        uploads.put(7L, new UploadedFiles(confirmed, PackedFiles.of(locations)));
        UploadPlan plan =
                UploadPlan.of(
                        Arrays.asList(files),
                        new UploadHistory(uploads, 7).base(),
                        shared,
                        new MemCheckpointStreamFactory(1) {
                            @Override
                            public boolean couldReuseStateHandle(StreamStateHandle handle) {
                                assertThat(handle).isInstanceOf(PlaceholderStreamStateHandle.class);
                                asked++;
                                return !storageRefuses;
                            }
                        },
                        limits);
        everyFileIsSomewhere(plan, files);
        return plan;
    }

    private static void everyFileIsSomewhere(UploadPlan plan, FileInfo... files) {
        List<FileInfo> all = new ArrayList<>(plan.alone());
        all.addAll(plan.reusedFiles());
        List<String> handles = names(plan.alone());
        plan.reused().forEach(file -> handles.add(file.getLocalPath()));
        for (UploadPlan.Pack pack : plan.packs()) {
            all.addAll(pack.files());
            handles.add(pack.name());
            long end = 0;
            for (FileInfo file : pack.files()) {
                PackedFiles.Location location = plan.packed().of(file.name());
                assertThat(location.pack()).isEqualTo(pack.name());
                assertThat(location.offset()).isEqualTo(end);
                assertThat(location.bytes()).isEqualTo(file.bytes());
                end += file.bytes();
            }
        }
        assertThat(all).containsExactlyInAnyOrder(files);
        assertThat(handles).doesNotHaveDuplicates();
        // The files as a restore would find them.
        for (FileInfo file : files) {
            PackedFiles.Location location = plan.packed().of(file.name());
            assertThat(handles).contains(location == null ? file.name() : location.pack());
        }
    }

    private static List<String> names(List<FileInfo> files) {
        return files.stream().map(FileInfo::name).collect(Collectors.toList());
    }

    private static List<List<String>> packs(UploadPlan plan) {
        return plan.packs().stream().map(pack -> names(pack.files())).collect(Collectors.toList());
    }

    @Test
    void smallFilesTravelTogether() throws Exception {
        UploadPlan plan =
                plan(LIMITS, file("1.k", 99), file("2.k", 100), file("3.k", 1), file("4.k", 1000));
        assertThat(names(plan.alone())).containsExactly("2.k", "4.k");
        assertThat(packs(plan)).containsExactly(List.of("1.k", "3.k"));
        assertThat(plan.reused()).isEmpty();
    }

    @Test
    void namesOfPacksAreUnique() throws Exception {
        FileInfo[] files = {file("1.k", 1), file("2.k", 1)};
        assertThat(plan(LIMITS, files).packs().get(0).name())
                .matches("[0-9a-f]{32}\\.pack")
                .isNotEqualTo(plan(LIMITS, files).packs().get(0).name());
    }

    @Test
    void oneSmallFileNeedsNoPack() throws Exception {
        UploadPlan plan = plan(LIMITS, file("1.k", 5), file("2.k", 1000));
        assertThat(plan.packs()).isEmpty();
        assertThat(plan.packed().files()).isEmpty();
        assertThat(names(plan.alone())).containsExactlyInAnyOrder("1.k", "2.k");
    }

    @Test
    void packsOfNoFilesAreSwitchedOff() throws Exception {
        assertThat(plan(new PackLimits(0, 250), file("1.k", 0), file("2.k", 1)).packs()).isEmpty();
    }

    @Test
    void packsEndBeforeTheyGrowTooLargeAndFilesOfAKindAreTogether() throws Exception {
        UploadPlan plan =
                plan(
                        LIMITS,
                        file("1.v", 90),
                        file("1.k", 90),
                        file("2.v", 90),
                        file("2.k", 90),
                        file("3.k", 70),
                        file("3.v", 90));
        assertThat(packs(plan))
                .containsExactly(List.of("1.k", "2.k", "3.k"), List.of("1.v", "2.v"));
        assertThat(names(plan.alone())).as("the last, by itself").containsExactly("3.v");
    }

    @Test
    void knownFilesAreNamed() throws Exception {
        uploaded("1.k", 5);
        uploaded("2.k", 500);
        UploadPlan plan = plan(LIMITS, file("1.k", 5), file("2.k", 500), file("3.k", 5));
        assertThat(names(plan.reusedFiles())).containsExactly("1.k", "2.k");
        assertThat(plan.reused()).allMatch(file -> file.getHandle().getStateSize() >= 5);
        assertThat(names(plan.alone())).containsExactly("3.k");
    }

    @Test
    void packIsNamedOnceWhileHalfOfItIsAlive() throws Exception {
        uploaded("p", 40);
        packed("1.k", "p", 0, 15);
        packed("2.k", "p", 15, 5);
        packed("3.k", "p", 20, 20);
        UploadPlan plan = plan(LIMITS, file("1.k", 15), file("2.k", 5));
        assertThat(plan.reused()).hasSize(1);
        assertThat(plan.reused().get(0).getLocalPath()).isEqualTo("p");
        assertThat(plan.reused().get(0).getHandle().getStateSize()).isEqualTo(40);
        assertThat(names(plan.reusedFiles())).containsExactly("1.k", "2.k");
        assertThat(plan.packed().of("2.k").offset()).isEqualTo(15);
        assertThat(plan.packed().files()).containsExactlyInAnyOrder("1.k", "2.k");
        assertThat(plan.packs()).isEmpty();
        assertThat(plan.alone()).isEmpty();
        assertThat(asked).isEqualTo(1);
    }

    @Test
    void whatIsLeftOfAPackBelowHalfIsUploadedAnew() throws Exception {
        uploaded("p", 41);
        packed("1.k", "p", 0, 15);
        packed("2.k", "p", 15, 5);
        UploadPlan plan = plan(LIMITS, file("1.k", 15), file("2.k", 5), file("4.k", 1));
        assertThat(plan.reused()).isEmpty();
        assertThat(plan.reusedFiles()).isEmpty();
        assertThat(packs(plan).get(0)).containsExactlyInAnyOrder("1.k", "2.k", "4.k");
        assertThat(plan.packs().get(0).name()).isNotEqualTo("p");
    }

    @Test
    void storageMayRefuseThatSomethingIsNamedOnceMore() throws Exception {
        storageRefuses = true;
        uploaded("p", 20);
        uploaded("3.k", 30);
        packed("1.k", "p", 0, 15);
        packed("2.k", "p", 15, 5);
        UploadPlan plan = plan(LIMITS, file("1.k", 15), file("2.k", 5), file("3.k", 30));
        assertThat(plan.reused()).isEmpty();
        assertThat(packs(plan).get(0)).containsExactlyInAnyOrder("1.k", "2.k", "3.k");
    }

    @Test
    void placeThatCannotBeIsNotNamed() throws Exception {
        uploaded("p", 20);
        packed("1.k", "p", 0, 15);
        packed("2.k", "p", 16, 5); // beyond the pack's end
        packed("3.k", "p", 15, 4); // with another length
        packed("4.k", "q", 15, 5); // in a pack that does not exist
        UploadPlan plan =
                plan(LIMITS, file("1.k", 15), file("2.k", 5), file("3.k", 5), file("4.k", 5));
        assertThat(names(plan.reusedFiles())).containsExactly("1.k");
        assertThat(packs(plan)).containsExactly(List.of("2.k", "3.k", "4.k"));
    }

    @Test
    void withoutABaseAllIsUploaded() throws Exception {
        UploadPlan plan =
                UploadPlan.of(
                        List.of(file("1.k", 1)),
                        UploadHistory.Base.NONE,
                        Map.of(),
                        new MemCheckpointStreamFactory(1),
                        LIMITS);
        assertThat(names(plan.alone())).containsExactly("1.k");
        assertThat(plan.reused()).isEqualTo(Collections.emptyList());
    }

    @Test
    void whatTheChangelogUploadedIsNamed() throws Exception {
        uploaded("1.v", 120);
        for (String name : List.of("1.v", "2.v", "3.v", "4.v")) {
            shared.put(name, new ByteStreamStateHandle("of changes " + name, new byte[120]));
        }
        UploadPlan plan =
                plan(
                        LIMITS,
                        file("1.v", 120),
                        file("2.v", 120),
                        file("3.v", 121),
                        file("5.v", 120));
        assertThat(names(plan.reusedFiles())).containsExactly("1.v", "2.v");
        assertThat(
                        plan.reused().stream()
                                .map(
                                        file ->
                                                file.getHandle()
                                                        .getStreamStateHandleID()
                                                        .getKeyString()))
                .containsExactly("remote 1.v", "of changes 2.v");
        assertThat(names(plan.alone())).containsExactly("3.v", "5.v");

        storageRefuses = true;
        assertThat(plan(LIMITS, file("2.v", 120)).reused()).isEmpty();
    }
}
