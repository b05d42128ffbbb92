// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.history;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.apache.flink.core.fs.Path;
import org.apache.flink.runtime.checkpoint.CompletedCheckpoint;
import org.apache.flink.runtime.checkpoint.OperatorState;
import org.apache.flink.runtime.state.IncrementalRemoteKeyedStateHandle;
import org.apache.flink.runtime.state.KeyGroupsStateHandle;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.runtime.state.filemerging.SegmentFileStateHandle;
import org.lavakv.flink.testing.MemoryStorage;

/** A completed checkpoint or savepoint, and its expected content. Threads: immutable. */
final class Artifact {

    final CompletedCheckpoint checkpoint;
    final String pointer;
    final boolean savepoint;
    final Model model;
    private final List<StreamStateHandle> files;

    Artifact(CompletedCheckpoint checkpoint, boolean savepoint, Model model) {
        this.checkpoint = checkpoint;
        this.pointer = checkpoint.getExternalPointer();
        this.savepoint = savepoint;
        this.model = model;
        this.files = filesOf(checkpoint);
    }

    /** All streams that a restore may open. */
    static List<StreamStateHandle> filesOf(CompletedCheckpoint checkpoint) {
        List<StreamStateHandle> files = new java.util.ArrayList<>();
        files.add(checkpoint.getMetadataHandle());
        for (OperatorState operator : checkpoint.getOperatorStates().values()) {
            operator.getStates()
                    .forEach(state -> state.getManagedKeyedState().forEach(h -> add(files, h)));
        }
        return files;
    }

    private static void add(List<StreamStateHandle> files, KeyedStateHandle handle) {
        if (handle instanceof IncrementalRemoteKeyedStateHandle) {
            ((IncrementalRemoteKeyedStateHandle) handle).streamSubHandles().forEach(files::add);
        } else {
            files.add(((KeyGroupsStateHandle) handle).getDelegateStateHandle());
        }
    }

    /** Fails when a file that it needs is missing or incomplete. */
    void checkFiles() {
        for (StreamStateHandle file : files) {
            file.maybeGetPath().ifPresent(path -> checkFile(file, path));
        }
    }

    private void checkFile(StreamStateHandle file, Path path) {
        long needed = file.getStateSize();
        if (file instanceof SegmentFileStateHandle) {
            needed += ((SegmentFileStateHandle) file).getStartPos();
            assertThat(MemoryStorage.length(path)).as(name(path)).isGreaterThanOrEqualTo(needed);
        } else {
            assertThat(MemoryStorage.length(path)).as(name(path)).isEqualTo(needed);
        }
    }

    private String name(Path path) {
        return "length of " + path + ", which " + pointer + " needs";
    }
}
