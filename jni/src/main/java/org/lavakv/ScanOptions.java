package org.lavakv;

import java.util.Arrays;
import java.util.Objects;

/**
 * What a scan visits. Reusable: setting a bound copies it into storage that is kept.
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

    /** Ends before this key; a length of 0: the end of the table. Ends a prefix scan. */
    public ScanOptions setUpper(byte[] key, int off, int len) {
        upper = copy(key, off, len, upper);
        upperBytes = len;
        prefixBytes = 0;
        return this;
    }

    /** Whether the lower bound itself is left out. */
    public ScanOptions setLowerExclusive(boolean lowerExclusive) {
        this.lowerExclusive = lowerExclusive;
        return this;
    }

    /**
     * Visits the keys that start with these bytes, from the first one; the upper bound is unused.
     */
    public ScanOptions setPrefix(byte[] prefix, int off, int len) {
        lower = copy(prefix, off, len, lower);
        lowerBytes = len;
        lowerExclusive = false;
        prefixBytes = len;
        return this;
    }

    /** Leaves the values out of the page. */
    public ScanOptions setKeysOnly(boolean keysOnly) {
        this.keysOnly = keysOnly;
        return this;
    }

    /**
     * False for scans of much that is not read again soon: what the cache does not have is read
     * ahead, in large pieces, and not kept.
     */
    public ScanOptions setFillCache(boolean fillCache) {
        this.fillCache = fillCache;
        return this;
    }

    /** Leading bytes of each key to leave out of the page. */
    public ScanOptions setSkipKeyBytes(int bytes) {
        if (bytes < 0) {
            throw new IllegalArgumentException("skipKeyBytes must not be negative: " + bytes);
        }
        skipKeyBytes = bytes;
        return this;
    }

    /** Entries of a page, at least 1. */
    public ScanOptions setEntriesMax(int entries) {
        if (entries < 1) {
            throw new IllegalArgumentException("entriesMax must be at least 1: " + entries);
        }
        entriesMax = entries;
        return this;
    }

    /** Bytes of a page, at least 1; a single entry may be larger. */
    public ScanOptions setBytesMax(int bytes) {
        if (bytes < 1) {
            throw new IllegalArgumentException("bytesMax must be at least 1: " + bytes);
        }
        bytesMax = bytes;
        return this;
    }

    /** Continues behind the last key of a page of this scan; does nothing for an empty page. */
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
