package org.lavakv.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** What this process has written, by the system's count. One thread. */
final class WrittenBytes {
    private static final String CALLS = "wchar:";
    private static final String STORAGE = "write_bytes:";

    private WrittenBytes() {}

    /**
     * By calls, or to storage, whichever is more: writes into memory mapped or through io_uring are
     * not among the calls, and some file systems have no storage.
     */
    static long now() throws IOException {
        return parse(Files.readString(Path.of("/proc/self/io")));
    }

    static long parse(String text) throws IOException {
        long calls = -1;
        long storage = -1;
        for (String line : text.split("\n")) {
            if (line.startsWith(CALLS)) {
                calls = Long.parseLong(line.substring(CALLS.length()).trim());
            } else if (line.startsWith(STORAGE)) {
                storage = Long.parseLong(line.substring(STORAGE.length()).trim());
            }
        }
        if (calls < 0 || storage < 0) {
            throw new IOException("/proc/self/io lacks " + CALLS + " or " + STORAGE + " " + text);
        }
        return Math.max(calls, storage);
    }
}
