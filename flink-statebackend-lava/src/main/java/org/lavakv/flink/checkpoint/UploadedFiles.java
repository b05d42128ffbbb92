package org.lavakv.flink.checkpoint;

import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.flink.runtime.state.IncrementalKeyedStateHandle.HandleAndLocalPath;

/**
 * What a checkpoint has in its storage: a handle for each file that is there by itself and for each
 * pack, and which files lie in the packs.
 *
 * <p>Threads: immutable; whoever replaces handles in the given list does not change this.
 */
public final class UploadedFiles {

    private final List<HandleAndLocalPath> handles;
    private final PackedFiles packed;

    /**
     * @param handles with the names of files and packs as paths
     * @param packed places in packs that have no handle here are left out
     */
    public UploadedFiles(Collection<HandleAndLocalPath> handles, PackedFiles packed) {
        // Copies: in a local cluster the JobManager puts its own handles into the given ones.
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
