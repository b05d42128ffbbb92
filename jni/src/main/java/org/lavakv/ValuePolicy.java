// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv;

/**
 * Which jobs rewrite values, to reclaim garbage and to keep values in order. Files do not depend on
 * the policy: an instance may be opened with any.
 */
public enum ValuePolicy {
    /** In each case the cheaper of compaction and collection. */
    AUTOMATIC(0),
    /** Only collections. */
    COLLECT(1),
    /** Only compactions, for the keys that they move down. */
    MERGE(2),
    /** Only collections, of the file with most garbage, at any cost. */
    GREEDY(3);

    private final int number;

    ValuePolicy(int number) {
        this.number = number;
    }

    int number() {
        return number;
    }
}
