// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.snapshot;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import javax.annotation.Nullable;
import org.apache.flink.runtime.state.CheckpointStreamFactory;
import org.apache.flink.runtime.state.IncrementalKeyedStateHandle.HandleAndLocalPath;
import org.apache.flink.runtime.state.PlaceholderStreamStateHandle;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.lavakv.FileInfo;
import org.lavakv.flink.checkpoint.PackedFiles;

/**
 * What one checkpoint does with each of the engine's files: reuse an earlier upload, upload the
 * file by itself, or upload it in a pack with other small files.
 *
 * <p>A pack is reused as long as at least half of its bytes are still needed. After that its
 * remaining files are uploaded again. Therefore a storage never has twice the bytes of small files,
 * and each byte is uploaded again only for another byte in its pack that became unnecessary.
 *
 * <p>Threads: immutable.
 */
final class UploadPlan {

    /** Files that become one file of the checkpoint's storage. Threads: immutable. */
    static final class Pack {
        private final String name;
        private final List<FileInfo> files;

        private Pack(String name, List<FileInfo> files) {
            this.name = name;
            this.files = Collections.unmodifiableList(files);
        }

        /** Never reused. */
        String name() {
            return name;
        }

        /** The files in the order of their bytes. */
        List<FileInfo> files() {
            return files;
        }
    }

    private final List<HandleAndLocalPath> reused = new ArrayList<>();
    private final List<FileInfo> reusedFiles = new ArrayList<>();
    private final List<FileInfo> alone = new ArrayList<>();
    private final List<Pack> packs = new ArrayList<>();
    private final Map<String, PackedFiles.Location> locations = new LinkedHashMap<>();

    private UploadPlan() {}

    /**
     * Creates the plan.
     *
     * @param files all files of the checkpoint
     * @param base the uploads that may be reused
     * @param shared by name, files that the JobManager has as the changelog's, and that may be
     *     named
     * @param storage may refuse to name a file once more
     */
    static UploadPlan of(
            List<FileInfo> files,
            UploadHistory.Base base,
            Map<String, StreamStateHandle> shared,
            CheckpointStreamFactory storage,
            PackLimits limits)
            throws IOException {
        UploadPlan plan = new UploadPlan();
        plan.pack(plan.reuse(files, base, shared, storage), limits);
        return plan;
    }

    /** Reuses earlier uploads, and returns the remaining files. */
    private List<FileInfo> reuse(
            List<FileInfo> files,
            UploadHistory.Base base,
            Map<String, StreamStateHandle> shared,
            CheckpointStreamFactory storage)
            throws IOException {
        Map<String, PlaceholderStreamStateHandle> known = base.reusable();
        PackedFiles packed = base.packed();
        List<FileInfo> fresh = new ArrayList<>();
        Map<String, List<FileInfo>> live = new LinkedHashMap<>();
        for (FileInfo file : files) {
            PackedFiles.Location location = packed.of(file.name());
            PlaceholderStreamStateHandle handle = known.get(file.name());
            if (handle == null && isWhole(shared.get(file.name()), file)) {
                handle = UploadHistory.Base.placeholder(shared.get(file.name()));
            }
            if (handle != null && storage.couldReuseStateHandle(handle)) {
                reused.add(HandleAndLocalPath.of(handle, file.name()));
                reusedFiles.add(file);
            } else if (isIn(location, file, known)) {
                live.computeIfAbsent(location.pack(), pack -> new ArrayList<>()).add(file);
            } else {
                fresh.add(file);
            }
        }
        for (Map.Entry<String, List<FileInfo>> pack : live.entrySet()) {
            PlaceholderStreamStateHandle handle = known.get(pack.getKey());
            long deadBytes = handle.getStateSize() - bytes(pack.getValue());
            if (deadBytes <= bytes(pack.getValue()) && storage.couldReuseStateHandle(handle)) {
                reused.add(HandleAndLocalPath.of(handle, pack.getKey()));
                reusedFiles.addAll(pack.getValue());
                pack.getValue().forEach(file -> locations.put(file.name(), packed.of(file.name())));
            } else {
                fresh.addAll(pack.getValue());
            }
        }
        return fresh;
    }

    private static boolean isWhole(@Nullable StreamStateHandle handle, FileInfo file) {
        return handle != null && handle.getStateSize() == file.bytes();
    }

    private static boolean isIn(
            @Nullable PackedFiles.Location location,
            FileInfo file,
            Map<String, PlaceholderStreamStateHandle> packs) {
        if (location == null) {
            return false;
        }
        PlaceholderStreamStateHandle pack = packs.get(location.pack());
        return pack != null
                && location.bytes() == file.bytes()
                && location.liesWithin(pack.getStateSize());
    }

    private void pack(List<FileInfo> fresh, PackLimits limits) {
        List<FileInfo> small = new ArrayList<>();
        for (FileInfo file : fresh) {
            (file.bytes() < limits.fileBytes() ? small : alone).add(file);
        }
        // Files of a kind go together, because value files outlive key files.
        small.sort(Comparator.comparing(UploadPlan::kind));
        List<FileInfo> together = new ArrayList<>();
        long bytes = 0;
        for (FileInfo file : small) {
            if (bytes + file.bytes() > limits.packBytes()) {
                add(together);
                together = new ArrayList<>();
                bytes = 0;
            }
            together.add(file);
            bytes += file.bytes();
        }
        add(together);
    }

    private static String kind(FileInfo file) {
        return file.name().substring(file.name().lastIndexOf('.') + 1);
    }

    private void add(List<FileInfo> together) {
        if (together.size() < 2) {
            alone.addAll(together);
            return;
        }
        String name = UUID.randomUUID().toString().replace("-", "") + ".pack";
        long offset = 0;
        for (FileInfo file : together) {
            locations.put(file.name(), new PackedFiles.Location(name, offset, file.bytes()));
            offset += file.bytes();
        }
        packs.add(new Pack(name, together));
    }

    static long bytes(List<FileInfo> files) {
        return files.stream().mapToLong(FileInfo::bytes).sum();
    }

    /** Placeholders for earlier uploads: one for each file, and one for each pack. */
    List<HandleAndLocalPath> reused() {
        return reused;
    }

    /** The files in these uploads. */
    List<FileInfo> reusedFiles() {
        return reusedFiles;
    }

    /** Files to be uploaded by themselves. */
    List<FileInfo> alone() {
        return alone;
    }

    /** Packs to be uploaded. */
    List<Pack> packs() {
        return packs;
    }

    /** All files that are to be uploaded. */
    List<FileInfo> fresh() {
        List<FileInfo> fresh = new ArrayList<>(alone);
        packs.forEach(pack -> fresh.addAll(pack.files()));
        return fresh;
    }

    /** The locations of files in packs, both reused and new ones. */
    PackedFiles packed() {
        return PackedFiles.of(locations);
    }
}
