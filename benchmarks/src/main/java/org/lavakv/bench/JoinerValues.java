// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.bench;

import java.nio.ByteBuffer;
import java.util.Random;

/**
 * The joiner's values: 10 to 200 KB, most of them small, 70 KB on average, half of each
 * compressible. The key determines size and content. Immutable, for any threads.
 */
final class JoinerValues {
    static final int BYTES_MIN = 10_000;
    static final int BYTES_MAX = 200_000;
    static final int BYTES_MEAN = 70_000;

    // The average of u to the power of p is 1 / (p + 1), for u uniform between 0 and 1.
    private static final double POWER =
            (double) (BYTES_MAX - BYTES_MIN) / (BYTES_MEAN - BYTES_MIN) - 1;
    private static final int RUN_BYTES = 64;

    // Values are slices of this pool. It is larger than any codec's window, and slices are cheap.
    private final byte[] pool = new byte[8 << 20];

    JoinerValues() {
        Random random = new Random(70);
        byte[] noise = new byte[RUN_BYTES];
        for (int i = 0; i < pool.length; i += 2 * RUN_BYTES) {
            random.nextBytes(noise);
            System.arraycopy(noise, 0, pool, i, RUN_BYTES);
            // The other half stays random.
        }
    }

    /** The size of the key's value. */
    static int bytesOf(long key) {
        double u = (mix(key) >>> 11) * 0x1p-53;
        return BYTES_MIN + (int) ((BYTES_MAX - BYTES_MIN) * Math.pow(u, POWER));
    }

    /** The key's value, owned by the caller. It begins with the key. */
    byte[] make(long key) {
        byte[] value = new byte[bytesOf(key)];
        int from = (int) Long.remainderUnsigned(mix(~key), pool.length - value.length);
        System.arraycopy(pool, from, value, 0, value.length);
        ByteBuffer.wrap(value).putLong(key);
        return value;
    }

    /** Whether this is the key's value, judged by its size and beginning. */
    static boolean isOf(long key, byte[] value) {
        return value != null
                && value.length == bytesOf(key)
                && ByteBuffer.wrap(value).getLong() == key;
    }

    /** A bijection that removes any order (SplitMix64's). */
    static long mix(long number) {
        long z = number + 0x9E3779B97F4A7C15L;
        z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
        z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
        return z ^ (z >>> 31);
    }
}
