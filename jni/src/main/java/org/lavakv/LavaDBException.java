// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv;

/**
 * A failed call. The message names the operation, the file or table, and what to do next. It never
 * contains bytes of a key.
 *
 * <p>Threads: immutable.
 */
public class LavaDBException extends Exception {

    private static final long serialVersionUID = 1L;

    private final Status.Code code;

    /** Creates an exception from a code and a message. */
    public LavaDBException(Status.Code code, String message) {
        super(message);
        this.code = code;
    }

    /** Called by the native library. */
    LavaDBException(int code, String message) {
        this(Status.Code.of(code), message);
    }

    /** The kind of failure. */
    public Status.Code getCode() {
        return code;
    }
}
