// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * Entries of a scan. One native call fills the page, and reading it allocates nothing: {@code while
 * (page.next()) { use page.buffer() at page.keyOffset() ... }}.
 *
 * <p>A page of a {@link TablesScan} has sections, each with entries of one table and partition:
 * {@link #nextSection} enters the next section, and {@link #next} visits its entries.
 *
 * <p>Threads: one thread at a time.
 *
 * <p>Ownership: reusable; offsets and buffer are valid until the page is filled again.
 *
 * <p>Units: bytes.
 */
public final class ScanPage {

    /**
     * The header before the entries, as int32: number of entries, flags, bytes of entries, bytes of
     * the last key. The lowest flag is {@link #FLAG_DONE}; the bits above it are the number of
     * sections. The last key and the sections follow the entries.
     */
    static final int HEADER_BYTES = 16;

    private static final VarHandle INT32 =
            MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.BIG_ENDIAN);
    private static final int FLAG_DONE = 1;

    /** Each entry is preceded by the lengths of key and value, as int32. */
    private static final int ENTRY_HEADER_BYTES = 8;

    private static final int SECTIONS_SHIFT = 1;

    /** A section is, as int32: the table's index in the scan, partition, number of entries. */
    private static final int SECTION_BYTES = 12;

    private byte[] buffer;
    private int count;
    private boolean done;
    private int lastKeyOffset;
    private int lastKeyLength;

    private int sections;
    private int section;
    private int sectionEnd;

    private int visited;
    private int nextOffset;
    private int keyOffset;
    private int keyLength;
    private int valueOffset;
    private int valueLength;

    /** An empty page. */
    public ScanPage() {
        this(new byte[512]);
    }

    private ScanPage(byte[] buffer) {
        this.buffer = buffer;
    }

    /** Number of entries in the page. */
    public int count() {
        return count;
    }

    /** Whether the range has no further entries after this page. */
    public boolean done() {
        return done;
    }

    /**
     * Enters the next section, before its first entry; false when there is none. Unvisited entries
     * of the previous section are skipped.
     */
    public boolean nextSection() {
        while (next()) {
            // Moves to the begin of the next section.
        }
        if (section + 1 >= sections) {
            return false;
        }
        section++;
        sectionEnd = visited + sectionField(section, 8);
        return true;
    }

    /** The index of the current section's table in the scan's list. */
    public int sectionTable() {
        return sectionField(section, 0);
    }

    /** The partition of the current section's entries. */
    public int sectionPartition() {
        return sectionField(section, 4);
    }

    /** The index of the last entry's table in the scan's list. */
    int lastTable() {
        return sectionField(sections - 1, 0);
    }

    private int sectionField(int of, int offset) {
        return (int) INT32.get(buffer, sectionsOffset() + of * SECTION_BYTES + offset);
    }

    private int sectionsOffset() {
        return lastKeyOffset + lastKeyLength;
    }

    /**
     * Moves to the next entry, within the current section if the page has sections; false after the
     * last one.
     *
     * @throws IllegalStateException when the native library filled the page with invalid data
     */
    public boolean next() {
        if (visited == sectionEnd) {
            return false;
        }
        int left = lastKeyOffset - nextOffset - ENTRY_HEADER_BYTES;
        if (left < 0) {
            throw malformed();
        }
        int keyBytes = (int) INT32.get(buffer, nextOffset);
        int valueBytes = (int) INT32.get(buffer, nextOffset + 4);
        if ((keyBytes | valueBytes) < 0 || (long) keyBytes + valueBytes > left) {
            throw malformed();
        }
        visited++;
        keyLength = keyBytes;
        valueLength = valueBytes;
        keyOffset = nextOffset + ENTRY_HEADER_BYTES;
        valueOffset = keyOffset + keyLength;
        nextOffset = valueOffset + valueLength;
        return true;
    }

    /** Moves back before the first entry, and before the first section if the page has sections. */
    public void rewind() {
        section = -1;
        sectionEnd = sections > 0 ? 0 : count;
        visited = 0;
        nextOffset = HEADER_BYTES;
    }

    /** The bytes that the offsets point into; another array after the next fill. */
    public byte[] buffer() {
        return buffer;
    }

    /** Where the current key starts, without its skipped bytes. */
    public int keyOffset() {
        return keyOffset;
    }

    public int keyLength() {
        return keyLength;
    }

    public int valueOffset() {
        return valueOffset;
    }

    /** Zero in a scan of keys only. */
    public int valueLength() {
        return valueLength;
    }

    /** A copy of the current key, without its skipped bytes. */
    public byte[] key() {
        return Arrays.copyOfRange(buffer, keyOffset, keyOffset + keyLength);
    }

    /** A copy of the current value. */
    public byte[] value() {
        return Arrays.copyOfRange(buffer, valueOffset, valueOffset + valueLength);
    }

    /** A copy of the whole last key of the page; empty for an empty page. */
    public byte[] lastKey() {
        return Arrays.copyOfRange(buffer, lastKeyOffset, lastKeyOffset + lastKeyLength);
    }

    /** Offset of the whole last key in the buffer. */
    public int lastKeyOffset() {
        return lastKeyOffset;
    }

    public int lastKeyLength() {
        return lastKeyLength;
    }

    /** Number of bytes of the buffer that the page uses. */
    public int usedBytes() {
        return sectionsOffset() + sections * SECTION_BYTES;
    }

    /** A new page with the same content, at the same entry, without space for more. */
    public ScanPage copy() {
        ScanPage copy = new ScanPage(Arrays.copyOf(buffer, usedBytes()));
        copy.count = count;
        copy.done = done;
        copy.lastKeyOffset = lastKeyOffset;
        copy.lastKeyLength = lastKeyLength;
        copy.sections = sections;
        copy.section = section;
        copy.sectionEnd = sectionEnd;
        copy.visited = visited;
        copy.nextOffset = nextOffset;
        copy.keyOffset = keyOffset;
        copy.keyLength = keyLength;
        copy.valueOffset = valueOffset;
        copy.valueLength = valueLength;
        return copy;
    }

    /** Enlarges the buffer; the page's content is lost. */
    byte[] reserve(int bytes) {
        clear();
        if (buffer.length < bytes) {
            buffer = new byte[bytes];
        }
        return buffer;
    }

    /**
     * Reads the header that the native call wrote.
     *
     * @throws LavaDBException INTERNAL when it contradicts the page; the page is empty then
     */
    void filled() throws LavaDBException {
        int entries = (int) INT32.get(buffer, 0);
        int flags = (int) INT32.get(buffer, 4);
        int entryBytes = (int) INT32.get(buffer, 8);
        int keyBytes = (int) INT32.get(buffer, 12);
        long sectionBytes = (long) (flags >>> SECTIONS_SHIFT) * SECTION_BYTES;
        if ((entries | entryBytes | keyBytes) < 0
                || (long) entries * ENTRY_HEADER_BYTES > entryBytes
                || (long) entryBytes + keyBytes + sectionBytes > buffer.length - HEADER_BYTES) {
            clear();
            throw new LavaDBException(
                    Status.Code.INTERNAL,
                    "scanning: the native library says that a page of "
                            + buffer.length
                            + " bytes holds "
                            + entries
                            + " entries of "
                            + entryBytes
                            + " bytes, a key of "
                            + keyBytes
                            + " and sections of "
                            + sectionBytes
                            + "; use the library that is in this jar");
        }
        count = entries;
        done = (flags & FLAG_DONE) != 0;
        lastKeyOffset = HEADER_BYTES + entryBytes;
        lastKeyLength = keyBytes;
        sections = flags >>> SECTIONS_SHIFT;
        checkSections();
        rewind();
    }

    /** Checks that the sections, if there are any, cover all entries, and that none is empty. */
    private void checkSections() throws LavaDBException {
        long inSections = 0;
        boolean sound = true;
        for (int i = 0; i < sections; i++) {
            int entries = sectionField(i, 8);
            sound &= entries > 0 && sectionField(i, 0) >= 0 && sectionField(i, 4) >= 0;
            inSections += entries;
        }
        if (sections > 0 && (!sound || inSections != count)) {
            int entries = count;
            clear();
            throw new LavaDBException(
                    Status.Code.INTERNAL,
                    "scanning: the native library filled a page of "
                            + entries
                            + " entries with sections of others; use the library that is in this"
                            + " jar");
        }
    }

    private IllegalStateException malformed() {
        return new IllegalStateException(
                "The native library filled a page with other content than the "
                        + count
                        + " entries that it names, at offset "
                        + nextOffset
                        + " of "
                        + lastKeyOffset
                        + "; use the library that is in this jar.");
    }

    private void clear() {
        count = 0;
        sections = 0;
        done = false;
        lastKeyOffset = 0;
        lastKeyLength = 0;
        keyOffset = 0;
        keyLength = 0;
        valueOffset = 0;
        valueLength = 0;
        rewind();
    }
}
