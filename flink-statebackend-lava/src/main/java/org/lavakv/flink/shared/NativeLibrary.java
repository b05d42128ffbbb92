package org.lavakv.flink.shared;

import java.io.File;
import java.io.IOException;
import javax.annotation.Nullable;
import org.lavakv.LavaDB;
import org.lavakv.Warnings;
import org.slf4j.LoggerFactory;

/** Loads the native library, whose warnings go to the TaskManager's log. Threads: any. */
public final class NativeLibrary {

    private NativeLibrary() {}

    /**
     * Does nothing when the library is loaded already.
     *
     * @param directory for the library's copy, or null for the one for temporary files
     */
    public static void load(@Nullable File directory) throws IOException {
        // Before: that a copy is not the first in the process is told as it is loaded.
        Warnings.setSink(NativeLibrary::warn);
        LavaDB.loadLibrary(directory);
    }

    private static void warn(Class<?> source, String message, @Nullable Throwable cause) {
        LoggerFactory.getLogger(source).warn(message, cause);
    }
}
