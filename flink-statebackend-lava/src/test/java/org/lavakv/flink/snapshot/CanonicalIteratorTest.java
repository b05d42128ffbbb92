// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.snapshot;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.StreamCompressionDecorator;
import org.apache.flink.runtime.state.UncompressedStreamCompressionDecorator;
import org.junit.jupiter.api.Test;

class CanonicalIteratorTest {

    private static final StreamCompressionDecorator PLAIN =
            UncompressedStreamCompressionDecorator.INSTANCE;

    /** Every state of every key group is asked. */
    private static final CanonicalIterator.StateIndex ALL = (keyGroup, from) -> from;

    /** Entries "state/keyGroup/i", as many as given for each key group. */
    private static final class Entries implements KeyGroupSource {
        private final String state;
        private final TreeMap<Integer, Integer> counts = new TreeMap<>();
        private int keyGroup;
        private int index;

        Entries(String state, int... keyGroupsAndCounts) {
            this.state = state;
            for (int i = 0; i < keyGroupsAndCounts.length; i += 2) {
                counts.put(keyGroupsAndCounts[i], keyGroupsAndCounts[i + 1]);
            }
        }

        @Override
        public void seek(int keyGroup) {
            this.keyGroup = keyGroup;
            this.index = 0;
        }

        @Override
        public boolean next() {
            return index++ < counts.getOrDefault(keyGroup, 0);
        }

        @Override
        public byte[] key() {
            return (state + "/" + keyGroup + "/" + index).getBytes();
        }

        @Override
        public byte[] value() {
            return new byte[0];
        }
    }

    private static List<String> read(KeyGroupRange range, KeyGroupSource... sources)
            throws IOException {
        List<String> lines = new ArrayList<>();
        CanonicalIterator it =
                new CanonicalIterator(
                        range, Arrays.asList(sources), ALL, new KeyGroupStreams(PLAIN), () -> {});
        while (it.isValid()) {
            lines.add(
                    new String(it.key())
                            + " in "
                            + it.keyGroup()
                            + " of "
                            + it.kvStateId()
                            + (it.isNewKeyGroup() ? " group" : "")
                            + (it.isNewKeyValueState() ? " state" : ""));
            it.next();
        }
        return lines;
    }

    @Test
    void goesByKeyGroupThenByState() throws IOException {
        assertThat(
                        read(
                                KeyGroupRange.of(2, 5),
                                new Entries("a", 2, 2, 4, 1),
                                new Entries("b"),
                                new Entries("c", 2, 1, 5, 1)))
                .containsExactly(
                        "a/2/1 in 2 of 0 group state",
                        "a/2/2 in 2 of 0",
                        "c/2/1 in 2 of 2 state",
                        "a/4/1 in 4 of 0 group state",
                        "c/5/1 in 5 of 2 group state");
    }

    @Test
    void statesThatHaveNothingInAKeyGroupAreNotAsked() throws IOException {
        KeyGroupSource untouched =
                new KeyGroupSource() {
                    @Override
                    public void seek(int keyGroup) {
                        throw new AssertionError("asked for key group " + keyGroup);
                    }

                    @Override
                    public boolean next() {
                        throw new AssertionError("asked");
                    }

                    @Override
                    public byte[] key() {
                        return null;
                    }

                    @Override
                    public byte[] value() {
                        return null;
                    }
                };
        Entries only = new Entries("b", 7, 1);
        CanonicalIterator it =
                new CanonicalIterator(
                        KeyGroupRange.of(0, 9),
                        Arrays.asList(untouched, only, untouched),
                        (keyGroup, from) -> keyGroup == 7 && from <= 1 ? 1 : 3,
                        new KeyGroupStreams(PLAIN),
                        () -> {});
        assertThat(it.key()).asString().isEqualTo("b/7/1");
        assertThat(it.kvStateId()).isEqualTo(1);
        it.next();
        assertThat(it.isValid()).isFalse();
    }

    @Test
    void othersOfAStateGoPastTheWriterThatHasJustBegunWithIt() throws IOException {
        KeyGroupStreams streams = new KeyGroupStreams(PLAIN);
        CanonicalIterator it =
                new CanonicalIterator(
                        KeyGroupRange.of(2, 3),
                        Arrays.asList(new Entries("a", 2, 1), new Entries("b", 2, 3, 3, 2)),
                        ALL,
                        streams,
                        () -> {});
        ByteArrayOutputStream file = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(streams.decorateWithCompression(file));
        out.writeShort(0);
        it.next();
        out.writeShort(1);
        assertThat(it.key()).asString().isEqualTo("b/2/1");
        it.next();
        assertThat(it.keyGroup()).isEqualTo(3);
        assertThat(it.isNewKeyGroup()).isTrue();
        out.close();
        assertThat(hex(file.toByteArray()))
                .isEqualTo("0000" + "0001" + entry("b/2/2") + entry("b/2/3"));
        // The stream is closed, and the writer has not opened the next one: entries go one by one.
        it.next();
        assertThat(it.key()).asString().isEqualTo("b/3/2");
        it.next();
        assertThat(it.isValid()).isFalse();
    }

    private static String entry(String key) {
        return String.format("%08x", key.length()) + hex(key.getBytes()) + "00000000";
    }

    private static String hex(byte[] bytes) {
        StringBuilder hex = new StringBuilder();
        for (byte b : bytes) {
            hex.append(String.format("%02x", b));
        }
        return hex.toString();
    }

    @Test
    void largeEntriesAreWrittenWhole() throws IOException {
        ByteArrayOutputStream file = new ByteArrayOutputStream();
        CanonicalEntryOutput out = new CanonicalEntryOutput();
        out.begin(file);
        int[] sizes = {
            0,
            1,
            CanonicalEntryOutput.BUFFER_BYTES - 9,
            CanonicalEntryOutput.BUFFER_BYTES,
            3,
            1 << 20
        };
        for (int size : sizes) {
            out.write(bytes(size), bytes(size / 2));
        }
        out.flush();
        DataInputStream in = new DataInputStream(new ByteArrayInputStream(file.toByteArray()));
        for (int size : sizes) {
            assertThat(in.readNBytes(in.readInt())).isEqualTo(bytes(size));
            assertThat(in.readNBytes(in.readInt())).isEqualTo(bytes(size / 2));
        }
        assertThat(in.available()).isZero();
    }

    private static byte[] bytes(int count) {
        byte[] bytes = new byte[count];
        new SplittableRandom(count).nextBytes(bytes);
        return bytes;
    }

    @Test
    void noStatesOrNoEntriesIsAnEmptySavepoint() throws IOException {
        assertThat(read(KeyGroupRange.of(0, 3))).isEmpty();
        assertThat(read(KeyGroupRange.of(0, 3), new Entries("a"), new Entries("b"))).isEmpty();
        assertThat(read(KeyGroupRange.EMPTY_KEY_GROUP_RANGE, new Entries("a", 0, 1))).isEmpty();
    }
}
