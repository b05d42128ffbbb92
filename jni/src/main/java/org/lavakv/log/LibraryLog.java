package org.lavakv.log;

import java.lang.System.Logger.Level;
import java.text.MessageFormat;

/**
 * A class's log. What the bindings log goes to the system's logger, until somebody else takes it.
 *
 * <p>Threads: any.
 */
public final class LibraryLog {

    /**
     * Takes over what is logged.
     *
     * <p>Threads: called by any, also by a cleaner's.
     */
    @FunctionalInterface
    public interface Sink {
        /**
         * Logs.
         *
         * @param source the class that logs, whose name is the logger's
         * @param cause may be null
         */
        void log(Level level, Class<?> source, String message, Throwable cause);
    }

    private static volatile Sink sink = LibraryLog::toSystem;

    private final Class<?> source;

    private LibraryLog(Class<?> source) {
        this.source = source;
    }

    /** From now on, what this copy of the classes logs goes there. */
    public static void setSink(Sink to) {
        sink = to;
    }

    /** The class's. */
    public static LibraryLog of(Class<?> source) {
        return new LibraryLog(source);
    }

    /** Logs a message as it is. */
    public void log(Level level, String message) {
        sink.log(level, source, message, null);
    }

    /** The same with a cause, which may be null. */
    public void log(Level level, String message, Throwable cause) {
        sink.log(level, source, message, cause);
    }

    /** Logs a pattern of {@link MessageFormat} with what stands for its numbers. */
    public void log(Level level, String pattern, Object... parameters) {
        sink.log(level, source, MessageFormat.format(pattern, parameters), null);
    }

    private static void toSystem(Level level, Class<?> source, String message, Throwable cause) {
        System.getLogger(source.getName()).log(level, message, cause);
    }
}
