package org.lavakv.local;

import java.io.IOException;
import java.nio.file.Path;

/**
 * A name in a local directory for a file or directory of this process. What has the name is removed
 * when this is closed or, if the process is killed before, by the next process that claims a name
 * in the same directory (this user's, of this machine). So a name is for what nobody needs after
 * the process's end.
 *
 * <p>How a process is known to be dead: {@link Leftovers}.
 *
 * <p>Threads: any.
 *
 * <p>Ownership: the caller makes what has the name, and closes this.
 */
public final class OwnedPath implements AutoCloseable {

    private final OwnerFile owner;
    private final Path path;
    private boolean closed;

    private OwnedPath(OwnerFile owner, Path path) {
        this.owner = owner;
        this.path = path;
    }

    /**
     * Claims a name that nobody had before. The first claim of a process in a directory removes
     * what killed processes left there.
     *
     * @param directory made with those above it if missing
     * @param begin of the name
     * @param end of the name
     * @throws IOException naming the directory, when this process cannot make files in it
     */
    public static OwnedPath claim(Path directory, String begin, String end) throws IOException {
        try {
            PrivateFiles.createDirectories(directory);
            OwnerFile owner = OwnerFile.use(directory);
            return new OwnedPath(owner, owner.newName(directory, begin, end));
        } catch (IOException e) {
            throw new IOException("No local files can be made in " + directory + ": " + e, e);
        }
    }

    /** Absolute; nothing has the name unless the caller made it. */
    public Path path() {
        return path;
    }

    /**
     * Removes what has the name, with all that is in it. Repeating it does nothing.
     *
     * @throws IOException when not all of it could be removed; the next process tries again
     */
    @Override
    public synchronized void close() throws IOException {
        if (closed) {
            return;
        }
        closed = true;
        boolean gone = false;
        try {
            Leftovers.delete(path);
            gone = true;
        } finally {
            owner.release(!gone);
        }
    }
}
