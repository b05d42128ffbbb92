package org.lavakv;

/**
 * Where and when something native was opened, for the logs of leaks. Does not refer to what was
 * opened, so that the garbage collector still finds that.
 *
 * <p>Threads: immutable.
 */
final class Origin {

    /** System property: remember the stack that opened each object, too. Assertions do the same. */
    static final String TRACE_PROPERTY = "org.lavakv.leak.trace";

    private static final boolean ASSERTIONS = Origin.class.desiredAssertionStatus();

    private final String thread = Thread.currentThread().getName();
    private final long nanos = System.nanoTime();
    private final Throwable stack;

    /** Of something that the calling thread opens now. */
    Origin() {
        boolean traced = ASSERTIONS || Boolean.getBoolean(TRACE_PROPERTY);
        stack = traced ? new Throwable("opened here, by thread '" + thread + "'") : null;
    }

    /** Null unless stacks are kept. */
    Throwable stack() {
        return stack;
    }

    /** When that was, to compare origins by. */
    long nanos() {
        return nanos;
    }

    /** "by thread 'x' 12 ms ago". */
    @Override
    public String toString() {
        return "by thread '" + thread + "' " + (System.nanoTime() - nanos) / 1_000_000 + " ms ago";
    }

    /** What a log says behind origins without stacks; empty when they have them. */
    static String advice(Throwable stack) {
        return stack != null ? "" : " Set -D" + TRACE_PROPERTY + "=true to see the stack.";
    }
}
