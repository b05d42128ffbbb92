// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.engine;

import java.util.Arrays;
import org.lavakv.ScanPage;

/**
 * Entries assembled on the heap, which are read like those of a {@link ScanPage}.
 *
 * <p>Threads: one. Ownership: owns its bytes.
 */
final class HeapScanPage {

    private static final int FIELDS = 3;

    private byte[] buffer = new byte[1 << 10];
    private int used;

    /** For each entry: its offset, the length of its key, the length of its value. */
    private int[] entries = new int[FIELDS * 64];

    private int count;
    private int current = -1;

    /** Adds the page's current entry. */
    void addCurrent(ScanPage page) {
        begin(page.keyLength(), page.valueLength());
        copy(page.buffer(), page.keyOffset(), page.keyLength());
        copy(page.buffer(), page.valueOffset(), page.valueLength());
    }

    /** Adds an entry without the first bytes of its key. */
    void add(byte[] key, int skipKeyBytes, byte[] value) {
        begin(key.length - skipKeyBytes, value.length);
        copy(key, skipKeyBytes, key.length - skipKeyBytes);
        copy(value, 0, value.length);
    }

    private void begin(int keyBytes, int valueBytes) {
        long needed = (long) used + keyBytes + valueBytes;
        if (needed > buffer.length) {
            long larger = Math.max(needed, 2L * buffer.length);
            buffer = Arrays.copyOf(buffer, (int) Math.min(Integer.MAX_VALUE - 8, larger));
        }
        if ((count + 1) * FIELDS > entries.length) {
            entries = Arrays.copyOf(entries, 2 * entries.length);
        }
        entries[count * FIELDS] = used;
        entries[count * FIELDS + 1] = keyBytes;
        entries[count * FIELDS + 2] = valueBytes;
        count++;
    }

    private void copy(byte[] from, int off, int len) {
        System.arraycopy(from, off, buffer, used, len);
        used += len;
    }

    int count() {
        return count;
    }

    /** Moves to the next entry, which must exist. */
    void next() {
        current++;
    }

    byte[] buffer() {
        return buffer;
    }

    int keyOffset() {
        return entries[current * FIELDS];
    }

    int keyLength() {
        return entries[current * FIELDS + 1];
    }

    int valueOffset() {
        return keyOffset() + keyLength();
    }

    int valueLength() {
        return entries[current * FIELDS + 2];
    }
}
