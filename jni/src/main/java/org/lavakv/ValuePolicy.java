package org.lavakv;

/**
 * Who writes values anew, to give garbage back and to keep values in order. Says nothing of what
 * files hold: an instance may be opened with any.
 */
public enum ValuePolicy {
    /** For each compaction and collection, what costs less. */
    AUTOMATIC(0),
    /** Collections alone. */
    COLLECT(1),
    /** Compactions alone, with the keys that they move down. */
    MERGE(2),
    /** Collections alone, of the dirtiest file, whatever it costs besides. */
    GREEDY(3);

    private final int number;

    ValuePolicy(int number) {
        this.number = number;
    }

    int number() {
        return number;
    }
}
