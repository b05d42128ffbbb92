// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The platform of this JVM, and whether the native library supports it.
 *
 * <p>Threads: immutable.
 */
final class Platform {

    private static final String SUPPORTED =
            "Lava's native library runs on Linux on x86-64 (amd64) with glibc 2.34 or newer";

    private final String system;
    private final String processor;
    private final boolean musl;

    Platform(String system, String processor, String memoryMap) {
        this.system = system;
        this.processor = processor;
        this.musl = memoryMap.contains("/ld-musl-") || memoryMap.contains("/libc.musl-");
    }

    static Platform current() {
        return new Platform(
                System.getProperty("os.name", ""), System.getProperty("os.arch", ""), memoryMap());
    }

    /** Refuses an unsupported platform with a message that lists the supported ones. */
    void check() throws IOException {
        if (!system.equals("Linux")) {
            throw new IOException(SUPPORTED + "; this system is " + system);
        }
        if (!processor.equals("amd64") && !processor.equals("x86_64")) {
            throw new IOException(SUPPORTED + "; this processor is " + processor);
        }
        if (musl) {
            throw new IOException(
                    SUPPORTED
                            + "; this JVM runs on musl (as on Alpine Linux): use an image that is"
                            + " based on glibc, such as Flink's own");
        }
    }

    /**
     * The process's memory mappings, which show the C library in use; empty when they cannot be
     * read.
     */
    private static String memoryMap() {
        try {
            return new String(
                    Files.readAllBytes(Path.of("/proc/self/maps")), StandardCharsets.ISO_8859_1);
        } catch (IOException | SecurityException e) {
            return "";
        }
    }
}
