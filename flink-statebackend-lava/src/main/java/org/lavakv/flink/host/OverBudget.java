// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.host;

/**
 * Decides when to warn that the process's native memory is over its budget. Memory that is about to
 * be returned after the end of a lease causes no warning, and each period over the budget causes
 * one.
 *
 * <p>Threads: one.
 */
final class OverBudget {

    /** Consecutive reports over the budget that cause a warning. */
    static final int REPORTS = 2;

    private int reports;

    /** Takes a report; returns whether to warn with it. */
    boolean isToWarn(boolean over) {
        reports = over ? Math.min(reports, REPORTS) + 1 : 0;
        return reports == REPORTS;
    }
}
