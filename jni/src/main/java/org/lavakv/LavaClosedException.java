// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv;

/**
 * A call on an object that was closed, or whose {@link LavaDB} was closed. Nothing was done.
 *
 * <p>Threads: immutable.
 */
public class LavaClosedException extends IllegalStateException {

    private static final long serialVersionUID = 1L;

    /** Creates an exception with a message that names the closed object. */
    public LavaClosedException(String message) {
        super(message);
    }
}
