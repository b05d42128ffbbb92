// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv;

/**
 * Fetches files that were imported before they were present, when reads need them.
 *
 * <p>Threads: called by any reading thread, also by several for the same file.
 */
public interface MissingFiles {

    /**
     * Returns once any thread has called {@link LavaDB#fileArrived} for the file; the read then
     * continues.
     *
     * @param name a file's name in the instance's directory
     * @throws LavaDBException when the fetch fails or is abandoned; the read ends with this
     *     exception
     */
    void bring(String name) throws LavaDBException;
}
