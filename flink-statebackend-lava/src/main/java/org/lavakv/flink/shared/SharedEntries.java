// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.shared;

import java.io.IOException;
import java.util.List;
import org.lavakv.EntryLog;
import org.lavakv.LavaDBException;

/** Decodes changes from a segment's bytes, wherever they come from. Threads: any, without state. */
public final class SharedEntries {
    private SharedEntries() {}

    /**
     * The changes in these bytes of a segment.
     *
     * @param file the segment's name among the files of its instance
     * @param offset the offset of the bytes in the segment
     * @throws IOException saying what is wrong, and where
     */
    public static List<byte[]> decode(String file, long offset, byte[] bytes) throws IOException {
        // The backend has already loaded the library if it is Lava. Otherwise the directory for
        // temporary files must do.
        NativeLibrary.load(null);
        try {
            return EntryLog.decode(file, offset, bytes, 0, bytes.length);
        } catch (LavaDBException e) {
            throw new IOException(e.getMessage(), e);
        }
    }
}
