// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.bench;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.apache.flink.api.common.state.State;
import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.api.common.state.StateTtlConfig;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.api.common.typeutils.base.array.BytePrimitiveArraySerializer;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.StateBackendOptions;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.TearDown;

/**
 * The common part of the benchmarks of all state kinds: the backend, the keys and the values.
 *
 * <p>Keys are longs in random order from a fixed seed; values are longs (8 bytes) or byte arrays.
 */
@org.openjdk.jmh.annotations.State(Scope.Thread)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
public abstract class StateBenchmark {
    @Param({"lava"})
    public String backend;

    @Param({"false"})
    public boolean ttl;

    @Param({"8"})
    public int valueBytes;

    @Param({"256"})
    public int memoryMiB;

    @Param({"500000"})
    public int keys;

    @Param({"5"})
    public int settleSeconds;

    /** Options of Flink or of the backend as "key=value", one per line. */
    @Param({""})
    public String settings;

    private Backends.Open<Long> open;
    private long random = 88172645463325252L;
    private Object[] values;
    private long newKey;

    /** Opens the backend and registers one state. */
    final <S extends State> S openState(StateDescriptor<S, ?> descriptor) throws Exception {
        Configuration configuration = new Configuration();
        configuration.set(StateBackendOptions.STATE_BACKEND, backend);
        settings.lines()
                .map(setting -> setting.split("=", 2))
                .forEach(setting -> configuration.setString(setting[0], setting[1]));
        open = Backends.open(configuration, LongSerializer.INSTANCE, (long) memoryMiB << 20);
        newKey = keys;
        values = new Object[64];
        for (int i = 0; i < values.length; i++) {
            values[i] = makeValue();
        }
        if (ttl) {
            descriptor.enableTimeToLive(StateTtlConfig.newBuilder(Duration.ofDays(1)).build());
        }
        return open.backend.getPartitionedState(
                VoidNamespace.INSTANCE, VoidNamespaceSerializer.INSTANCE, descriptor);
    }

    /** Must be called when the state is filled: waits for the resulting flushes and compactions. */
    final void filled() throws InterruptedException {
        Thread.sleep(settleSeconds * 1000L);
    }

    @TearDown
    public void tearDown() throws Exception {
        open.close();
    }

    /** The serializer of values of the chosen size. */
    @SuppressWarnings({"unchecked", "rawtypes"})
    final TypeSerializer<Object> valueSerializer() {
        return valueBytes == Long.BYTES
                ? (TypeSerializer) LongSerializer.INSTANCE
                : (TypeSerializer) BytePrimitiveArraySerializer.INSTANCE;
    }

    private Object makeValue() {
        if (valueBytes == Long.BYTES) {
            return nextRandom();
        }
        // Half of each value is repetitive, so that codecs compress it about as well as real
        // records.
        byte[] bytes = new byte[valueBytes];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = i % 2 == 0 ? (byte) nextRandom() : (byte) (i >>> 4);
        }
        return bytes;
    }

    final long nextRandom() {
        random ^= random << 13;
        random ^= random >>> 7;
        random ^= random << 17;
        return random;
    }

    final Object nextValue() {
        return values[(int) (nextRandom() & 63)];
    }

    final void setKey(long key) {
        open.backend.setCurrentKey(key);
    }

    /** Sets a random existing key. */
    final void setKnownKey() {
        setKey((nextRandom() >>> 1) % keys);
    }

    /** Sets a key that was never used. */
    final void setNewKey() {
        setKey(newKey++);
    }
}
