// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv;

import java.util.Arrays;
import java.util.Objects;

/**
 * The range and the limits of a scan. Reusable: setting a bound copies it into storage that is
 * kept.
 *
 * <p>Threads: one thread at a time.
 *
 * <p>Units: bytes, entries.
 */
public final class ScanOptions {

    private static final byte[] NOTHING = {};

    byte[] lower = NOTHING;
    int lowerBytes;
    byte[] upper = NOTHING;
    int upperBytes;
    boolean lowerExclusive;
    int prefixBytes;
    boolean keysOnly;
    boolean fillCache = true;
    int skipKeyBytes;
    int entriesMax = 1024;
    int bytesMax = 64 << 10;

    /** A scan of the whole table, in pages of 1024 entries or 64 KiB. */
    public ScanOptions() {}

    /** Starts at this key (inclusive, see {@link #setLowerExclusive}). Ends a prefix scan. */
    public ScanOptions setLower(byte[] key, int off, int len) {
        lower = copy(key, off, len, lower);
        lowerBytes = len;
        prefixBytes = 0;
        return this;
    }

    /** Ends before this key. A length of 0 means the end of the table. Ends a prefix scan. */
    public ScanOptions setUpper(byte[] key, int off, int len) {
        upper = copy(key, off, len, upper);
        upperBytes = len;
        prefixBytes = 0;
        return this;
    }

    /** Whether the lower bound itself is excluded. */
    public ScanOptions setLowerExclusive(boolean lowerExclusive) {
        this.lowerExclusive = lowerExclusive;
        return this;
    }

    /** Visits the keys with this prefix from the first one; the upper bound is unused. */
    public ScanOptions setPrefix(byte[] prefix, int off, int len) {
        lower = copy(prefix, off, len, lower);
        lowerBytes = len;
        lowerExclusive = false;
        prefixBytes = len;
        return this;
    }

    /** Omits values from the page. */
    public ScanOptions setKeysOnly(boolean keysOnly) {
        this.keysOnly = keysOnly;
        return this;
    }

    /**
     * False for large scans of data that will not be read again soon: data outside the cache is
     * then read ahead in large pieces, and not cached.
     */
    public ScanOptions setFillCache(boolean fillCache) {
        this.fillCache = fillCache;
        return this;
    }

    /** Number of leading bytes of each key that the page omits. */
    public ScanOptions setSkipKeyBytes(int bytes) {
        if (bytes < 0) {
            throw new IllegalArgumentException("skipKeyBytes must not be negative: " + bytes);
        }
        skipKeyBytes = bytes;
        return this;
    }

    /** Maximum number of entries in a page, at least 1. */
    public ScanOptions setEntriesMax(int entries) {
        if (entries < 1) {
            throw new IllegalArgumentException("entriesMax must be at least 1: " + entries);
        }
        entriesMax = entries;
        return this;
    }

    /** Maximum size of a page, at least 1; a single entry may be larger. */
    public ScanOptions setBytesMax(int bytes) {
        if (bytes < 1) {
            throw new IllegalArgumentException("bytesMax must be at least 1: " + bytes);
        }
        bytesMax = bytes;
        return this;
    }

    /** Continues after the last key of a page of this scan; does nothing for an empty page. */
    public ScanOptions continueAfter(ScanPage page) {
        if (page.lastKeyLength() > 0) {
            lower = copy(page.buffer(), page.lastKeyOffset(), page.lastKeyLength(), lower);
            lowerBytes = page.lastKeyLength();
            lowerExclusive = true;
        }
        return this;
    }

    private static byte[] copy(byte[] from, int off, int len, byte[] to) {
        Objects.checkFromIndexSize(off, len, from.length);
        byte[] target = to.length >= len ? to : new byte[Math.max(64, len)];
        System.arraycopy(from, off, target, 0, len);
        return target;
    }

    @Override
    public String toString() {
        return "{lower of "
                + lowerBytes
                + " bytes, upper of "
                + upperBytes
                + " bytes, prefix "
                + prefixBytes
                + ", entries "
                + entriesMax
                + ", bytes "
                + bytesMax
                + ", keys only "
                + keysOnly
                + ", fill cache "
                + fillCache
                + ", hash of lower "
                + Arrays.hashCode(Arrays.copyOf(lower, lowerBytes))
                + "}";
    }
}
