// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv;

import java.util.Objects;

/**
 * Checks callers' arguments before they are passed to the engine.
 *
 * <p>Threads: any. Errors: IndexOutOfBoundsException, and the exceptions named at each method.
 */
final class Arguments {

    private Arguments() {}

    static void checkKey(byte[] key, int off, int len, int prefixLen) {
        Objects.checkFromIndexSize(off, len, key.length);
        checkPrefix(prefixLen, len);
    }

    /** The engine refuses large values, too, but only after it got a copy of the bytes. */
    static void checkValue(TableHandle t, byte[] value, int off, int len) throws LavaDBException {
        if (len > LavaDB.VALUE_BYTES_MAX) {
            throw new LavaDBException(
                    Status.Code.INVALID_ARGUMENT,
                    "value of table '"
                            + t.name()
                            + "' has "
                            + len
                            + " bytes, the limit is "
                            + LavaDB.VALUE_BYTES_MAX);
        }
        Objects.checkFromIndexSize(off, len, value.length);
    }

    static void checkPrefix(int prefixLen, int keyLen) {
        if (prefixLen < 0 || prefixLen > keyLen) {
            throw new IndexOutOfBoundsException(
                    "a prefix of " + prefixLen + " bytes in a key of " + keyLen + " bytes");
        }
    }
}
