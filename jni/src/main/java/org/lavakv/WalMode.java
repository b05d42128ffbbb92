// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv;

/** Which data of an instance survives before it is in files. */
public enum WalMode {
    /** Nothing: a checkpoint is the durable copy. */
    NONE(0),
    /** All data after the end of the process; all except the last writes after a power cut. */
    WAL(1),
    /** All writes whose calls have returned. */
    WAL_SYNC(2);

    private final int number;

    WalMode(int number) {
        this.number = number;
    }

    int number() {
        return number;
    }
}
