// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv;

import java.lang.ref.Reference;
import java.util.ArrayList;
import java.util.List;

/**
 * A problem of an instance's background jobs that no call reports. A fault is reported once when it
 * begins and once when it is over, a damaged file once.
 *
 * <p>Threads: immutable.
 */
public final class BackgroundEvent {

    private static final int BYTES_MIN = 4 * Integer.BYTES + 2 * Long.BYTES;

    private final Status.Code code;
    private final boolean over;
    private final String message;
    private final List<String> tables;
    private final long failures;
    private final long sinceMillis;

    private BackgroundEvent(Decoder in) throws LavaDBException {
        code = Status.Code.of(in.int32());
        over = in.int32() != 0;
        message = in.string();
        tables = List.copyOf(in.strings());
        failures = in.int64();
        sinceMillis = in.int64();
    }

    /**
     * The events since the last call, oldest first. Cheap while there are none.
     *
     * @throws LavaClosedException when the instance is closed
     */
    public static List<BackgroundEvent> takeAll(LavaDB db) throws LavaDBException {
        Decoder in;
        try {
            in = new Decoder(take0(db.handle));
        } finally {
            Reference.reachabilityFence(db); // because the native call is static
        }
        int count = in.count(BYTES_MIN);
        List<BackgroundEvent> events = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            events.add(new BackgroundEvent(in));
        }
        return events;
    }

    /** The code of the failure. */
    public Status.Code code() {
        return code;
    }

    /** Whether the failed operation has succeeded again; never true for a damaged file. */
    public boolean isOver() {
        return over;
    }

    /** The failed operation, with file and offset; contains no keys. */
    public String message() {
        return message;
    }

    /** The tables with records in the damaged file; empty for other events. */
    public List<String> tables() {
        return tables;
    }

    /** Number of attempts that failed in this way so far. */
    public long failures() {
        return failures;
    }

    /** Time of the first failure, milliseconds since the epoch. */
    public long sinceMillis() {
        return sinceMillis;
    }

    private static native byte[] take0(long handle);
}
