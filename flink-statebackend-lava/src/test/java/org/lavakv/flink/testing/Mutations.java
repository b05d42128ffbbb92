// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.testing;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.io.ByteArrayOutputStream;
import java.lang.management.ManagementFactory;
import java.math.BigInteger;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/**
 * Passes damaged inputs to a parser, deterministic for a seed: bits flipped, bytes and numbers
 * overwritten, parts removed, inserted, repeated, and copied from another input. For any input the
 * parser must return a result or throw a documented error, and allocate memory in proportion to the
 * input.
 *
 * <p>Threads: one.
 */
public final class Mutations {

    /** Number of runs for parsers that take microseconds. */
    public static final int MANY = 20_000;

    private static final int CHANGES_MAX = 4;
    private static final long ALLOCATED_PER_BYTE = 16;
    private static final int SHOWN_BYTES = 2048;
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    /** Numbers that often expose errors with lengths and counts. */
    private static final int[] NUMBERS = {
        0,
        1,
        -1,
        0x7f,
        0x80,
        0xffff,
        1 << 20,
        1 << 24,
        1 << 30,
        Integer.MAX_VALUE,
        Integer.MIN_VALUE
    };

    /** The parser under test. */
    public interface Parser {
        void parse(byte[] input) throws Exception;
    }

    private final List<byte[]> good;
    private final List<Class<? extends Exception>> documented;
    private final long seed = Long.getLong("lava.test.seed", 1);
    private long allocatedBytesMax = 1 << 20;

    /**
     * @param good inputs that the parser must accept
     * @param documented the exceptions that it may throw
     */
    @SafeVarargs
    public Mutations(List<byte[]> good, Class<? extends Exception>... documented) {
        this.good = good;
        this.documented = List.of(documented);
    }

    /** For parsers that may allocate more than 1 MiB in addition to a multiple of their input. */
    public Mutations mayAllocate(long bytes) {
        allocatedBytesMax = bytes;
        return this;
    }

    /** Runs the parser with this many inputs; fails unless some are accepted and some refused. */
    public void run(int runs, Parser parser) throws Exception {
        for (byte[] input : good) {
            parser.parse(input.clone());
        }
        int refused = 0;
        for (int i = 0; i < runs; i++) {
            byte[] input = damaged(new Random(seed + i));
            refused += refuses(parser, input, seed + i) ? 1 : 0;
        }
        assertThat(refused).as("inputs that were refused").isBetween(1, runs - 1);
    }

    private boolean refuses(Parser parser, byte[] input, long of) {
        long thread = Thread.currentThread().getId();
        long before = THREADS.getThreadAllocatedBytes(thread);
        Throwable thrown = null;
        try {
            parser.parse(input.clone());
        } catch (Throwable e) {
            thrown = e;
        }
        long allocated = THREADS.getThreadAllocatedBytes(thread) - before;
        if (thrown != null && !isDocumented(thrown)) {
            throw new AssertionError("It threw " + thrown + " at " + describe(input, of), thrown);
        }
        if (allocated - ALLOCATED_PER_BYTE * input.length > allocatedBytesMax) {
            throw new AssertionError(
                    "It allocated " + allocated + " bytes at " + describe(input, of), thrown);
        }
        return thrown != null;
    }

    private boolean isDocumented(Throwable thrown) {
        return documented.stream().anyMatch(type -> type.isInstance(thrown));
    }

    private static String describe(byte[] input, long of) {
        return "-Dlava.test.seed="
                + of
                + ", input of "
                + input.length
                + " bytes: "
                + hex(Arrays.copyOf(input, Math.min(input.length, SHOWN_BYTES)));
    }

    private static String hex(byte[] bytes) {
        return bytes.length == 0
                ? ""
                : String.format("%0" + 2 * bytes.length + "x", new BigInteger(1, bytes));
    }

    private byte[] damaged(Random random) {
        byte[] input = good.get(random.nextInt(good.size()));
        for (int changes = 1 + random.nextInt(CHANGES_MAX); changes > 0; changes--) {
            input = changed(input, random);
        }
        return input;
    }

    private byte[] changed(byte[] input, Random random) {
        int at = random.nextInt(input.length + 1);
        int end = at + random.nextInt(Math.min(64, input.length - at) + 1);
        byte[] some = new byte[random.nextInt(16)];
        random.nextBytes(some);
        switch (random.nextInt(8)) {
            case 0:
            case 1:
                return flipped(input, random);
            case 2:
                return overwritten(input, at, some);
            case 3:
                return overwritten(input, at, number(random));
            case 4:
                return joined(input, 0, at);
            case 5:
                return joined(joined(input, 0, at), input, end);
            case 6:
                return joined(joined(joined(input, 0, at), some, 0), input, at);
            default:
                byte[] other = good.get(random.nextInt(good.size()));
                return joined(joined(input, 0, end), other, random.nextInt(other.length + 1));
        }
    }

    private static byte[] flipped(byte[] input, Random random) {
        byte[] changed = input.clone();
        if (changed.length > 0) {
            changed[random.nextInt(changed.length)] ^= (byte) (1 << random.nextInt(8));
        }
        return changed;
    }

    private static byte[] overwritten(byte[] input, int at, byte[] by) {
        byte[] changed = input.clone();
        System.arraycopy(by, 0, changed, at, Math.min(by.length, changed.length - at));
        return changed;
    }

    private static byte[] number(Random random) {
        int number = NUMBERS[random.nextInt(NUMBERS.length)];
        return new byte[] {
            (byte) (number >> 24), (byte) (number >> 16), (byte) (number >> 8), (byte) number
        };
    }

    private static byte[] joined(byte[] from, int begin, int end) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.write(from, begin, end - begin);
        return out.toByteArray();
    }

    private static byte[] joined(byte[] head, byte[] from, int begin) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.writeBytes(head);
        out.write(from, begin, from.length - begin);
        return out.toByteArray();
    }
}
