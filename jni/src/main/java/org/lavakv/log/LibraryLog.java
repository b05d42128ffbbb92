// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.log;

import java.lang.System.Logger.Level;
import java.text.MessageFormat;

/**
 * A class's log. Messages of the bindings go to the system's logger until another sink is set.
 *
 * <p>Threads: any.
 */
public final class LibraryLog {

    /**
     * Receives log messages.
     *
     * <p>Threads: called by any thread, including a cleaner's.
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

    /** Sets the sink for all messages of this copy of the classes. */
    public static void setSink(Sink to) {
        sink = to;
    }

    /** The log of a class. */
    public static LibraryLog of(Class<?> source) {
        return new LibraryLog(source);
    }

    /** Logs a message unchanged. */
    public void log(Level level, String message) {
        sink.log(level, source, message, null);
    }

    /** Logs a message with a cause, which may be null. */
    public void log(Level level, String message, Throwable cause) {
        sink.log(level, source, message, cause);
    }

    /** Logs a pattern of {@link MessageFormat} with its parameters. */
    public void log(Level level, String pattern, Object... parameters) {
        sink.log(level, source, MessageFormat.format(pattern, parameters), null);
    }

    private static void toSystem(Level level, Class<?> source, String message, Throwable cause) {
        System.getLogger(source.getName()).log(level, message, cause);
    }
}
