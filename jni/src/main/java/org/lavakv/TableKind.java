// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv;

/** Which operations a table allows. */
public enum TableKind {
    /** Put, get, delete. */
    VALUE(0),
    /** Put, get, delete, and deletes of prefixes. */
    MAP(1),
    /** Values are list segments; append is allowed. */
    LIST(2);

    private final int number;

    TableKind(int number) {
        this.number = number;
    }

    int number() {
        return number;
    }

    static TableKind of(int number) throws LavaDBException {
        for (TableKind kind : values()) {
            if (kind.number == number) {
                return kind;
            }
        }
        throw new LavaDBException(
                Status.Code.NOT_SUPPORTED,
                "reading a table's options: its kind is "
                        + number
                        + ", which this version of"
                        + " Lava does not know; use the version that wrote it, or a newer one");
    }
}
