// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv;

/**
 * Where and when a native object was opened, for logs of leaks. Does not refer to the object, so
 * that the garbage collector can find it.
 *
 * <p>Threads: immutable.
 */
final class Origin {

    /**
     * System property to record the stack that opened each object. Assertions have the same effect.
     */
    static final String TRACE_PROPERTY = "org.lavakv.leak.trace";

    private static final boolean ASSERTIONS = Origin.class.desiredAssertionStatus();

    private final String thread = Thread.currentThread().getName();
    private final long nanos = System.nanoTime();
    private final Throwable stack;

    /** The origin of an object that the calling thread opens now. */
    Origin() {
        boolean traced = ASSERTIONS || Boolean.getBoolean(TRACE_PROPERTY);
        stack = traced ? new Throwable("opened here, by thread '" + thread + "'") : null;
    }

    /** Null unless stacks are recorded. */
    Throwable stack() {
        return stack;
    }

    /** The time of the opening, for comparisons of origins. */
    long nanos() {
        return nanos;
    }

    /** "by thread 'x' 12 ms ago". */
    @Override
    public String toString() {
        return "by thread '" + thread + "' " + (System.nanoTime() - nanos) / 1_000_000 + " ms ago";
    }

    /** Advice for a log message without stacks; empty when there are stacks. */
    static String advice(Throwable stack) {
        return stack != null ? "" : " Set -D" + TRACE_PROPERTY + "=true to see the stack.";
    }
}
