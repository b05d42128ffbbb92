// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.checkpoint;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.EOFException;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.io.UTFDataFormatException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.zip.CRC32C;
import java.util.zip.CheckedOutputStream;
import javax.annotation.Nullable;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.core.memory.DataInputViewStreamWrapper;
import org.apache.flink.core.memory.DataOutputViewStreamWrapper;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.lavakv.FileInfo;
import org.lavakv.flink.storage.LocalFileOutput;

/**
 * Timers of a job that keeps them on the heap, as a file of its checkpoints. Flink itself would
 * write them synchronously, and below its changelog not at all.
 *
 * <p>Content: number of states (int). For each state: its name (UTF) and its timers, each as length
 * (int) and bytes in the engine's form (key group, timer), terminated by a length of 0.
 *
 * <p>Threads: one for each call. Errors: IOException naming the file.
 */
public final class HeapTimerFile {

    /** The file's name among a handle's private files and in directories of local recovery. */
    public static final String FILE_NAME = "LAVA-TIMERS";

    private static final int TIMERS_PER_CANCEL_CHECK = 256;

    /** The timers of one state, by key group. */
    public interface Timers {
        String state();

        /** Moves before the first timer of a key group. */
        void seek(int keyGroup) throws IOException;

        /** Moves to the key group's next timer; false if there is none. */
        boolean next() throws IOException;

        /** Key group and timer in the engine's form, valid until the next move. */
        byte[] key();
    }

    /** Receives every timer of a file. */
    public interface Visitor {
        /**
         * @param state the name of the timers' state
         * @param timer key group and timer; a new array
         */
        void timer(String state, byte[] timer) throws IOException;
    }

    private HeapTimerFile() {}

    /**
     * Writes a new file, and returns the length and checksum that readers must find.
     *
     * @param cancel closing it stops the writing, as an interrupt does
     */
    public static FileInfo write(
            Path file,
            List<? extends Timers> states,
            KeyGroupRange keyGroupRange,
            CloseableRegistry cancel)
            throws IOException {
        CRC32C crc = new CRC32C();
        try (OutputStream bytes = new LocalFileOutput(file);
                DataOutputViewStreamWrapper out =
                        new DataOutputViewStreamWrapper(
                                new BufferedOutputStream(new CheckedOutputStream(bytes, crc)))) {
            out.writeInt(states.size());
            for (Timers timers : states) {
                out.writeUTF(timers.state());
                for (int keyGroup : keyGroupRange) {
                    timers.seek(keyGroup);
                    for (long n = 0; timers.next(); n++) {
                        if (n % TIMERS_PER_CANCEL_CHECK == 0) {
                            checkNotCancelled(file, cancel);
                        }
                        out.writeInt(timers.key().length);
                        out.write(timers.key());
                    }
                }
                out.writeInt(0);
            }
        }
        return new FileInfo(FILE_NAME, Files.size(file), (int) crc.getValue());
    }

    private static void checkNotCancelled(Path file, CloseableRegistry cancel) throws IOException {
        if (Thread.currentThread().isInterrupted() || cancel.isClosed()) {
            throw new InterruptedIOException("Writing " + file + " was cancelled.");
        }
    }

    /**
     * Reads a file whose length and checksum were checked. A timer may be as long as the file:
     * timers on the heap may be larger than a key of the engine.
     *
     * @throws IOException also for content that no version of Lava wrote
     */
    public static void read(Path file, Visitor visitor) throws IOException {
        try (Counted bytes = new Counted(new BufferedInputStream(Files.newInputStream(file)));
                DataInputViewStreamWrapper in = new DataInputViewStreamWrapper(bytes)) {
            new Reading(file, bytes, in).read(visitor);
        }
    }

    /** Counts the bytes that were read. */
    private static final class Counted extends FilterInputStream {
        private long offset;

        Counted(InputStream in) {
            super(in);
        }

        @Override
        public int read() throws IOException {
            int b = super.read();
            offset += b < 0 ? 0 : 1;
            return b;
        }

        @Override
        public int read(byte[] b, int off, int len) throws IOException {
            int count = super.read(b, off, len);
            offset += Math.max(0, count);
            return count;
        }
    }

    /** The state of reading one file. */
    private static final class Reading {
        private final Path file;
        private final long fileBytes;
        private final Counted bytes;
        private final DataInputViewStreamWrapper in;

        Reading(Path file, Counted bytes, DataInputViewStreamWrapper in) throws IOException {
            this.file = file;
            this.fileBytes = Files.size(file);
            this.bytes = bytes;
            this.in = in;
        }

        void read(Visitor visitor) throws IOException {
            int states = number("the number of states");
            for (int i = 0; i < states; i++) {
                String name = name();
                String what = "the length of a timer of the state " + name;
                for (int length = number(what); length != 0; length = number(what)) {
                    if (length > fileBytes - bytes.offset) {
                        throw damaged(what + " is " + length, null);
                    }
                    byte[] timer = new byte[length];
                    in.readFully(timer);
                    visitor.timer(name, timer);
                }
            }
            if (bytes.offset != fileBytes) {
                throw damaged("all " + states + " states end", null);
            }
        }

        private int number(String what) throws IOException {
            int number;
            try {
                number = in.readInt();
            } catch (EOFException e) {
                throw damaged(what + " is missing", e);
            }
            if (number < 0) {
                throw damaged(what + " is " + number, null);
            }
            return number;
        }

        private String name() throws IOException {
            try {
                return in.readUTF();
            } catch (EOFException | UTFDataFormatException e) {
                throw damaged("the name of a state is missing", e);
            }
        }

        private IOException damaged(String what, @Nullable IOException cause) {
            return new IOException(
                    "The file of timers "
                            + file
                            + " of "
                            + fileBytes
                            + " bytes is damaged: before offset "
                            + bytes.offset
                            + ", "
                            + what
                            + ". Restore from another checkpoint.",
                    cause);
        }
    }
}
