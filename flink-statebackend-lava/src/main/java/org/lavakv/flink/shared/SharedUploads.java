package org.lavakv.flink.shared;

import java.util.HashMap;
import java.util.Map;
import org.apache.flink.runtime.state.StreamStateHandle;

/**
 * Files of an instance that are files of the changelog, too, and that a completed checkpoint names
 * as such: a checkpoint of the instance may name them instead of uploading them, as long as all
 * checkpoints until then name them as files of the changelog.
 *
 * <p>Threads: any.
 */
public final class SharedUploads {
    private final Map<String, StreamStateHandle> confirmed = new HashMap<>();

    /** A completed checkpoint names the file. */
    public synchronized void confirmed(String file, StreamStateHandle handle) {
        confirmed.put(file, handle);
    }

    /** The changelog's next checkpoints will not name it. */
    public synchronized void forget(String file) {
        confirmed.remove(file);
    }

    /** A copy, by the names that the instance has for them. */
    public synchronized Map<String, StreamStateHandle> confirmed() {
        return new HashMap<>(confirmed);
    }
}
