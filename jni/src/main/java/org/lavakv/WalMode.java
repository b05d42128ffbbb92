package org.lavakv;

/** What of an instance survives before it is in files. */
public enum WalMode {
    /** Nothing: a checkpoint is the durable copy. */
    NONE(0),
    /** After the end of the process everything; after a power cut all but the last writes. */
    WAL(1),
    /** Everything that a call has returned from. */
    WAL_SYNC(2);

    private final int number;

    WalMode(int number) {
        this.number = number;
    }

    int number() {
        return number;
    }
}
