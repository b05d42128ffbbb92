package org.lavakv.flink.snapshot;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.zip.CRC32C;
import javax.annotation.Nullable;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.lavakv.FileInfo;

/**
 * The one private file of a checkpoint or native savepoint. It says that the checkpoint is Lava's,
 * so that another engine's is refused in plain words, and holds the engine's metadata and the
 * checksum of Flink's own description of the states, which has none.
 *
 * <p>Bytes, big endian: magic (8), format version (4), key group prefix bytes (4), length (4) and
 * CRC32C (4) of Flink's description, length (8) and CRC32C (4) of the file of heap timers, both 0
 * when there is none, length (4) of the engine's metadata, the metadata, from version 2 on length
 * (4) and bytes of {@link PackedFiles}, CRC32C (4) of all before.
 *
 * <p>Threads: immutable. Ownership: the metadata array is shared with whoever asks for it.
 */
public final class CheckpointDescription {

    /** The file's name among a handle's private files and in directories of local recovery. */
    public static final String FILE_NAME = "LAVA-CHECKPOINT";

    /** Larger than any real one; bounds what is read from a damaged checkpoint. */
    public static final int BYTES_MAX = 512 << 20;

    static final int FORMAT_VERSION = 2;

    private static final byte[] MAGIC = "LAVACKPT".getBytes(StandardCharsets.US_ASCII);
    private static final int HEADER_BYTES = 40;
    private static final int CHECKSUM_BYTES = 4;

    private final int keyGroupPrefixBytes;
    private final int stateMetaBytes;
    private final int stateMetaCrc32c;
    @Nullable private final FileInfo timers;
    private final byte[] engineMetadata;
    private final PackedFiles packed;

    private CheckpointDescription(
            int keyGroupPrefixBytes,
            int stateMetaBytes,
            int stateMetaCrc32c,
            @Nullable FileInfo timers,
            byte[] engineMetadata,
            PackedFiles packed) {
        this.keyGroupPrefixBytes = keyGroupPrefixBytes;
        this.stateMetaBytes = stateMetaBytes;
        this.stateMetaCrc32c = stateMetaCrc32c;
        this.timers = timers;
        this.engineMetadata = engineMetadata;
        this.packed = packed;
    }

    /**
     * Describes a new checkpoint.
     *
     * @param stateMeta Flink's description of the states, as the checkpoint's meta stream has it
     * @param timers the file of timers on the heap, or null
     * @param engineMetadata what the engine needs to import the files
     * @param packed which of the files lie in packs
     */
    public static CheckpointDescription of(
            int keyGroupPrefixBytes,
            byte[] stateMeta,
            @Nullable FileInfo timers,
            byte[] engineMetadata,
            PackedFiles packed) {
        return new CheckpointDescription(
                keyGroupPrefixBytes,
                stateMeta.length,
                crc32c(stateMeta, 0, stateMeta.length),
                timers,
                engineMetadata,
                packed);
    }

    /** Leading bytes of every key that name the key group: 1 or 2. */
    public int keyGroupPrefixBytes() {
        return keyGroupPrefixBytes;
    }

    /** The file of timers on the heap, or null. */
    @Nullable
    public FileInfo timers() {
        return timers;
    }

    /** The engine's metadata; not a copy. */
    public byte[] engineMetadata() {
        return engineMetadata;
    }

    /** Which of the engine's files lie in packs; places were not checked against those yet. */
    public PackedFiles packed() {
        return packed;
    }

    /** The file's content. */
    public byte[] toBytes() throws IOException {
        DataOutputSerializer out =
                new DataOutputSerializer(HEADER_BYTES + engineMetadata.length + CHECKSUM_BYTES);
        out.write(MAGIC);
        out.writeInt(FORMAT_VERSION);
        out.writeInt(keyGroupPrefixBytes);
        out.writeInt(stateMetaBytes);
        out.writeInt(stateMetaCrc32c);
        out.writeLong(timers == null ? 0 : timers.bytes());
        out.writeInt(timers == null ? 0 : timers.crc32c());
        out.writeInt(engineMetadata.length);
        out.write(engineMetadata);
        DataOutputSerializer places = new DataOutputSerializer(64);
        packed.write(places);
        out.writeInt(places.length());
        out.write(places.getSharedBuffer(), 0, places.length());
        out.writeInt(crc32c(out.getSharedBuffer(), 0, out.length()));
        return out.getCopyOfBuffer();
    }

