package org.lavakv.flink.snapshot;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.zip.CRC32C;
import java.util.zip.CheckedOutputStream;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.core.memory.DataInputViewStreamWrapper;
import org.apache.flink.core.memory.DataOutputViewStreamWrapper;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.heap.HeapPriorityQueueStateSnapshot;
import org.lavakv.FileInfo;

/**
 * Timers that a job keeps on the heap, as a file of its checkpoints. Flink would write them itself,
 * but synchronously, and not at all below its changelog.
 *
 * <p>Content: number of states (int), then for each its name (UTF) and its timers, each as length
 * (int) and bytes in the engine's form (key group, timer), ended by a length of 0.
 *
 * <p>Threads: one for each call. Errors: IOException naming the file.
 */
public final class HeapTimerFile {

    /** The file's name among a handle's private files and in directories of local recovery. */
    public static final String FILE_NAME = "LAVA-TIMERS";

    private static final int TIMERS_PER_CANCEL_CHECK = 256;

    /** Gets every timer of a file. */
    public interface Visitor {
        /**
         * @param state the name of the timers' state
         * @param timer key group and timer; a fresh array
         */
        void timer(String state, byte[] timer) throws IOException;
    }

    private HeapTimerFile() {}

    /**
     * Writes a new file, and says what it must be when it is read.
     *
     * @param cancel closing it ends the writing, as an interrupt does
     */
    static FileInfo write(
            Path file,
            List<HeapPriorityQueueStateSnapshot<?>> states,
            KeyGroupRange keyGroupRange,
            int keyGroupPrefixBytes,
            CloseableRegistry cancel)
            throws IOException {
        CRC32C crc = new CRC32C();
        try (OutputStream bytes = new LocalFileOutput(file);
                DataOutputViewStreamWrapper out =
                        new DataOutputViewStreamWrapper(
                                new BufferedOutputStream(new CheckedOutputStream(bytes, crc)))) {
            out.writeInt(states.size());
            for (HeapPriorityQueueStateSnapshot<?> state : states) {
                out.writeUTF(state.getMetaInfo().getName());
                HeapTimerSource timers = new HeapTimerSource(state, keyGroupPrefixBytes);
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
     * Reads a file whose length and checksum were checked. Only that length bounds a timer: on the
     * heap it may be larger than a key of the engine.
     *
     * @throws IOException also for content that no version of Lava wrote
     */
    public static void read(Path file, Visitor visitor) throws IOException {
        long fileBytes = Files.size(file);
        try (DataInputViewStreamWrapper in =
                new DataInputViewStreamWrapper(
                        new BufferedInputStream(Files.newInputStream(file)))) {
            for (int states = in.readInt(); states > 0; states--) {
                String name = in.readUTF();
                for (int length = in.readInt(); length != 0; length = in.readInt()) {
                    if (length < 0 || length > fileBytes) {
                        throw new IOException(
                                "The file of timers "
                                        + file
                                        + " holds one of "
                                        + length
                                        + " bytes for the state "
                                        + name
                                        + "; restore from another checkpoint.");
                    }
                    byte[] timer = new byte[length];
                    in.readFully(timer);
                    visitor.timer(name, timer);
                }
            }
        }
    }
}
