// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.checkpoint;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.zip.CRC32C;
import javax.annotation.Nullable;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.lavakv.FileInfo;
import org.lavakv.TtlTime;

/**
 * The one private file of a checkpoint or native savepoint. It marks the checkpoint as Lava's, so
 * that a restore refuses other engines' checkpoints with a clear message. It contains the engine's
 * metadata, and a checksum of Flink's own description of the states, which has no checksum itself.
 *
 * <p>Bytes, big endian: magic (8), format version (4), key group prefix bytes (4), length (4) and
 * CRC32C (4) of Flink's description, length (8) and CRC32C (4) of the file of heap timers, both 0
 * without such a file, length (4) of the engine's metadata, the metadata, from version 2 on length
 * (4) and bytes of {@link PackedFiles}, from version 3 on the {@link CheckpointIdentity} (48) and
 * the engine's time for TTL (three times 8: the proven time, by how much the clock was ahead of it,
 * and for how long), CRC32C (4) of all before.
 *
 * <p>Threads: immutable. Ownership: the metadata array is shared with callers.
 */
public final class CheckpointDescription {

    /** The file's name among a handle's private files and in directories of local recovery. */
    public static final String FILE_NAME = "LAVA-CHECKPOINT";

    /** Larger than any real description; limits how much is read from a damaged checkpoint. */
    public static final int BYTES_MAX = 512 << 20;

    static final int FORMAT_VERSION = 3;

    private static final byte[] MAGIC = "LAVACKPT".getBytes(StandardCharsets.US_ASCII);
    private static final int HEADER_BYTES = 40;
    private static final int CHECKSUM_BYTES = 4;
    private static final int ORIGIN_BYTES = CheckpointIdentity.BYTES + 3 * Long.BYTES;

    private final int keyGroupPrefixBytes;
    private final int stateMetaBytes;
    private final int stateMetaCrc32c;
    @Nullable private final FileInfo timers;
    private final byte[] engineMetadata;
    private final PackedFiles packed;
    @Nullable private final CheckpointIdentity identity;
    private final TtlTime ttlTime;

    private CheckpointDescription(
            int keyGroupPrefixBytes,
            int stateMetaBytes,
            int stateMetaCrc32c,
            @Nullable FileInfo timers,
            byte[] engineMetadata,
            PackedFiles packed,
            @Nullable CheckpointIdentity identity,
            TtlTime ttlTime) {
        this.keyGroupPrefixBytes = keyGroupPrefixBytes;
        this.stateMetaBytes = stateMetaBytes;
        this.stateMetaCrc32c = stateMetaCrc32c;
        this.timers = timers;
        this.engineMetadata = engineMetadata;
        this.packed = packed;
        this.identity = identity;
        this.ttlTime = ttlTime;
    }

    /**
     * Describes a new checkpoint.
     *
     * @param stateMeta Flink's description of the states, as the checkpoint's meta stream has it
     * @param timers the file of timers on the heap, or null
     * @param engineMetadata what the engine needs to import the files
     * @param packed which of the files are in packs
     * @param identity the identity that is also appended to stateMeta
     * @param ttlTime the engine's time when the checkpoint's snapshot was taken
     */
    public static CheckpointDescription of(
            int keyGroupPrefixBytes,
            byte[] stateMeta,
            @Nullable FileInfo timers,
            byte[] engineMetadata,
            PackedFiles packed,
            CheckpointIdentity identity,
            TtlTime ttlTime) {
        return new CheckpointDescription(
                keyGroupPrefixBytes,
                stateMeta.length,
                crc32c(stateMeta, 0, stateMeta.length),
                timers,
                engineMetadata,
                packed,
                identity,
                ttlTime);
    }

    /** Number of leading bytes of every key that contain the key group: 1 or 2. */
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

    /**
     * Which of the engine's files are in packs. The locations have not been checked against these
     * files.
     */
    public PackedFiles packed() {
        return packed;
    }

    /** The time by which the checkpoint's records expired; unknown before version 3. */
    public TtlTime ttlTime() {
        return ttlTime;
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
        DataOutputSerializer locations = new DataOutputSerializer(64);
        packed.write(locations);
        out.writeInt(locations.length());
        out.write(locations.getSharedBuffer(), 0, locations.length());
        ByteBuffer origin = ByteBuffer.allocate(ORIGIN_BYTES);
        identity.write(origin);
        origin.putLong(ttlTime.timeMs()).putLong(ttlTime.leadMs()).putLong(ttlTime.stoodMs());
        out.write(origin.array());
        out.writeInt(crc32c(out.getSharedBuffer(), 0, out.length()));
        return out.getCopyOfBuffer();
    }