    /**
     * Reads a file's content.
     *
     * @param file its name, for messages
     * @throws IOException when it is not Lava's, damaged, or of a newer version; the message names
     *     file and offset
     */
    public static CheckpointDescription parse(byte[] bytes, String file) throws IOException {
        if (bytes.length < MAGIC.length
                || !Arrays.equals(Arrays.copyOf(bytes, MAGIC.length), MAGIC)) {
            throw damaged(
                    file,
                    0,
                    "it does not begin as Lava's checkpoints do, so it was written by something"
                            + " else, or is damaged");
        }
        int checked = bytes.length - CHECKSUM_BYTES;
        if (checked < HEADER_BYTES) {
            throw damaged(file, bytes.length, "it ends here, inside its header");
        }
        ByteBuffer in = ByteBuffer.wrap(bytes);
        if (in.getInt(checked) != crc32c(bytes, 0, checked)) {
            throw damaged(
                    file,
                    checked,
                    "the checksum here does not fit the bytes before it (cut or changed)");
        }
        in.position(MAGIC.length);
        int version = in.getInt();
        if (version < 1 || version > FORMAT_VERSION) {
            throw new IOException(
                    "The checkpoint file "
                            + file
                            + " has format version "
                            + version
                            + ", and this version of Lava reads up to "
                            + FORMAT_VERSION
                            + ". Restore with the version of Lava that wrote it, or a newer one.");
        }
        int prefixBytes = in.getInt();
        int metaBytes = in.getInt();
        int metaCrc = in.getInt();
        long timersBytes = in.getLong();
        int timersCrc = in.getInt();
        int engineBytes = in.getInt();
        if (prefixBytes < 1
                || prefixBytes > 2
                || metaBytes < 0
                || timersBytes < 0
                || engineBytes < 0
                || engineBytes > checked - HEADER_BYTES
                || version == 1 && engineBytes != checked - HEADER_BYTES) {
            throw damaged(file, MAGIC.length, "its header contradicts itself");
        }
        in.limit(checked).position(HEADER_BYTES + engineBytes);
        PackedFiles packed = version == 1 ? PackedFiles.NONE : readPacked(in, file);
        return new CheckpointDescription(
                prefixBytes,
                metaBytes,
                metaCrc,
                timersBytes == 0
                        ? null
                        : new FileInfo(HeapTimerFile.FILE_NAME, timersBytes, timersCrc),
                Arrays.copyOfRange(bytes, HEADER_BYTES, HEADER_BYTES + engineBytes),
                packed);
    }

    private static PackedFiles readPacked(ByteBuffer in, String file) throws IOException {
        int begin = in.position();
        if (in.remaining() < Integer.BYTES || in.getInt() != in.remaining()) {
            throw damaged(file, begin, "the length of what lies in packs is another");
        }
        try {
            return PackedFiles.read(in);
        } catch (IOException e) {
            throw damaged(file, in.position(), e.getMessage());
        }
    }

    /**
     * Checks that Flink's description of the states is the one that was written.
     *
     * @param file its name, for messages
     * @throws IOException naming the file and the offset from which it cannot be trusted
     */
    public void checkStateMeta(byte[] stateMeta, String file) throws IOException {
        if (stateMeta.length != stateMetaBytes) {
            throw damaged(
                    file,
                    Math.min(stateMeta.length, stateMetaBytes),
                    "the description of all states has "
                            + stateMeta.length
                            + " bytes instead of "
                            + stateMetaBytes);
        }
        if (crc32c(stateMeta, 0, stateMeta.length) != stateMetaCrc32c) {
            throw damaged(
                    file,
                    0,
                    "the description of all states, the "
                            + stateMetaBytes
                            + " bytes from here, does not have the checksum that it was written"
                            + " with");
        }
    }

    private static int crc32c(byte[] bytes, int off, int len) {
        CRC32C crc = new CRC32C();
        crc.update(bytes, off, len);
        return (int) crc.getValue();
    }

    private static IOException damaged(String file, long offset, String why) {
        return new IOException(
                "The checkpoint file "
                        + file
                        + " cannot be used: at offset "
                        + offset
                        + ", "
                        + why
                        + ". The checkpoint was left as it is; restore from another one.");
    }
}
