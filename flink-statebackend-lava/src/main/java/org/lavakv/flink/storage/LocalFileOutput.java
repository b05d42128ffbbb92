package org.lavakv.flink.storage;

import java.io.FilterOutputStream;
import java.io.IOException;
import java.nio.file.Path;
import org.lavakv.local.PrivateFiles;

/**
 * Writes a new local file, for its user alone. Unlike the JDK's streams it says which file could
 * not be written: a full disk must be told by its directory.
 *
 * <p>Threads: one. Ownership: the caller closes it. Errors: IOException naming the file.
 */
public final class LocalFileOutput extends FilterOutputStream {

    private final Path file;

    /** Makes the file, which must not exist. */
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
