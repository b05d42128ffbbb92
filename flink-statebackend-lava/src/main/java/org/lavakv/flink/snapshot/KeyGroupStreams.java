// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.snapshot;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import javax.annotation.Nullable;
import org.apache.flink.runtime.state.StreamCompressionDecorator;
import org.apache.flink.runtime.util.NonClosingInputStreamDecorator;
import org.apache.flink.runtime.util.NonClosingOutputStreamDecorator;

/**
 * Gives access to the stream that Flink's writer of a savepoint opened last. Most entries are
 * written directly to this stream, because the writer takes entries one by one.
 *
 * <p>Threads: one. Ownership: the streams are the writer's.
 */
final class KeyGroupStreams extends StreamCompressionDecorator {

    private static final long serialVersionUID = 1L;

    private final StreamCompressionDecorator compression;
    private final transient CanonicalEntryOutput output = new CanonicalEntryOutput();
    @Nullable private transient Tailed current;

    /** Opens streams with this decorator. */
    KeyGroupStreams(StreamCompressionDecorator compression) {
        this.compression = compression;
    }

    /**
     * The output for further entries of the state. Null unless the writer's last write to the open
     * key group's stream was the state's number. If it was, the writer still holds the state's
     * first entry, which may be written after the others.
     */
    @Nullable
    CanonicalEntryOutput entriesOf(int stateId) {
        if (current == null || current.closed || current.tail != stateId) {
            return null;
        }
        output.begin(current);
        return output;
    }

    @Override
    protected OutputStream decorateWithCompression(NonClosingOutputStreamDecorator stream)
            throws IOException {
        current = new Tailed(compression.decorateWithCompression((OutputStream) stream));
        return current;
    }

    @Override
    protected InputStream decorateWithCompression(NonClosingInputStreamDecorator stream)
            throws IOException {
        return compression.decorateWithCompression((InputStream) stream);
    }

    /** Remembers the last two bytes, which are a state's number at the begin of its entries. */
    private static final class Tailed extends OutputStream {
        private static final int NOTHING = -1;
        private static final int BYTE = 0xff;

        private final OutputStream out;
        private int tail = NOTHING;
        private boolean closed;

        Tailed(OutputStream out) {
            this.out = out;
        }

        @Override
        public void write(int b) throws IOException {
            out.write(b);
            tail = (tail & BYTE) << Byte.SIZE | b & BYTE;
        }

        @Override
        public void write(byte[] from, int offset, int length) throws IOException {
            out.write(from, offset, length);
            for (int i = Math.max(0, length - Short.BYTES); i < length; i++) {
                tail = (tail & BYTE) << Byte.SIZE | from[offset + i] & BYTE;
            }
        }

        @Override
        public void flush() throws IOException {
            out.flush();
        }

        @Override
        public void close() throws IOException {
            closed = true;
            out.close();
        }
    }
}
