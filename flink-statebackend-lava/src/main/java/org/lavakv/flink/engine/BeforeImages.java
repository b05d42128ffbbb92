// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.engine;

import java.util.Arrays;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import javax.annotation.Nullable;
import org.lavakv.ScanPage;

/**
 * Before images of keys: the value that a key had before a write, or that the key did not exist. A
 * view of an earlier moment is the current table, overlaid with the before images recorded since.
 *
 * <p>Each image has the time at which it was recorded, by the clock of {@link CursorViews}, which
 * advances with each view. A view that began at time t sees, of the images of a key, the oldest
 * that was recorded at t or later. A key without such an image was not written since.
 *
 * <p>Threads: one. Units: bytes of Java heap, estimated.
 */
final class BeforeImages {

    /** Represents the value of a key where only the existence of keys matters. */
    static final byte[] EXISTS = {};

    /** Overhead of an image in addition to the bytes of its key and value. */
    private static final int IMAGE_BYTES = 128;

    private final TreeMap<byte[], Image> images = new TreeMap<>(Arrays::compareUnsigned);
    private long bytes;

    private static final class Image {
        final long time;
        @Nullable final byte[] value;
        @Nullable Image older;

        Image(long time, @Nullable byte[] value, @Nullable Image older) {
            this.time = time;
            this.value = value;
            this.older = older;
        }

        long bytes(byte[] key) {
            return IMAGE_BYTES + key.length + (value == null ? 0 : value.length);
        }
    }

    /** Estimated heap size of the images. */
    long bytes() {
        return bytes;
    }

    /**
     * Whether a view that began at this time needs an image of the key that was not recorded yet.
     */
    boolean lacks(byte[] key, long start) {
        Image newest = images.get(key);
        return newest == null || newest.time < start;
    }

    /**
     * Records the value of a key at this time, which is not earlier than that of existing images.
     *
     * @param value null when the key does not exist; kept, not copied
     */
    void add(byte[] key, @Nullable byte[] value, long time) {
        Image image = new Image(time, value, images.get(key));
        images.put(key, image);
        bytes += image.bytes(key);
    }

    /** Drops images that only views needed that began before this time. */
    void trim(long start) {
        bytes = 0;
        for (var entries = images.entrySet().iterator(); entries.hasNext(); ) {
            Map.Entry<byte[], Image> entry = entries.next();
            Image image = entry.getValue();
            if (image.time < start) {
                entries.remove();
                continue;
            }
            bytes += image.bytes(entry.getKey());
            while (image.older != null && image.older.time >= start) {
                image = image.older;
                bytes += image.bytes(entry.getKey());
            }
            image.older = null;
        }
    }

    /**
     * The keys with an image after {@code after} and up to {@code last}, or without upper bound for
     * null.
     */
    NavigableMap<byte[], Image> range(byte[] after, @Nullable byte[] last) {
        return last == null
                ? images.tailMap(after, false)
                : images.subMap(after, false, last, true);
    }

    /**
     * Overlays a page of the table with the images.
     *
     * @param page positioned before its first entry, and left there
     * @param skipKeyBytes how many leading bytes of each key the page omits
     * @param after the exclusive lower bound of the page
     * @param last the page's last key, or null when it is the last page
     * @param start when the view began
     * @return the entries of the view, or null when they equal the page's entries
     */
    @Nullable
    HeapScanPage over(
            ScanPage page, int skipKeyBytes, byte[] after, @Nullable byte[] last, long start) {
        if (images.isEmpty()) {
            return null;
        }
        NavigableMap<byte[], Image> range = range(after, last);
        if (range.isEmpty()) {
            return null;
        }
        HeapScanPage merged = new HeapScanPage();
        var entries = range.entrySet().iterator();
        Map.Entry<byte[], Image> entry = entries.next();
        boolean more = page.next();
        while (more || entry != null) {
            int order = entry == null ? -1 : more ? compare(page, entry.getKey(), skipKeyBytes) : 1;
            if (order < 0) {
                merged.addCurrent(page);
                more = page.next();
                continue;
            }
            Image image = oldestSince(entry.getValue(), start);
            if (image != null && image.value != null) {
                merged.add(entry.getKey(), skipKeyBytes, image.value);
            } else if (image == null && order == 0) {
                merged.addCurrent(page);
            }
            more = order == 0 ? page.next() : more;
            entry = entries.hasNext() ? entries.next() : null;
        }
        page.rewind();
        return merged;
    }

    private static int compare(ScanPage page, byte[] key, int skipKeyBytes) {
        int from = page.keyOffset();
        return Arrays.compareUnsigned(
                page.buffer(), from, from + page.keyLength(), key, skipKeyBytes, key.length);
    }

    @Nullable
    private static Image oldestSince(Image newest, long start) {
        if (newest.time < start) {
            return null;
        }
        Image image = newest;
        while (image.older != null && image.older.time >= start) {
            image = image.older;
        }
        return image;
    }
}
