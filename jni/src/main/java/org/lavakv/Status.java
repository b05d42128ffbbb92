// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv;

/** The result of a native call: the Java side of {@code lava::Status}. */
public final class Status {

    private Status() {}

    /**
     * The kinds of failure that a call can report.
     *
     * <p>Threads: immutable.
     */
    public enum Code {
        /** Success; never in an exception. */
        OK(0),
        /** The key, table or file does not exist. */
        NOT_FOUND(1),
        /**
         * Stored bytes differ from the bytes that were written; the message names file and offset.
         */
        CORRUPTION(2),
        /**
         * The operating system reported an error; the message names path and error. May be retried.
         */
        IO_ERROR(3),
        /** The memory budget is exhausted. */
        MEMORY_LIMIT(4),
        /** An error of the caller; nothing was changed. */
        INVALID_ARGUMENT(5),
        /** The object was closed; thrown as {@link LavaClosedException}. */
        CLOSED(6),
        /** A newer format, or an operation that this object does not support. */
        NOT_SUPPORTED(7),
        /**
         * The call would have waited longer than its limit; calls of this package repeat it
         * themselves.
         */
        BUSY(8),
        /** The disk is full; the message names the directory. Retry after freeing space. */
        NO_SPACE(9),
        /** A file has not arrived yet; the message names it. See {@link LavaDB#missingFiles}. */
        NEEDS_FILE(10),
        /** Ended by close, or because the calling thread was interrupted. */
        ABORTED(11),
        /** An error inside the library; the message names its location. Please report it. */
        INTERNAL(100);

        private final int number;

        Code(int number) {
            this.number = number;
        }

        /** The number of this code in the native library. */
        public int number() {
            return number;
        }

        static Code of(int number) {
            for (Code code : values()) {
                if (code.number == number) {
                    return code;
                }
            }
            return INTERNAL;
        }
    }
}
