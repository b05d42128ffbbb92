package org.lavakv;

/**
 * A call that failed. The message says what was being done, to which file or table, and what to do
 * next; it never holds bytes of a key.
 *
 * <p>Threads: immutable.
 */
public class LavaDBException extends Exception {

    private static final long serialVersionUID = 1L;

    private final Status.Code code;

    /** Makes an exception of a code and a message. */
    public LavaDBException(Status.Code code, String message) {
        super(message);
        this.code = code;
    }

    /** Called by the native library. */
    LavaDBException(int code, String message) {
        this(Status.Code.of(code), message);
    }

    /** What kind of failure this is. */
    public Status.Code getCode() {
        return code;
    }
}
