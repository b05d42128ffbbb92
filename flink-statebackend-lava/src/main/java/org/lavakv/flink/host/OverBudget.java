package org.lavakv.flink.host;

/**
 * When to warn that the process's native memory is over its budget: not for what is on its way back
 * after a lease has ended, and once for each time that it lasts.
 *
 * <p>Threads: one.
 */
final class OverBudget {

    /** In a row. */
    static final int REPORTS = 2;

    private int reports;

    /** Takes a report; whether it is the one to warn with. */
    boolean isToWarn(boolean over) {
        reports = over ? Math.min(reports, REPORTS) + 1 : 0;
        return reports == REPORTS;
    }
}
