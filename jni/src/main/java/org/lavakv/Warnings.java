package org.lavakv;

import java.lang.System.Logger.Level;

/**
 * Where this package's warnings go: to the system's logger, until somebody else takes them.
 *
 * <p>Threads: any.
 */
public final class Warnings {

    /**
     * Takes warnings over.
     *
     * <p>Threads: called by any, also by a cleaner's. Errors: what it throws is the caller's.
     */
    @FunctionalInterface
    public interface Sink {
        /**
         * @param source the class that warns, whose name is the logger's
         * @param cause may be null
         */
        void warn(Class<?> source, String message, Throwable cause);
    }

    private static volatile Sink sink = Warnings::toSystem;

    private Warnings() {}

    /** From now on, warnings of this copy of the classes go there. */
    public static void setSink(Sink to) {
        sink = to;
    }

    static void warn(Class<?> source, String message, Throwable cause) {
        sink.warn(source, message, cause);
    }

    private static void toSystem(Class<?> source, String message, Throwable cause) {
        System.getLogger(source.getName()).log(Level.WARNING, message, cause);
    }
}
