// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.Arrays;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ListSegmentsTest {

    private final DataOutputSerializer out = new DataOutputSerializer(1);
    private final ListSegments segments = new ListSegments();

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 31, 32, 4095, 4096, 524287, 524288, 3_000_000})
    void keepsBytesOfAnyLength(int length) throws IOException {
        byte[] bytes = new byte[length];
        Arrays.fill(bytes, (byte) 7);
        ListSegments.write(out, ListSegments.ELEMENT, new byte[] {1}, 0, 1);
        ListSegments.write(out, ListSegments.JOINED, bytes, 0, length);
        ListSegments.write(out, ListSegments.ELEMENT, new byte[] {2}, 0, 1);

        segments.reset(out.getSharedBuffer(), 0, out.length());
        assertThat(segments.next()).isTrue();
        assertThat(segments.kind()).isEqualTo(ListSegments.ELEMENT);
        assertThat(segments.next()).isTrue();
        assertThat(segments.kind()).isEqualTo(ListSegments.JOINED);
        assertThat(segments.length()).isEqualTo(length);
        assertThat(
                        Arrays.copyOfRange(
                                out.getSharedBuffer(),
                                segments.offset(),
                                segments.offset() + length))
                .isEqualTo(bytes);
        assertThat(segments.next()).isTrue();
        assertThat(out.getSharedBuffer()[segments.offset()]).isEqualTo((byte) 2);
        assertThat(segments.next()).isFalse();
    }

    @Test
    void isTheEnginesFormat() throws IOException {
        ListSegments.write(out, ListSegments.ELEMENT, new byte[] {5, 6}, 0, 2);
        assertThat(out.getCopyOfBuffer()).containsExactly(2 << 2, 5, 6);
        out.clear();
        ListSegments.write(out, ListSegments.JOINED, new byte[40], 0, 40);
        assertThat(Arrays.copyOf(out.getSharedBuffer(), 2))
                .containsExactly((byte) (0x80 | (40 << 2 | 1) & 0x7f), (byte) ((40 << 2 | 1) >> 7));
    }

    @Test
    void joinsWithOneByteBetween() throws IOException {
        ListSegments.write(out, ListSegments.ELEMENT, new byte[] {1}, 0, 1);
        ListSegments.write(out, ListSegments.JOINED, new byte[] {2, ',', 3}, 0, 3);
        ListSegments.write(out, ListSegments.ELEMENT, new byte[] {}, 0, 0);
        assertThat(ListSegments.join(out.getSharedBuffer(), 0, out.length()))
                .containsExactly(1, ',', 2, ',', 3, ',');
        assertThat(ListSegments.join(new byte[0], 0, 0)).isEmpty();
    }

    @Test
    void saysThatAListWasTooLong() {
        byte[] marker = new byte[17];
        marker[0] = 16 << 2 | 3;
        marker[8] = 5;
        marker[16] = 4;
        segments.reset(marker, 0, marker.length);
        assertThatThrownBy(segments::next)
                .isInstanceOf(IOException.class)
                .hasMessageContaining("grew to 5 bytes, but the limit is 4");
        assertThatThrownBy(() -> ListSegments.join(marker, 0, marker.length))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("the limit is 4");
    }

    @Test
    void refusesDamage() {
        byte[][] damaged = {
            {5 << 2, 1, 2}, // longer than the input
            {(byte) 0x80}, // an unterminated length
            {(byte) 0xff, (byte) 0xff, (byte) 0xff, (byte) 0xff, (byte) 0xff, 1}, // too long
            {1 << 2 | 3, 1}, // marks a list as too long, but without its length
            {1 << 2 | 2, 1}, // a kind that does not occur in values
        };
        for (byte[] bytes : damaged) {
            segments.reset(bytes, 0, bytes.length);
            assertThatThrownBy(segments::next)
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("damaged");
        }
    }
}
