package org.lavakv.flink.engine;

import java.util.Arrays;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import javax.annotation.Nullable;
import org.lavakv.ScanPage;

/**
 * What keys had before they were written: their values, or that they did not exist. A view of an
 * earlier moment is what the table has now, with the before images of that time put over it.
 *
 * <p>Each image has the time at which it was recorded, by the clock of {@link CursorViews}, which
 * goes on with each view. A view that began at time t sees, of the images of a key, the oldest that
 * was recorded at t or later; keys without such an image were not written since.
 *
 * <p>Threads: one. Units: bytes of Java heap, estimated.
 */
final class BeforeImages {

    /** Stands for the value of a key where only the existence of keys is asked for. */
    static final byte[] EXISTS = {};

    /** What an image takes beside the bytes of its key and value. */
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

    /** About how much heap the images take. */
    long bytes() {
        return bytes;
    }

    /** Whether a view that began at this time needs an image of the key that is not here yet. */
    boolean lacks(byte[] key, long start) {
        Image newest = images.get(key);
        return newest == null || newest.time < start;
    }

    /**
     * Records what a key has at this time; not earlier than the images that are here.
     *
     * @param value null when the key does not exist; kept, not copied
     */
    void add(byte[] key, @Nullable byte[] value, long time) {
        Image image = new Image(time, value, images.get(key));
        images.put(key, image);
        bytes += image.bytes(key);
    }

    /** Forgets what only views need that began before this time. */
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

    /** The keys with an image behind {@code after} and up to {@code last}, or all for null. */
    NavigableMap<byte[], Image> range(byte[] after, @Nullable byte[] last) {
        return last == null
                ? images.tailMap(after, false)
                : images.subMap(after, false, last, true);
    }

    /**
     * Puts the images over a page of the table.
     *
     * @param page before its first entry; is left there
     * @param skipKeyBytes how many leading bytes of each key the page leaves out
     * @param after the key that the page begins behind
     * @param last the page's last key, or null when it is the last page
     * @param start when the view began
     * @return the entries of the view, or null when the page itself shows them
     */
    @Nullable
    EntryPage over(
            ScanPage page, int skipKeyBytes, byte[] after, @Nullable byte[] last, long start) {
        if (images.isEmpty()) {
            return null;
        }
        NavigableMap<byte[], Image> range = range(after, last);
        if (range.isEmpty()) {
            return null;
        }
        EntryPage merged = new EntryPage();
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
