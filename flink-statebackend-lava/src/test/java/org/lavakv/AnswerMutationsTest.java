// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.lavakv.flink.testing.Mutations;

/** Every result of the native library, even a damaged one, is either decoded or refused. */
@Timeout(300)
class AnswerMutationsTest {

    private static byte[] packed() {
        ByteBuffer out = ByteBuffer.allocate(200);
        out.putInt(2);
        for (String name : List.of("a table", "other")) {
            out.putInt(name.length()).put(name.getBytes());
            out.putLong(77).put((byte) 1).put((byte) 3).putLong(1000).putLong(5);
        }
        out.putInt(1).putInt(3).put("f-1".getBytes()).putLong(4096).putInt(0x12345678);
        out.putInt(2).put(new byte[] {7, 8});
        return java.util.Arrays.copyOf(out.array(), out.position());
    }

    private static void decode(byte[] answer) throws LavaDBException {
        Decoder in = new Decoder(answer);
        in.tables();
        in.files();
        in.bytes();
    }

    @Test
    void packedAnswers() throws Exception {
        new Mutations(List.of(packed()), LavaDBException.class)
                .run(Mutations.MANY, AnswerMutationsTest::decode);
    }

    @Test
    void lengthBeyondTheAnswerTakesNoMemory() {
        byte[] answer = packed();
        answer[4] = 0x7f;
        assertThatThrownBy(() -> decode(answer))
                .isInstanceOf(LavaDBException.class)
                .hasMessageContaining("at offset 8 of " + answer.length);
    }

    private static byte[] filledPage() {
        ByteBuffer out = ByteBuffer.allocate(16 + 2 * 8 + 3 + 10 + 5);
        out.putInt(2).putInt(1).putInt(2 * 8 + 3 + 10).putInt(5);
        out.putInt(3).putInt(10).put(new byte[13]);
        out.putInt(0).putInt(0);
        out.put("a key".getBytes());
        return out.array();
    }

    private static byte[] filledPageOfTables() {
        ByteBuffer out = ByteBuffer.allocate(16 + 3 * 8 + 6 + 5 + 2 * 12);
        out.putInt(3).putInt(2 << 1).putInt(3 * 8 + 6).putInt(5);
        out.putInt(3).putInt(0).put(new byte[3]);
        out.putInt(1).putInt(2).put(new byte[3]);
        out.putInt(0).putInt(0);
        out.put("a key".getBytes());
        out.putInt(0).putInt(7).putInt(2);
        out.putInt(4).putInt(7).putInt(1);
        return out.array();
    }

    private static int readTables(byte[] filled) throws LavaDBException {
        ScanPage page = new ScanPage();
        byte[] buffer = page.reserve(Math.max(filled.length, 512));
        System.arraycopy(filled, 0, buffer, 0, filled.length);
        page.filled();
        int entries = 0;
        int sections = 0;
        while (page.nextSection()) {
            sections++;
            assertThat(page.sectionTable() | page.sectionPartition()).isNotNegative();
            while (page.next()) {
                entries++;
            }
        }
        // Without sections the entries belong to one table.
        assertThat(entries == page.count() || sections == 0).isTrue();
        return entries;
    }

    @Test
    void pagesOfScansOfSeveralTables() throws Exception {
        assertThat(readTables(filledPageOfTables())).isEqualTo(3);
        new Mutations(
                        List.of(filledPageOfTables()),
                        LavaDBException.class,
                        IllegalStateException.class)
                .run(Mutations.MANY, AnswerMutationsTest::readTables);
    }

    private static int read(byte[] filled) throws LavaDBException {
        ScanPage page = new ScanPage();
        byte[] buffer = page.reserve(Math.max(filled.length, 512));
        System.arraycopy(filled, 0, buffer, 0, filled.length);
        page.filled();
        assertThat(page.lastKey()).hasSize(page.lastKeyLength());
        boolean hasSections = page.nextSection();
        page.rewind();
        int entries = 0;
        while (page.next()) {
            assertThat(page.key().length + page.value().length)
                    .isEqualTo(page.keyLength() + page.valueLength());
            entries++;
        }
        assertThat(entries).isEqualTo(hasSections ? 0 : page.count());
        return entries;
    }

    @Test
    void pagesOfScans() throws Exception {
        assertThat(read(filledPage())).isEqualTo(2);
        new Mutations(List.of(filledPage()), LavaDBException.class, IllegalStateException.class)
                .run(Mutations.MANY, AnswerMutationsTest::read);
    }

    @Test
    void pageWhoseEntriesAreLongerThanItIsRefused() {
        byte[] filled = filledPage();
        filled[16 + 3] = 100;
        assertThatThrownBy(() -> read(filled))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("at offset 16 of 45");
        filled[3] = 100;
        assertThatThrownBy(() -> read(filled))
                .isInstanceOf(LavaDBException.class)
                .hasMessageContaining("100 entries of 29 bytes");
    }
}
