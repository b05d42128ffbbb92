// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.bench;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.runtime.state.KeyedStateBackend;

/**
 * One subtask of the online joiner. Each waiting record is written under a key of its own, read
 * when a partner arrives, and deleted. Of every three operations one is a read, one a write and one
 * a delete, in random order. Reads and deletes choose a live key uniformly. Therefore the number of
 * live keys is constant, and garbage appears everywhere.
 *
 * <p>One thread at a time works; {@link #operations} and {@link #callNanos} may be read by others.
 */
final class JoinerInstance {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final byte READ = 0;
    private static final byte WRITE = 1;
    private static final byte DELETE = 2;

    private final KeyedStateBackend<Long> backend;
    private final ValueState<byte[]> state;
    private final JoinerValues values;
    private final long clockNanos;
    private final int number;
    private final SplittableRandom random;
    private final byte[] three = {READ, WRITE, DELETE};
    private final AtomicLong operations = new AtomicLong();
    private final AtomicLong callNanos = new AtomicLong();

    private long[] live = new long[64];
    private int liveCount;
    private long written;

    /**
     * @param backend with its state, owned by the caller
     * @param clockNanos the result of {@link #clockNanos()}
     * @param number from 0 on; distinguishes instances: as seed and in the keys
     */
    JoinerInstance(
            KeyedStateBackend<Long> backend,
            ValueState<byte[]> state,
            JoinerValues values,
            long clockNanos,
            int number) {
        this.backend = backend;
        this.state = state;
        this.values = values;
        this.clockNanos = clockNanos;
        this.number = number;
        this.random = new SplittableRandom(number);
    }

    /** Reads, writes and deletes since the start, without filling. */
    long operations() {
        return operations.get();
    }

    /**
     * CPU time of the calling thread inside calls of the state and its backend since the start,
     * without filling; a call counts when it is complete.
     *
     * <p>The thread's CPU clock is read before and after each call. The alternative, to read it
     * once around a run and subtract a run with a state that does nothing, would be less exact:
     * this way the generator's work between calls (values, pacing) is excluded exactly, and windows
     * have a figure as well. The cost of the clock itself is subtracted: {@link #clockNanos()}.
     */
    long callNanos() {
        return callNanos.get();
    }

    /** Writes new keys until the values of live ones have this many bytes. */
    void fill(long bytes) throws Exception {
        for (long filled = 0; filled < bytes; ) {
            filled += JoinerValues.bytesOf(write());
        }
        callNanos.set(0);
    }

    /**
     * Works until it is stopped.
     *
     * @param gapNanos time between the starts of two operations; 0: no pause. An instance that is
     *     late does not pause until it has caught up, so the offered load does not depend on the
     *     engine.
     * @return the maximum delay of an operation's start in nanoseconds
     */
    long run(long gapNanos, BooleanSupplier stop) throws Exception {
        // Instances do not all begin at the same time.
        long due = System.nanoTime() + (gapNanos == 0 ? 0 : random.nextLong(gapNanos));
        long latePeak = 0;
        for (int done = 0; ; done = (done + 1) % three.length) {
            long wait = due - System.nanoTime();
            while (gapNanos > 0 && wait > 0 && !stop.getAsBoolean()) {
                LockSupport.parkNanos(Math.min(wait, TimeUnit.MILLISECONDS.toNanos(100)));
                wait = due - System.nanoTime();
            }
            if (stop.getAsBoolean()) {
                return latePeak;
            }
            latePeak = gapNanos == 0 ? 0 : Math.max(latePeak, -wait);
            step(done);
            operations.lazySet(operations.get() + 1);
            due += gapNanos;
        }
    }

    private void step(int index) throws Exception {
        if (index == 0) {
            for (int i = three.length - 1; i > 0; i--) {
                int j = random.nextInt(i + 1);
                byte kind = three[i];
                three[i] = three[j];
                three[j] = kind;
            }
        }
        switch (three[index]) {
            case READ:
                read();
                break;
            case WRITE:
                write();
                break;
            default:
                delete();
        }
    }

    private void read() throws Exception {
        long key = live[random.nextInt(liveCount)];
        long begin = THREADS.getCurrentThreadCpuTime();
        backend.setCurrentKey(key);
        byte[] value = state.value();
        countSince(begin);
        if (!JoinerValues.isOf(key, value)) {
            throw new IllegalStateException(
                    "Instance " + number + " has another value than was written under " + key);
        }
    }

    private long write() throws Exception {
        long key = JoinerValues.mix(((long) number << 40) + written++);
        byte[] value = values.make(key);
        long begin = THREADS.getCurrentThreadCpuTime();
        backend.setCurrentKey(key);
        state.update(value);
        countSince(begin);
        if (liveCount == live.length) {
            live = Arrays.copyOf(live, 2 * liveCount);
        }
        live[liveCount++] = key;
        return key;
    }

    private void delete() {
        int index = random.nextInt(liveCount);
        long key = live[index];
        live[index] = live[--liveCount];
        long begin = THREADS.getCurrentThreadCpuTime();
        backend.setCurrentKey(key);
        state.clear();
        countSince(begin);
    }

    private void countSince(long begin) {
        long nanos = THREADS.getCurrentThreadCpuTime() - begin - clockNanos;
        callNanos.lazySet(callNanos.get() + nanos);
    }

    /** The time that measuring an empty call takes, in nanoseconds of the thread's CPU clock. */
    static long clockNanos() {
        int times = 200_000;
        long sum = 0;
        for (int round = 0; round < 2; round++) { // the first round is a warm-up
            sum = 0;
            for (int i = 0; i < times; i++) {
                long begin = THREADS.getCurrentThreadCpuTime();
                sum += THREADS.getCurrentThreadCpuTime() - begin;
            }
        }
        return sum / times;
    }
}
