// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.restore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.lavakv.flink.testing.BackendFixture.ALL;
import static org.lavakv.flink.testing.BackendFixture.keysIn;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.zip.CRC32C;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.api.java.typeutils.runtime.NullableSerializer;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.BackendBuildingException;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyGroupsSavepointStateHandle;
import org.apache.flink.runtime.state.KeyGroupsStateHandle;
import org.apache.flink.runtime.state.SerializedCompositeKeyBuilder;
import org.apache.flink.runtime.state.SnappyStreamCompressionDecorator;
import org.apache.flink.runtime.state.memory.ByteStreamStateHandle;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.lavakv.FileInfo;
import org.lavakv.TtlTime;
import org.lavakv.flink.checkpoint.CheckpointDescription;
import org.lavakv.flink.checkpoint.CheckpointIdentity;
import org.lavakv.flink.checkpoint.HeapTimerFile;
import org.lavakv.flink.checkpoint.PackedFiles;
import org.lavakv.flink.engine.ListSegments;
import org.lavakv.flink.testing.BackendFixture;
import org.lavakv.flink.testing.Mutations;
import org.lavakv.flink.testing.StateContent;

/**
 * For any bytes in a checkpoint or savepoint, each parser returns a result or says what is wrong.
 */
@Timeout(300)
class ParserMutationsTest {

    private static final int KEY_GROUP = 3;
    private static final int STATES = 3;

    /** A serializer of variable length that does not allocate memory by a length that it reads. */
    private static final TypeSerializer<Integer> ELEMENTS =
            NullableSerializer.wrap(IntSerializer.INSTANCE, false);

    @TempDir Path root;

    private static byte[] timers() throws IOException {
        DataOutputSerializer out = new DataOutputSerializer(128);
        out.writeInt(2);
        for (String state : List.of("_timer_state/event", "_timer_state/processing")) {
            out.writeUTF(state);
            for (int length : new int[] {9, 30, 1}) {
                out.writeInt(length);
                out.write(new byte[length]);
            }
            out.writeInt(0);
        }
        return out.getCopyOfBuffer();
    }

    private void readTimers(byte[] content) throws IOException {
        Path file = root.resolve("the-timers");
        // Creates a new file, because some file systems wait for the disk when a file is
        // overwritten.
        Files.deleteIfExists(file);
        Files.write(file, content);
        HeapTimerFile.read(file, (state, timer) -> assertThat(timer).isNotEmpty());
    }

    @Test
    void filesOfTimers() throws Exception {
        new Mutations(List.of(timers()), IOException.class)
                .run(
                        Mutations.MANY,
                        content -> {
                            try {
                                readTimers(content);
                            } catch (IOException e) {
                                assertThat(e).hasMessageContaining("the-timers");
                                throw e;
                            }
                        });
    }

    @Test
    void timersThatNoVersionWroteAreRefusedWithFileAndOffset() throws Exception {
        byte[] good = timers();
        readTimers(good);
        byte[] noStates = good.clone();
        noStates[0] = -1;
        for (byte[] bad :
                List.of(
                        noStates, // regression: was read as no timers at all
                        // regression: more bytes than requested
                        Arrays.copyOf(good, good.length + 1),
                        // regression: the message did not name the file
                        Arrays.copyOf(good, good.length - 1),
                        Arrays.copyOf(good, 10))) {
            assertThatThrownBy(() -> readTimers(bad))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("the-timers of " + bad.length + " bytes")
                    .hasMessageContaining("before offset ");
        }
    }

    private static byte[] list() throws IOException {
        DataOutputSerializer out = new DataOutputSerializer(128);
        for (int length : new int[] {0, 4, 31, 32, 300}) {
            ListSegments.write(out, ListSegments.ELEMENT, new byte[length], 0, length);
        }
        ListSegments.write(out, ListSegments.JOINED, new byte[] {1, ',', 2}, 0, 3);
        return out.getCopyOfBuffer();
    }

    @Test
    void segmentsOfLists() throws Exception {
        new Mutations(List.of(list(), new byte[0]), IOException.class)
                .run(
                        Mutations.MANY,
                        bytes -> {
                            ListSegments segments = new ListSegments();
                            segments.reset(bytes, 0, bytes.length);
                            int read = 0;
                            while (segments.next()) {
                                assertThat(segments.offset()).isGreaterThan(read);
                                assertThat(segments.length()).isNotNegative();
                                read = segments.offset() + segments.length();
                            }
                            assertThat(read).isEqualTo(bytes.length);
                            ListSegments.join(bytes, 0, bytes.length);
                        });
    }

