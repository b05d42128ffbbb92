// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv;

/**
 * The position of the expiry timestamp (8 bytes, big endian, milliseconds) in a table's values, as
 * Flink's TTL serializer writes it.
 */
public enum TtlLayout {
    /** No record of the table ever expires. */
    NONE(0),
    /** At offset 0 of the value. */
    VALUE(1),
    /** At offset 1, after the null flag of a map's value. */
    MAP(2),
    /** At offset 0 of every element of a list. */
    LIST(3);

    private final int number;

    TtlLayout(int number) {
        this.number = number;
    }

    int number() {
        return number;
    }

    static TtlLayout of(int number) throws LavaDBException {
        for (TtlLayout layout : values()) {
            if (layout.number == number) {
                return layout;
            }
        }
        throw new LavaDBException(
                Status.Code.NOT_SUPPORTED,
                "reading a table's options: its TTL layout is "
                        + number
                        + ", which this version"
                        + " of Lava does not know; use the version that wrote it, or a newer one");
    }
}
