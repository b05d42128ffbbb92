// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.zip.CRC32C;
import org.apache.flink.api.common.JobID;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.junit.jupiter.api.Test;
import org.lavakv.FileInfo;
import org.lavakv.TtlTime;

class CheckpointDescriptionTest {

    private static final KeyGroupRange RANGE = KeyGroupRange.of(3, 9);
    private static final CheckpointIdentity IDENTITY =
            CheckpointIdentity.of(new JobID(), 17, RANGE);
    private static final byte[] STATES = {1, 2, 3, 4, 5};
    private static final byte[] STATE_META = IDENTITY.behind(STATES);
    private static final TtlTime TIME = new TtlTime(1_700_000_000_000L, 7, 5);
    private static final byte[] METADATA = {9, 8, 7};
    private static final FileInfo TIMERS = new FileInfo("LAVA-TIMERS", 77, 5);

    private static final PackedFiles PACKED =
            PackedFiles.of(
                    Map.of(
                            "1.ksst", new PackedFiles.Location("p.pack", 0, 10),
                            "2.ksst", new PackedFiles.Location("p.pack", 30, 1L << 40),
                            "3.vsst", new PackedFiles.Location("q.pack", 5, 0)));

    private static byte[] written() throws IOException {
        return CheckpointDescription.of(2, STATE_META, TIMERS, METADATA, PACKED, IDENTITY, TIME)
                .toBytes();
    }

    @Test
    void readsWhatItWrote() throws IOException {
        CheckpointDescription read = CheckpointDescription.parse(written(), "f");
        assertThat(read.keyGroupPrefixBytes()).isEqualTo(2);
        assertThat(read.engineMetadata()).isEqualTo(METADATA);
        assertThatCode(() -> read.checkStateMeta(STATE_META, RANGE, "m", "f"))
                .doesNotThrowAnyException();
        assertThat(read.ttlTime()).isEqualTo(TIME);
        assertThat(read.packed().files()).containsExactlyInAnyOrder("1.ksst", "2.ksst", "3.vsst");
        assertThat(read.packed().of("2.ksst"))
                .hasToString(PACKED.of("2.ksst").toString())
                .hasToString("1099511627776 bytes from offset 30 of the pack p.pack");
        assertThat(read.packed().of("3.vsst").pack()).isEqualTo("q.pack");
        assertThat(read.packed().of("p.pack")).isNull();
    }

    /** A description with the given bytes as list of packs, and correct checksums. */
    private static byte[] withPacked(int version, byte[] packed) {
        int head = 40 + METADATA.length;
        ByteBuffer out = ByteBuffer.allocate(head + packed.length + 4);
        out.put(unpacked(), 0, head).put(packed).putInt(8, version);
        CRC32C crc = new CRC32C();
        crc.update(out.array(), 0, out.position());
        return out.putInt((int) crc.getValue()).array();
    }

