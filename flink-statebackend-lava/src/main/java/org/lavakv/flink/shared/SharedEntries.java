package org.lavakv.flink.shared;

import java.io.IOException;
import java.util.List;
import org.lavakv.EntryLog;
import org.lavakv.LavaDBException;

/** Reads changes out of a segment, wherever it is. Threads: any, without state. */
public final class SharedEntries {
    private SharedEntries() {}

    /**
     * The changes in these bytes of a segment.
     *
     * @param file the segment's name among the files of its instance
     * @param offset where the bytes were in it
     * @throws IOException saying what is wrong, and where
     */
    public static List<byte[]> decode(String file, long offset, byte[] bytes) throws IOException {
        // The backend has loaded it, if it is Lava; else the directory for temporary files must do.
        NativeLibrary.load(null);
        try {
            return EntryLog.decode(file, offset, bytes, 0, bytes.length);
        } catch (LavaDBException e) {
            throw new IOException(e.getMessage(), e);
        }
    }
}
