// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.checkpoint;

import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.flink.runtime.state.IncrementalKeyedStateHandle.HandleAndLocalPath;

/**
 * The files of a checkpoint in its storage: a handle for each file stored by itself and for each
 * pack, and the list of files in packs.
 *
 * <p>Threads: immutable; replacing handles in the given list does not change this object.
 */
public final class UploadedFiles {

    private final List<HandleAndLocalPath> handles;
    private final PackedFiles packed;

    /**
     * @param handles with the names of files and packs as paths
     * @param packed locations in packs without a handle here are ignored
     */
    public UploadedFiles(Collection<HandleAndLocalPath> handles, PackedFiles packed) {
        // Copies the handles: in a local cluster the JobManager puts its own handles into the given
        // objects.
        this.handles =
                handles.stream()
                        .map(file -> HandleAndLocalPath.of(file.getHandle(), file.getLocalPath()))
                        .collect(Collectors.toUnmodifiableList());
        Set<String> names =
                this.handles.stream()
                        .map(HandleAndLocalPath::getLocalPath)
                        .collect(Collectors.toSet());
        this.packed = packed.only(names::contains);
    }

    public List<HandleAndLocalPath> handles() {
        return handles;
    }

    public PackedFiles packed() {
        return packed;
    }
}
