package org.lavakv.flink.snapshot;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.TreeMap;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.junit.jupiter.api.Test;

class CanonicalIteratorTest {

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
        CanonicalIterator it = new CanonicalIterator(range, Arrays.asList(sources));
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
    void noStatesOrNoEntriesIsAnEmptySavepoint() throws IOException {
        assertThat(read(KeyGroupRange.of(0, 3))).isEmpty();
        assertThat(read(KeyGroupRange.of(0, 3), new Entries("a"), new Entries("b"))).isEmpty();
        assertThat(read(KeyGroupRange.EMPTY_KEY_GROUP_RANGE, new Entries("a", 0, 1))).isEmpty();
    }
}
