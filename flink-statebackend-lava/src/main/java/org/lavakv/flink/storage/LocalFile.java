package org.lavakv.flink.storage;

import java.io.IOException;
import java.io.InputStream;

/**
 * A file on this machine that never changes: an ordinary one, or one of a volume.
 *
 * <p>Threads: immutable. Ownership: none of the file; one of a volume must not be used after that
 * was closed.
 */
public interface LocalFile {

    /** Opens it; the caller closes the stream. Errors: IOException naming the file. */
    InputStream open() throws IOException;

    /** Where the file is, for people; the engine names it so, too. */
    String displayName();
}
