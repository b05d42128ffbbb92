// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.checkpoint;

import java.nio.ByteBuffer;
import java.util.Objects;
import java.util.UUID;
import java.util.zip.CRC32C;
import javax.annotation.Nullable;
import org.apache.flink.api.common.JobID;
import org.apache.flink.runtime.state.KeyGroupRange;

/**
 * Identifies the checkpoint, job and key groups to which a file belongs. A {@link
 * CheckpointDescription} contains its own identity. Flink's description of the states, which every
 * handle names, contains the identity of the description that it expects. Only the unique name is
 * compared, because two jobs restored from one savepoint number their checkpoints alike; the other
 * fields are for messages.
 *
 * <p>The handle's own checkpoint number is not compared: with a changelog, later checkpoints name
 * the handle of a materialization by their own numbers.
 *
 * <p>Bytes, big endian: unique name (16), job (16), checkpoint (8), first and last key group (4
 * each).
 *
 * <p>Threads: immutable.
 */
public final class CheckpointIdentity {

    static final int BYTES = 48;

    /** "LAVA-FOR", which precedes the identity at the end of Flink's description of the states. */
    private static final long MAGIC = 0x4c41_5641_2d46_4f52L;

    private static final int BEHIND_BYTES = Long.BYTES + BYTES + Integer.BYTES;

    private final UUID unique;
    private final JobID job;
    private final long checkpointId;
    private final KeyGroupRange keyGroups;

    private CheckpointIdentity(UUID unique, JobID job, long checkpointId, KeyGroupRange keyGroups) {
        this.unique = unique;
        this.job = job;
        this.checkpointId = checkpointId;
        this.keyGroups = keyGroups;
    }

    /** The identity of a new checkpoint. */
    public static CheckpointIdentity of(JobID job, long checkpointId, KeyGroupRange keyGroups) {
        return new CheckpointIdentity(UUID.randomUUID(), job, checkpointId, keyGroups);
    }

    /** The key groups of the subtask that wrote the checkpoint. */
    public KeyGroupRange keyGroups() {
        return keyGroups;
    }

    /**
     * Flink's description of the states followed by this identity: magic, identity, CRC32C of both.
     * Readers of the description ignore these bytes.
     */
    public byte[] behind(byte[] stateMeta) {
        ByteBuffer out = ByteBuffer.allocate(stateMeta.length + BEHIND_BYTES);
        out.put(stateMeta).putLong(MAGIC);
        write(out);
        out.putInt(crc32c(out.array(), stateMeta.length));
        return out.array();
    }

    /**
     * The identity at the end of Flink's description of the states. Null if it is not intact: an
     * older version wrote the description, or it is damaged.
     */
    @Nullable
    static CheckpointIdentity behindOf(byte[] stateMeta) {
        int at = stateMeta.length - BEHIND_BYTES;
        if (at < 0) {
            return null;
        }
        ByteBuffer in = ByteBuffer.wrap(stateMeta, at, BEHIND_BYTES);
        if (in.getLong() != MAGIC) {
            return null;
        }
        CheckpointIdentity identity = read(in);
        return in.getInt() == crc32c(stateMeta, at) ? identity : null;
    }

    private static int crc32c(byte[] bytes, int at) {
        CRC32C crc = new CRC32C();
        crc.update(bytes, at, Long.BYTES + BYTES);
        return (int) crc.getValue();
    }

    void write(ByteBuffer out) {
        out.putLong(unique.getMostSignificantBits());
        out.putLong(unique.getLeastSignificantBits());
        out.put(job.getBytes());
        out.putLong(checkpointId);
        out.putInt(keyGroups.getStartKeyGroup());
        out.putInt(keyGroups.getEndKeyGroup());
    }

    /** Null if the key groups are impossible. */
    @Nullable
    static CheckpointIdentity read(ByteBuffer in) {
        UUID unique = new UUID(in.getLong(), in.getLong());
        byte[] job = new byte[JobID.SIZE];
        in.get(job);
        long checkpointId = in.getLong();
        int first = in.getInt();
        int last = in.getInt();
        return first < 0 || last < first
                ? null
                : new CheckpointIdentity(
                        unique, new JobID(job), checkpointId, KeyGroupRange.of(first, last));
    }

    @Override
    public boolean equals(Object other) {
        if (!(other instanceof CheckpointIdentity)) {
            return false;
        }
        CheckpointIdentity that = (CheckpointIdentity) other;
        return unique.equals(that.unique)
                && job.equals(that.job)
                && checkpointId == that.checkpointId
                && keyGroups.equals(that.keyGroups);
    }

    @Override
    public int hashCode() {
        return Objects.hash(unique, job, checkpointId, keyGroups);
    }

    @Override
    public String toString() {
        return "checkpoint "
                + checkpointId
                + " of job "
                + job
                + ", key groups "
                + keyGroups.prettyPrintInterval()
                + ", written as "
                + unique;
    }
}
