// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.snapshot;

/** Which files of a checkpoint are uploaded together. Threads: immutable. */
public final class PackLimits {

    private final long fileBytes;
    private final long packBytes;

    /**
     * @param fileBytes files below this size are packed; 0: none
     * @param packBytes a file that would make a pack larger than this goes into another pack
     */
    public PackLimits(long fileBytes, long packBytes) {
        this.fileBytes = fileBytes;
        this.packBytes = packBytes;
    }

    long fileBytes() {
        return fileBytes;
    }

    long packBytes() {
        return packBytes;
    }
}
