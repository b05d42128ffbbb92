package org.lavakv;

import java.util.ArrayList;
import java.util.List;

/**
 * What the background jobs of an instance met and no call tells by itself: a fault once when it
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
     * What was met since the last call, oldest first. Cheap while there is nothing.
     *
     * @throws LavaClosedException when the instance is closed
     */
    public static List<BackgroundEvent> takeAll(LavaDB db) throws LavaDBException {
        Decoder in = new Decoder(take0(db.handle));
        int count = in.count(BYTES_MIN);
        List<BackgroundEvent> events = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            events.add(new BackgroundEvent(in));
        }
        return events;
    }

    /** Of the failure. */
    public Status.Code code() {
        return code;
    }

    /** What failed has worked again; never so with a damaged file. */
    public boolean isOver() {
        return over;
    }

    /** What was being done, with file and offset; no keys. */
    public String message() {
        return message;
    }

    /** The tables that a damaged file has records of; else empty. */
    public List<String> tables() {
        return tables;
    }

    /** Attempts that failed so until now. */
    public long failures() {
        return failures;
    }

    /** When the first failed, milliseconds since the epoch. */
    public long sinceMillis() {
        return sinceMillis;
    }

    private static native byte[] take0(long handle);
}
