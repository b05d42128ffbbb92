// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv;

/**
 * Fetches the missing files of one instance when reads need them.
 *
 * <p>Threads: any. Ownership: the {@link MissingFiles} are the caller's.
 */
final class NeededFiles {

    private final String path;
    private volatile MissingFiles files;

    /** The directory of the instance, for messages. */
    NeededFiles(String path) {
        this.path = path;
    }

    /** See {@link LavaDB#setMissingFiles}. */
    void set(MissingFiles bringing) {
        files = bringing;
    }

    /** Fetches the missing file if the error of a read names one; otherwise throws the error. */
    void bring(LavaDBException e) throws LavaDBException {
        if (e.getCode() != Status.Code.NEEDS_FILE) {
            throw e;
        }
        MissingFiles bringing = files;
        if (bringing == null) {
            throw new LavaDBException(
                    Status.Code.NEEDS_FILE,
                    "reading the instance in "
                            + path
                            + " needs its file "
                            + e.getMessage()
                            + ", which has not arrived and is not being fetched");
        }
        bringing.bring(e.getMessage());
    }
}