    private static byte[] joined() throws IOException {
        DataOutputSerializer out = new DataOutputSerializer(128);
        for (Integer element : Arrays.asList(1, null, 3, -4, null)) {
            if (out.length() > 0) {
                out.writeByte(ListSegments.DELIMITER);
            }
            ELEMENTS.serialize(element, out);
        }
        return out.getCopyOfBuffer();
    }

    @Test
    void joinedLists() throws Exception {
        new Mutations(List.of(joined(), new byte[0]), IOException.class)
                .run(
                        Mutations.MANY,
                        bytes -> {
                            DataOutputSerializer out = new DataOutputSerializer(16);
                            ListSegments.split(out, bytes, ELEMENTS);
                            assertThat(out.length()).isLessThanOrEqualTo(6 * bytes.length);
                        });
    }

    @Test
    void joinedListWithoutDelimitersIsNotSplit() throws Exception {
        byte[] bytes = joined();
        bytes[5] = ';';
        assertThatThrownBy(() -> ListSegments.split(new DataOutputSerializer(16), bytes, ELEMENTS))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("no element ends at byte 5 of " + bytes.length);
    }

    private static byte[] mapKey(Integer key, Long namespace) throws IOException {
        SerializedCompositeKeyBuilder<Integer> builder =
                new SerializedCompositeKeyBuilder<>(ELEMENTS, 2, 16);
        builder.setKeyAndKeyGroup(key, 5);
        return builder.buildCompositeKeyNamesSpaceUserKey(
                namespace,
                NullableSerializer.wrap(LongSerializer.INSTANCE, false),
                7,
                IntSerializer.INSTANCE);
    }

    private static MapKeyPrefix mapKeys() {
        return new MapKeyPrefix(
                ELEMENTS, NullableSerializer.wrap(LongSerializer.INSTANCE, false), 2);
    }

    @Test
    void keysOfMaps() throws Exception {
        MapKeyPrefix one = mapKeys();
        new Mutations(List.of(mapKey(1, 2L), mapKey(null, 3L), mapKey(4, null)), IOException.class)
                .run(
                        Mutations.MANY,
                        key -> {
                            assertThat(mapKeys().lengthIn(key)).isBetween(2, key.length);
                            // Remembered prefixes of earlier keys, including damaged ones, do no
                            // harm.
                            assertThat(one.lengthIn(key)).isBetween(2, key.length);
                        });
    }

    @Test
    void keyOfMapWithoutKeyGroupIsAnIOException() {
        for (int length = 0; length < 2; length++) {
            byte[] key = new byte[length];
            assertThatThrownBy(() -> mapKeys().lengthIn(key)).isInstanceOf(IOException.class);
        }
    }

    private static PackedFiles packed() {
        return PackedFiles.of(
                Map.of(
                        "1.ksst", new PackedFiles.Location("a.pack", 0, 10),
                        "2.ksst", new PackedFiles.Location("a.pack", 10, 99),
                        "3.vsst", new PackedFiles.Location("b.pack", 5, 7)));
    }

    private static byte[] withChecksum(byte[] description) {
        byte[] changed = description.clone();
        int checked = changed.length - Integer.BYTES;
        if (checked >= 0) {
            CRC32C crc = new CRC32C();
            crc.update(changed, 0, checked);
            ByteBuffer.wrap(changed).putInt(checked, (int) crc.getValue());
        }
        return changed;
    }

    private static final KeyGroupRange KEY_GROUPS = KeyGroupRange.of(0, 7);

    private static byte[] description(
            int prefixBytes, byte[] meta, FileInfo timers, byte[] metadata, PackedFiles packed)
            throws IOException {
        return CheckpointDescription.of(
                        prefixBytes,
                        meta,
                        timers,
                        metadata,
                        packed,
                        CheckpointIdentity.of(new JobID(), 3, KEY_GROUPS),
                        TtlTime.UNKNOWN)
                .toBytes();
    }

    @Test
    void descriptionsOfCheckpointsBehindARightChecksum() throws Exception {
        byte[] meta = {1, 2, 3};
        FileInfo timers = new FileInfo(HeapTimerFile.FILE_NAME, 77, 5);
        List<byte[]> good = new ArrayList<>();
        good.add(description(2, meta, timers, new byte[500], packed()));
        good.add(description(1, meta, null, new byte[3], packed()));
        good.add(description(1, meta, null, new byte[3], PackedFiles.NONE));
        new Mutations(good, IOException.class)
                .run(
                        Mutations.MANY,
                        bytes -> {
                            CheckpointDescription read =
                                    CheckpointDescription.parse(withChecksum(bytes), "the-file");
                            assertThat(read.keyGroupPrefixBytes()).isBetween(1, 2);
                            assertThat(read.engineMetadata().length)
                                    .isLessThanOrEqualTo(bytes.length - 44);
                            for (String file : read.packed().files()) {
                                PackedFiles.Location location = read.packed().of(file);
                                assertThat(location.offset()).isNotNegative();
                                assertThat(location.bytes()).isNotNegative();
                                assertThat(location.pack()).isNotEmpty();
                            }
                            if (read.timers() != null) {
                                assertThat(read.timers().bytes()).isPositive();
                            }
                            read.checkStateMeta(meta, KEY_GROUPS, "the-meta", "the-file");
                        });
    }