    private static byte[] unpacked() {
        try {
            return CheckpointDescription.of(
                            2, STATE_META, TIMERS, METADATA, PackedFiles.NONE, IDENTITY, TIME)
                    .toBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Encodes numbers, and names with their lengths. */
    private static byte[] bytes(Object... parts) {
        ByteBuffer out = ByteBuffer.allocate(400);
        for (Object part : parts) {
            if (part instanceof Integer) {
                out.putInt((Integer) part);
            } else if (part instanceof Long) {
                out.putLong((Long) part);
            } else if (part instanceof Byte) {
                out.put((Byte) part);
            } else {
                out.putShort((short) ((String) part).length());
                out.put(((String) part).getBytes(StandardCharsets.US_ASCII));
            }
        }
        return Arrays.copyOf(out.array(), out.position());
    }

    private static CheckpointDescription parsed(Object... packed) throws IOException {
        byte[] bytes = bytes(packed);
        ByteBuffer out = ByteBuffer.allocate(Integer.BYTES + bytes.length);
        out.putInt(bytes.length).put(bytes);
        return CheckpointDescription.parse(withPacked(2, out.array()), "the-file");
    }

    @Test
    void versionBeforePacksHasNone() throws IOException {
        CheckpointDescription read = CheckpointDescription.parse(withPacked(1, new byte[0]), "f");
        assertThat(read.engineMetadata()).isEqualTo(METADATA);
        assertThat(read.packed().files()).isEmpty();
        for (byte[] more : List.of(bytes(4, 0), new byte[1])) { // as in version 2, and arbitrary
            assertThatThrownBy(() -> CheckpointDescription.parse(withPacked(1, more), "f"))
                    .hasMessageContaining("the fields of its header contradict each other");
        }
        assertThatThrownBy(() -> CheckpointDescription.parse(withPacked(2, new byte[0]), "f"))
                .hasMessageContaining(
                        "at offset 43, the length of the list of packed files is wrong");
    }

    @Test
    void packsThatNoVersionWroteAreRefusedWhereTheyAre() throws IOException {
        assertThat(parsed(1, "p", 1, "f", 7L, 8L).packed().of("f"))
                .hasToString("8 bytes from offset 7 of the pack p");
        refused("there are more bytes after the last pack", 1, "p", 1, "f", 7L, 8L, 0);
        refused("the location of a file is cut off", 1, "p", 1, "a longer name", 7L, 0);
        refused("a number is cut off");
        refused("a number is too large", 1 << 30, "p", 1, "f", 7L, 8L);
        refused("a number is too large", -1, "p", 1, "f", 7L, 8L);
        refused("a number is too large", 1, "p", 2, "f", 7L, 8L);
        refused("a number is cut off", 2, "p", 0, "longer name");
        refused("a name is cut off", 2, "pp", 1, "f", 7L, 8L, (Object) (byte) 0);
        refused("has a negative number", 1, "p", 1, "f", -7L, 8L);
        refused("has a negative number", 1, "p", 1, "f", 7L, -8L);
        refused("the length of a name is impossible", 1, "", 1, "f", 7L, 8L);
        refused("the length of a name is impossible", 1, "p", 1, "f".repeat(256), 7L, 8L);
        refused("a file is at two locations", 1, "p", 2, "f", 7L, 8L, "f", 15L, 8L);
    }

    private static void refused(String why, Object... packed) {
        assertThatThrownBy(() -> parsed(packed))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("The checkpoint file the-file cannot be used: at offset ")
                .hasMessageContaining(why);
    }

    @Test
    void placeLiesWithinItsPackOrNot() {
        assertThat(new PackedFiles.Location("p", 3, 4).liesWithin(7)).isTrue();
        assertThat(new PackedFiles.Location("p", 3, 4).liesWithin(6)).isFalse();
        assertThat(new PackedFiles.Location("p", 8, 0).liesWithin(7)).isFalse();
        assertThat(new PackedFiles.Location("p", 3, Long.MAX_VALUE).liesWithin(Long.MAX_VALUE))
                .isFalse();
        assertThat(new PackedFiles.Location("p", Long.MAX_VALUE, Long.MAX_VALUE).liesWithin(7))
                .isFalse();
    }

    @Test
    void everyFlippedBitIsRefusedWithFileAndOffset() throws IOException {
        byte[] bytes = written();
        for (int bit = 0; bit < bytes.length * 8; bit++) {
            byte[] damaged = bytes.clone();
            damaged[bit / 8] ^= (byte) (1 << (bit % 8));
            assertThatThrownBy(() -> CheckpointDescription.parse(damaged, "the-file"))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("the-file")
                    .hasMessageContaining("offset");
        }
    }

    @Test
    void everyLengthIsRefusedButItsOwn() throws IOException {
        byte[] bytes = written();
        for (int length = 0; length <= bytes.length + 3; length++) {
            byte[] cut = Arrays.copyOf(bytes, length);
            if (length != bytes.length) {
                assertThatThrownBy(() -> CheckpointDescription.parse(cut, "the-file"))
                        .isInstanceOf(IOException.class)
                        .hasMessageContaining("the-file")
                        .hasMessageContaining("offset");
            }
        }
    }

    @Test
    void newerVersionIsRefusedNamingBoth() throws IOException {
        byte[] bytes = written();
        bytes[11] = 7;
        java.util.zip.CRC32C crc = new java.util.zip.CRC32C();
        crc.update(bytes, 0, bytes.length - 4);
        java.nio.ByteBuffer.wrap(bytes).putInt(bytes.length - 4, (int) crc.getValue());
        assertThatThrownBy(() -> CheckpointDescription.parse(bytes, "the-file"))
                .hasMessageContaining("version 7")
                .hasMessageContaining("up to 3");
    }

    @Test
    void changedStateDescriptionIsRefused() throws IOException {
        CheckpointDescription read = CheckpointDescription.parse(written(), "f");
        for (int i = 0; i < STATE_META.length; i++) {
            byte[] changed = STATE_META.clone();
            changed[i] ^= 1;
            assertThatThrownBy(() -> read.checkStateMeta(changed, RANGE, "the-meta", "f"))
                    .hasMessageContaining("the-meta")
                    .hasMessageContaining("checksum");
            byte[] cut = Arrays.copyOf(STATE_META, i);
            assertThatThrownBy(() -> read.checkStateMeta(cut, RANGE, "the-meta", "f"))
                    .hasMessageContaining("offset " + i);
        }
    }

    /** The states are the same; job, number and key groups may be, too. */
    @Test
    void descriptionOfAnotherCheckpointIsRefusedNamingBoth() throws IOException {
        CheckpointIdentity other = CheckpointIdentity.of(new JobID(), 17, RANGE);
        byte[] expected = other.behind(STATES);
        CheckpointDescription read = CheckpointDescription.parse(written(), "f");
        assertThatThrownBy(() -> read.checkStateMeta(expected, RANGE, "the-meta", "the-file"))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("The checkpoint file the-file does not belong to")
                .hasMessageContaining("The file belongs to " + IDENTITY)
                .hasMessageContaining("but the-meta expects the file of " + other)
                .hasMessageContaining("Put the expected file back");
        CheckpointDescription old = CheckpointDescription.parse(withPacked(1, new byte[0]), "f");
        assertThatThrownBy(() -> old.checkStateMeta(expected, RANGE, "the-meta", "the-file"))
                .hasMessageContaining(
                        "The file belongs to a checkpoint that an older version of Lava wrote")
                .hasMessageContaining(other.toString());
    }

    @Test
    void descriptionsOfAnotherSubtaskAreRefused() throws IOException {
        CheckpointDescription read = CheckpointDescription.parse(written(), "f");
        KeyGroupRange range = KeyGroupRange.of(10, 20);
        assertThatThrownBy(() -> read.checkStateMeta(STATE_META, range, "the-meta", "the-file"))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("the-meta")
                .hasMessageContaining("the-file")
                .hasMessageContaining(IDENTITY.toString())
                .hasMessageContaining(range.prettyPrintInterval());
    }

    /** Files from before the introduction of identities are still accepted. */
    @Test
    void olderDescriptionsGoWithTheirStates() throws IOException {
        byte[] head = bytes(2, STATES.length, crc32c(STATES), 0L, 0, METADATA.length);
        ByteBuffer out = ByteBuffer.allocate(400);
        out.put("LAVACKPT".getBytes(StandardCharsets.US_ASCII)).putInt(1).put(head).put(METADATA);
        CRC32C crc = new CRC32C();
        crc.update(out.array(), 0, out.position());
        out.putInt((int) crc.getValue());
        CheckpointDescription read =
                CheckpointDescription.parse(Arrays.copyOf(out.array(), out.position()), "f");
        assertThatCode(() -> read.checkStateMeta(STATES, RANGE, "m", "f"))
                .doesNotThrowAnyException();
        assertThat(read.ttlTime()).isEqualTo(TtlTime.UNKNOWN);
    }

    private static int crc32c(byte[] bytes) {
        CRC32C crc = new CRC32C();
        crc.update(bytes);
        return (int) crc.getValue();
    }
}
