// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.shared;

import java.io.IOException;
import java.io.InputStream;
import javax.annotation.Nullable;

/**
 * The log that an instance shares with the changelog above it.
 *
 * <p>Threads: {@link #use}, {@link #bind} and {@link #roll} the task's; the rest any. Ownership:
 * the instance's; after it was closed nothing is bound, and segments cannot be opened.
 */
public interface SharedLog {

    /**
     * Announces a changelog above the instance.
     *
     * @param binds whether the instance remembers the last value that it was given, for {@link
     *     #bind}
     */
    void use(boolean binds);

    /**
     * Logs a change if it ends with the value that the instance was given last.
     *
     * @return its location; null if nothing was done
     */
    @Nullable
    Location bind(byte[] change);

    /** Puts the next change into another segment. */
    void roll();

    /** Ends a segment, which receives no further changes, and opens its whole, immutable file. */
    InputStream open(long segment) throws IOException;

    /** The changelog does not need a segment any more. */
    void done(long segment);

    /** The segments that checkpoints contain as files of the changelog. */
    SharedUploads uploads();

    /** The location of a change. Threads: immutable. Units: bytes. */
    final class Location {
        private final long segment;
        private final String file;
        private final long offset;
        private final long bytes;

        public Location(long segment, String file, long offset, long bytes) {
            this.segment = segment;
            this.file = file;
            this.offset = offset;
            this.bytes = bytes;
        }

        /** Increases from segment to segment. */
        public long segment() {
            return segment;
        }

        /** The name of the segment's file among those of the instance. Names are never reused. */
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
