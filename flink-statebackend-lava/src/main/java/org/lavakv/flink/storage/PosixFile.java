// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.storage;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;

/** An ordinary file. Threads: immutable. */
public final class PosixFile implements LocalFile {

    private final Path path;

    public PosixFile(Path path) {
        this.path = path;
    }

    Path path() {
        return path;
    }

    @Override
    public InputStream open() throws IOException {
        return Files.newInputStream(path);
    }

    @Override
    public String displayName() {
        return path.toString();
    }
}
