// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.storage;

import java.io.IOException;
import java.io.InputStream;

/**
 * An immutable file on this machine: an ordinary one, or one of a volume.
 *
 * <p>Threads: immutable. Ownership: does not own the file. A file of a volume must not be used
 * after the volume was closed.
 */
public interface LocalFile {

    /** Opens the file; the caller closes the stream. Errors: IOException naming the file. */
    InputStream open() throws IOException;

    /** The file's location, for people; the engine uses the same name. */
    String displayName();
}
