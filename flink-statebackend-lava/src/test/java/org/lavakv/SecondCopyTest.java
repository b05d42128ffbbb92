// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.lavakv.flink.shared.NativeLibrary;
import org.lavakv.flink.testing.LogLines;

/**
 * A process that loads the native library twice reports the second copy in the TaskManager's log.
 */
@Timeout(60)
class SecondCopyTest {

    @TempDir Path directory;

    @Test
    void aSecondCopyOfTheLibraryIsLoggedByTheTaskManagersLogger() throws Exception {
        NativeLibrary.load(directory.toFile());
        String copies = System.getProperty(NativeLibraryLoader.COPIES_PROPERTY);
        try (LogLines log = new LogLines(NativeLibraryLoader.class.getName(), true)) {
            // As another class loader's copy of the classes does, except for the load itself.
            new NativeLibraryLoader(NativeLibraryLoader::openResource, file -> {})
                    .load(directory.toFile());
            assertThat(log.lines()).hasSize(1);
            assertThat(log.lines().get(0))
                    .startsWith("WARN")
                    .contains("copy number " + (Integer.parseInt(copies) + 1))
                    .contains("Flink's lib directory");
        } finally {
            System.setProperty(NativeLibraryLoader.COPIES_PROPERTY, copies);
        }
    }
}