    @Test
    void descriptionOfNegativeLengthIsRefusedWhereItStands() throws Exception {
        byte[] bytes = description(2, new byte[3], null, new byte[3], packed());
        bytes[16] = -1;
        assertThatThrownBy(() -> CheckpointDescription.parse(withChecksum(bytes), "the-file"))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("the-file")
                .hasMessageContaining("the fields of its header contradict each other");
    }

    /** A key group of a canonical savepoint, as Flink writes it. */
    private static byte[] keyGroup(boolean compressed) throws IOException {
        DataOutputSerializer out = new DataOutputSerializer(128);
        for (int state = 0; state < STATES; state++) {
            out.writeShort(state);
            for (int entry = 0; entry < 3; entry++) {
                byte[] key = new byte[5 + entry];
                key[0] = (byte) (entry == 2 ? 0x80 | KEY_GROUP : KEY_GROUP);
                out.writeInt(key.length);
                out.write(key);
                out.writeInt(entry * 8);
                out.write(new byte[entry * 8]);
            }
        }
        out.writeShort(0xffff);
        if (!compressed) {
            return out.getCopyOfBuffer();
        }
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (OutputStream snappy =
                SnappyStreamCompressionDecorator.INSTANCE.decorateWithCompression(bytes)) {
            snappy.write(out.getCopyOfBuffer());
        }
        return bytes.toByteArray();
    }

    private static int readKeyGroup(byte[] content, boolean compressed) throws IOException {
        int count = 0;
        try (FSDataInputStream in = new ByteStreamStateHandle("file", content).openInputStream()) {
            CanonicalEntries entries =
                    new CanonicalEntries(in, content.length, compressed, STATES, 1);
            entries.seek(KEY_GROUP, 0);
            while (entries.hasNext()) {
                assertThat(entries.nextState()).isBetween(0, STATES - 1);
                entries.next();
                assertThat(entries.key()[0]).isEqualTo((byte) KEY_GROUP);
                assertThat(entries.value()).isNotNull();
                count++;
            }
        }
        return count;
    }

    @Test
    void keyGroupsOfCanonicalSavepoints() throws Exception {
        assertThat(readKeyGroup(keyGroup(false), false)).isEqualTo(3 * STATES);
        new Mutations(List.of(keyGroup(false)), IOException.class)
                .run(Mutations.MANY, content -> readKeyGroup(content, false));
    }

    /**
     * Snappy allocates memory by lengths that it reads, also outside the heap; the restore
     * translates the error.
     */
    @Test
    void compressedKeyGroupsOfCanonicalSavepoints() throws Exception {
        assertThat(readKeyGroup(keyGroup(true), true)).isEqualTo(3 * STATES);
        new Mutations(List.of(keyGroup(true)), IOException.class)
                .mayAllocate(Long.MAX_VALUE)
                .run(
                        1000,
                        content -> {
                            try {
                                readKeyGroup(content, true);
                            } catch (OutOfMemoryError e) {
                                throw new IOException(e);
                            }
                        });
    }

    @Test
    void canonicalSavepoints() throws Exception {
        try (BackendFixture fixture = new BackendFixture(root)) {
            AbstractKeyedStateBackend<Integer> backend = fixture.create(ALL);
            StateContent.change(backend, keysIn(ALL, 12), 0);
            KeyGroupsStateHandle good = (KeyGroupsStateHandle) BackendFixture.savepoint(backend);
            fixture.close(backend);
            byte[] bytes = good.getDelegateStateHandle().asBytesIfInMemory().orElseThrow();
            new Mutations(List.of(bytes), BackendBuildingException.class)
                    // Flink reads the description, and allocates memory by its content.
                    .mayAllocate(Long.MAX_VALUE)
                    .run(
                            300,
                            content -> {
                                fixture.close(
                                        fixture.create(
                                                ALL,
                                                new KeyGroupsSavepointStateHandle(
                                                        good.getGroupRangeOffsets(),
                                                        new ByteStreamStateHandle(
                                                                "file", content))));
                            });
            assertThat(BackendFixture.filesIn(fixture.instances())).isEmpty();
        }
    }
}
