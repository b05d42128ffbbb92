// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.bench;

import java.util.Arrays;
import java.util.SplittableRandom;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;

/**
 * The records of flink-benchmarks' rescaling benchmark, by number: keys that begin with the number
 * and continue randomly, and random values. Keys are text, because arrays have no content-based
 * hash. Immutable, for any threads.
 */
final class RescaleRecords {
    private static final int NUMBER_CHARACTERS = 5;
    private static final int CHARACTER_BITS = 7; // one byte each, serialized

    private final int keyBytes;
    private final int valueBytes;

    RescaleRecords(int keyBytes, int valueBytes) {
        this.keyBytes = keyBytes;
        this.valueBytes = valueBytes;
    }

    String key(int number) {
        SplittableRandom random = new SplittableRandom(number);
        char[] characters = new char[keyBytes];
        int mask = (1 << CHARACTER_BITS) - 1;
        for (int i = 0; i < NUMBER_CHARACTERS; i++) {
            int shift = CHARACTER_BITS * (NUMBER_CHARACTERS - 1 - i);
            characters[i] = (char) ((long) number >>> shift & mask);
        }
        long bits = 0;
        for (int i = NUMBER_CHARACTERS; i < keyBytes; i++) {
            bits = bits == 0 ? random.nextLong() : bits >>> CHARACTER_BITS;
            characters[i] = (char) (bits & mask);
        }
        return new String(characters);
    }

    byte[] value(int number) {
        SplittableRandom random = new SplittableRandom(~number);
        byte[] value = new byte[valueBytes];
        for (int i = 0; i < valueBytes; ) {
            long bits = random.nextLong();
            for (int j = 0; j < Long.BYTES && i < valueBytes; j++, bits >>>= Byte.SIZE) {
                value[i++] = (byte) bits;
            }
        }
        return value;
    }

    boolean isOf(int number, byte[] value) {
        return Arrays.equals(value, value(number));
    }

    /** The subtask to which the key belongs. */
    static int subtask(String key, int parallelism) {
        return KeyGroupRangeAssignment.assignKeyToParallelOperator(
                key, Backends.KEY_GROUPS, parallelism);
    }

    static KeyGroupRange range(int subtask, int parallelism) {
        return KeyGroupRangeAssignment.computeKeyGroupRangeForOperatorIndex(
                Backends.KEY_GROUPS, parallelism, subtask);
    }
}
