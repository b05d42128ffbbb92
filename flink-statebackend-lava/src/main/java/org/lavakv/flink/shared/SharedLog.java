package org.lavakv.flink.shared;

import java.io.IOException;
import java.io.InputStream;
import javax.annotation.Nullable;

/**
 * The log that an instance shares with the changelog above it.
 *
 * <p>Threads: {@link #use}, {@link #bind} and {@link #roll} the task's; the rest any. Ownership:
 * the instance's; after that was closed nothing is bound, and segments cannot be opened.
 */
public interface SharedLog {

    /**
     * There is a changelog above, from now on.
     *
     * @param binds the instance remembers what it was given last, for {@link #bind}
     */
    void use(boolean binds);

    /**
     * Logs a change, if it ends with the value that the instance was given last.
     *
     * @return where it is; null: nothing was done
     */
    @Nullable
    Entry bind(byte[] change);

    /** The next change goes to another segment. */
    void roll();

    /**
     * Ends a segment to which changes do not go any more, and opens it: its file as a whole, which
     * does not change.
     */
    InputStream open(long segment) throws IOException;

    /** The changelog does not need a segment any more. */
    void done(long segment);

    /** The segments that checkpoints have as files of the changelog. */
    SharedUploads uploads();

    /** Where a change is. Threads: immutable. Units: bytes. */
    final class Entry {
        private final long segment;
        private final String file;
        private final long offset;
        private final long bytes;

        public Entry(long segment, String file, long offset, long bytes) {
            this.segment = segment;
            this.file = file;
            this.offset = offset;
            this.bytes = bytes;
        }

        /** Ascends from segment to segment. */
        public long segment() {
            return segment;
        }

        /** The name of the segment's file among those of the instance, unique for ever. */
        public String file() {
            return file;
        }

        public long offset() {
            return offset;
        }

        public long bytes() {
            return bytes;
        }
    }
}
