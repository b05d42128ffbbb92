// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.shared;

import java.io.File;
import java.io.IOException;
import java.lang.System.Logger.Level;
import javax.annotation.Nullable;
import org.lavakv.LavaDB;
import org.lavakv.log.LibraryLog;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Loads the native library, and forwards the bindings' log messages to the TaskManager's log.
 * Threads: any.
 */
public final class NativeLibrary {

    private NativeLibrary() {}

    /**
     * Does nothing when the library is already loaded.
     *
     * @param directory for the library's copy, or null for the directory for temporary files
     */
    public static void load(@Nullable File directory) throws IOException {
        // Set before loading: a message that another copy exists in the process is logged during
        // loading.
        LibraryLog.setSink(NativeLibrary::log);
        LavaDB.loadLibrary(directory);
    }

    private static void log(
            Level level, Class<?> source, String message, @Nullable Throwable cause) {
        Logger log = LoggerFactory.getLogger(source);
        switch (level) {
            case ERROR:
                log.error(message, cause);
                break;
            case WARNING:
                log.warn(message, cause);
                break;
            case INFO:
                log.info(message, cause);
                break;
            default:
                log.debug(message, cause);
        }
    }
}
