// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.storage;

import java.io.IOException;
import java.nio.file.Path;
import org.lavakv.local.PrivateFiles;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Gives an immutable file a second name. Threads: any. */
public final class HardLinks {

    private static final Logger LOG = LoggerFactory.getLogger(HardLinks.class);

    private HardLinks() {}

    /**
     * Makes {@code to} the same file as {@code from}, or a copy where a link is impossible, for
     * example across file systems. Other users lose their rights to the file if it belongs to this
     * user; a copy belongs to this user.
     */
    public static void linkOrCopy(Path from, Path to) throws IOException {
        try {
            PrivateFiles.link(from, to);
        } catch (UnsupportedOperationException | IOException | SecurityException e) {
            LOG.debug("A hard link from {} to {} is impossible. The file is copied.", from, to, e);
            PrivateFiles.copy(from, to);
        }
    }
}
