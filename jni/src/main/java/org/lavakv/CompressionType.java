// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv;

/** Compression of blocks and values in files. */
public enum CompressionType {
    /** No compression. */
    NONE(0),
    /** LZ4: fast, moderate. */
    LZ4(1),
    /** Zstandard: slower, smaller. */
    ZSTD(2);

    private final int number;

    CompressionType(int number) {
        this.number = number;
    }

    int number() {
        return number;
    }
}
