// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Bytes written by this process, as counted by the system. One thread. */
final class WrittenBytes {
    private static final String CALLS = "wchar:";
    private static final String STORAGE = "write_bytes:";

    private WrittenBytes() {}

    /**
     * The larger of the bytes written by calls and those written to storage. Calls do not include
     * writes to mapped memory or through io_uring, and some file systems have no storage.
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