    /**
     * Parses a file's content.
     *
     * @param file its name, for messages
     * @throws IOException when the file is not Lava's, damaged, or of a newer version; the message
     *     names file and offset
     */
    public static CheckpointDescription parse(byte[] bytes, String file) throws IOException {
        if (bytes.length < MAGIC.length
                || !Arrays.equals(Arrays.copyOf(bytes, MAGIC.length), MAGIC)) {
            throw damaged(
                    file,
                    0,
                    "the file does not begin like a file of Lava, so it was written by other"
                            + " software or is damaged");
        }
        int checked = bytes.length - CHECKSUM_BYTES;
        if (checked < HEADER_BYTES) {
            throw damaged(file, bytes.length, "the file ends inside its header");
        }
        ByteBuffer in = ByteBuffer.wrap(bytes);
        if (in.getInt(checked) != crc32c(bytes, 0, checked)) {
            throw damaged(
                    file,
                    checked,
                    "the checksum does not match the bytes before it (the file was cut or"
                            + " changed)");
        }
        in.position(MAGIC.length);
        int version = in.getInt();
        if (version < 1 || version > FORMAT_VERSION) {
            throw new IOException(
                    "The checkpoint file "
                            + file
                            + " has format version "
                            + version
                            + ", but this version of Lava reads only versions up to "
                            + FORMAT_VERSION
                            + ". Restore with the version of Lava that wrote the file, or with a"
                            + " newer version.");
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
            throw damaged(file, MAGIC.length, "the fields of its header contradict each other");
        }
        int originBytes = version < 3 ? 0 : ORIGIN_BYTES;
        if (engineBytes > checked - HEADER_BYTES - originBytes) {
            throw damaged(file, MAGIC.length, "the fields of its header contradict each other");
        }
        in.limit(checked - originBytes).position(HEADER_BYTES + engineBytes);
        PackedFiles packed = version == 1 ? PackedFiles.NONE : readPacked(in, file);
        in.limit(checked);
        CheckpointIdentity identity = null;
        TtlTime ttlTime = TtlTime.UNKNOWN;
        if (version >= 3) {
            in.position(checked - originBytes);
            identity = CheckpointIdentity.read(in);
            if (identity == null) {
                throw damaged(file, checked - originBytes, "its key groups contradict each other");
            }
            ttlTime = new TtlTime(in.getLong(), in.getLong(), in.getLong());
        }
        return new CheckpointDescription(
                prefixBytes,
                metaBytes,
                metaCrc,
                timersBytes == 0
                        ? null
                        : new FileInfo(HeapTimerFile.FILE_NAME, timersBytes, timersCrc),
                Arrays.copyOfRange(bytes, HEADER_BYTES, HEADER_BYTES + engineBytes),
                packed,
                identity,
                ttlTime);
    }

    private static PackedFiles readPacked(ByteBuffer in, String file) throws IOException {
        int begin = in.position();
        if (in.remaining() < Integer.BYTES || in.getInt() != in.remaining()) {
            throw damaged(file, begin, "the length of the list of packed files is wrong");
        }
        try {
            return PackedFiles.read(in);
        } catch (IOException e) {
            throw damaged(file, in.position(), e.getMessage());
        }
    }

    /**
     * Checks that Flink's description of the states is the one that was written with this
     * description, and that it expects this description.
     *
     * @param stateMeta Flink's description, of the checkpoint being restored
     * @param keyGroups the handle's key groups
     * @param metaFile the name of Flink's description, for messages
     * @param file the name of this file
     * @throws IOException naming the file, and either the offset from which it cannot be trusted or
     *     the checkpoint that it belongs to
     */
    public void checkStateMeta(
            byte[] stateMeta, KeyGroupRange keyGroups, String metaFile, String file)
            throws IOException {
        CheckpointIdentity expected = CheckpointIdentity.behindOf(stateMeta);
        if (expected != null && !expected.equals(identity)) {
            throw new IOException(
                    "The checkpoint file "
                            + file
                            + " does not belong to the checkpoint that is restored. The file"
                            + " belongs to "
                            + (identity == null
                                    ? "a checkpoint that an older version of Lava wrote"
                                    : identity)
                            + ", but "
                            + metaFile
                            + " expects the file of "
                            + expected
                            + ". Put the expected file back, or restore from another checkpoint."
                            + " This checkpoint is unchanged.");
        }
        if (stateMeta.length != stateMetaBytes) {
            throw damaged(
                    metaFile,
                    Math.min(stateMeta.length, stateMetaBytes),
                    "the description of all states has "
                            + stateMeta.length
                            + " bytes instead of "
                            + stateMetaBytes);
        }
        if (crc32c(stateMeta, 0, stateMeta.length) != stateMetaCrc32c) {
            throw damaged(
                    metaFile,
                    0,
                    "the description of all states, the "
                            + stateMetaBytes
                            + " bytes from there, has a wrong checksum");
        }
        if (identity != null && !identity.keyGroups().equals(keyGroups)) {
            throw new IOException(
                    "The checkpoint files "
                            + file
                            + " and "
                            + metaFile
                            + " belong to "
                            + identity
                            + ", but the checkpoint that is restored has key groups "
                            + keyGroups.prettyPrintInterval()
                            + " there. Put the checkpoint's own files back, or restore from"
                            + " another checkpoint. This checkpoint is unchanged.");
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
                        + ". The checkpoint is unchanged. Restore from another checkpoint.");
    }
}
