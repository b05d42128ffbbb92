// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.bench;

import java.nio.ByteBuffer;
import java.util.Random;
import java.util.SplittableRandom;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.api.common.typeutils.base.array.BytePrimitiveArraySerializer;

/**
 * Values of one size, half of each compressible: longs for 8 bytes, otherwise byte arrays.
 * Immutable, for any threads.
 */
final class CheckpointValues {
    private static final int POOL_BYTES = 4 << 20;
    private static final int RUN_BYTES = 64;

    private final int bytes;
    private final byte[] pool;

    CheckpointValues(int bytes) {
        this.bytes = bytes;
        pool = new byte[bytes == Long.BYTES ? 0 : POOL_BYTES + bytes];
        Random random = new Random(bytes);
        byte[] noise = new byte[RUN_BYTES];
        for (int i = 0; i + RUN_BYTES <= pool.length; i += 2 * RUN_BYTES) {
            random.nextBytes(noise);
            System.arraycopy(noise, 0, pool, i, RUN_BYTES);
            // The other half stays random.
        }
    }

    @SuppressWarnings({"unchecked", "rawtypes"})
    TypeSerializer<Object> serializer() {
        return bytes == Long.BYTES
                ? (TypeSerializer) LongSerializer.INSTANCE
                : (TypeSerializer) BytePrimitiveArraySerializer.INSTANCE;
    }

    /** A different value each time, owned by the caller. */
    Object next(SplittableRandom random) {
        if (bytes == Long.BYTES) {
            return random.nextLong();
        }
        byte[] value = new byte[bytes];
        System.arraycopy(pool, random.nextInt(POOL_BYTES), value, 0, bytes);
        if (bytes > Long.BYTES) {
            ByteBuffer.wrap(value).putLong(random.nextLong());
        }
        return value;
    }
}
