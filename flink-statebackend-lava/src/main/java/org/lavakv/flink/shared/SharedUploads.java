// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.shared;

import java.util.HashMap;
import java.util.Map;
import org.apache.flink.runtime.state.StreamStateHandle;

/**
 * Files of an instance that are also files of the changelog, and that a completed checkpoint names.
 * A checkpoint of the instance may name such a file instead of uploading it, as long as all
 * checkpoints until then name it as a file of the changelog.
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

    /** A copy, by the instance's names for the files. */
    public synchronized Map<String, StreamStateHandle> confirmed() {
        return new HashMap<>(confirmed);
    }
}
