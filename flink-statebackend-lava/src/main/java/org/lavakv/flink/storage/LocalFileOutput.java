// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.storage;

import java.io.FilterOutputStream;
import java.io.IOException;
import java.nio.file.Path;
import org.lavakv.local.PrivateFiles;

/**
 * Writes a new local file, for its user alone. Unlike the JDK's streams it names the file when a
 * write fails: the message of a full disk must name the directory.
 *
 * <p>Threads: one. Ownership: the caller closes it. Errors: IOException naming the file.
 */
public final class LocalFileOutput extends FilterOutputStream {

    private final Path file;

    /** Creates the file, which must not exist. */
    public LocalFileOutput(Path file) throws IOException {
        super(PrivateFiles.newOutputStream(file));
        this.file = file;
    }

    @Override
    public void write(int b) throws IOException {
        write(new byte[] {(byte) b}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
        try {
            out.write(bytes, offset, length);
        } catch (IOException e) {
            throw failure(e);
        }
    }

    @Override
    public void close() throws IOException {
        try {
            out.close();
        } catch (IOException e) {
            throw failure(e);
        }
    }

    private IOException failure(IOException e) {
        return new IOException(
                "Writing "
                        + file
                        + " failed: "
                        + e.getMessage()
                        + ". Check the space in "
                        + file.getParent()
                        + ".",
                e);
    }
}
