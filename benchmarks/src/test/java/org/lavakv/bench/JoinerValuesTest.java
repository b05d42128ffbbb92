// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import java.util.zip.Deflater;
import org.junit.jupiter.api.Test;

class JoinerValuesTest {
    private final JoinerValues values = new JoinerValues();

    @Test
    void sizesAreSkewedAroundTheirMean() {
        int[] sizes = new int[100_000];
        for (int i = 0; i < sizes.length; i++) {
            sizes[i] = JoinerValues.bytesOf(i);
        }
        Arrays.sort(sizes);
        assertThat(sizes[0]).isGreaterThanOrEqualTo(JoinerValues.BYTES_MIN);
        assertThat(sizes[sizes.length - 1]).isLessThanOrEqualTo(JoinerValues.BYTES_MAX);
        assertThat(Arrays.stream(sizes).average().orElseThrow())
                .isCloseTo(JoinerValues.BYTES_MEAN, within(700.0));
        assertThat(sizes[sizes.length / 2]).isLessThan(JoinerValues.BYTES_MEAN);
    }

    @Test
    void halfOfAValueIsCompressible() {
        byte[] value = values.make(17);
        Deflater deflater = new Deflater();
        deflater.setInput(value);
        deflater.finish();
        double share = (double) deflater.deflate(new byte[2 * value.length]) / value.length;
        deflater.end();
        assertThat(share).isBetween(0.45, 0.6);
    }

    @Test
    void aValueIsItsOwnKeysOnly() {
        byte[] value = values.make(17);
        assertThat(JoinerValues.isOf(17, value)).isTrue();
        assertThat(JoinerValues.isOf(18, value)).isFalse();
        assertThat(JoinerValues.isOf(17, Arrays.copyOf(value, value.length - 1))).isFalse();
        assertThat(JoinerValues.isOf(17, null)).isFalse();
    }
}
