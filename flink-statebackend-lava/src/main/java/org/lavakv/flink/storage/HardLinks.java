package org.lavakv.flink.storage;

import java.io.IOException;
import java.nio.file.Path;
import org.lavakv.local.PrivateFiles;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Gives a file, which never changes, a second name. Threads: any. */
public final class HardLinks {

    private static final Logger LOG = LoggerFactory.getLogger(HardLinks.class);

    private HardLinks() {}

    /**
     * Makes {@code to} the same file as {@code from}, or a copy where there can be no link, as
     * across file systems. What rights others had to the file they lose, if it is this user's; a
     * copy is this user's.
     */
    public static void linkOrCopy(Path from, Path to) throws IOException {
        try {
            PrivateFiles.link(from, to);
        } catch (UnsupportedOperationException | IOException | SecurityException e) {
            LOG.debug("No hard link from {} to {}, copying.", from, to, e);
            PrivateFiles.copy(from, to);
        }
    }
}
