package org.lavakv.flink.snapshot;

import java.io.Closeable;
import java.io.IOException;
import java.util.List;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyValueStateIterator;
import org.apache.flink.util.IOUtils;

/**
 * All entries of a savepoint, ordered by key group and then by state.
 *
 * <p>Flink's writer takes entries one by one, but needs to see only one of each state in a key
 * group: it marks the last that it writes. Where it can be known that the writer has just begun
 * with a state, the other entries go into the key group's stream past it, before the one that it
 * holds: the format knows no order of a state's entries. Timers stay in order, in which a heap
 * takes them best.
 *
 * <p>There may be a million pairs of key group and state, of which few have entries: the others are
 * not looked at one by one.
 *
 * <p>Threads: one. Ownership: keys and values are fresh arrays; Flink's writer changes the keys.
 * Closes what it is given to close.
 */
final class CanonicalIterator implements KeyValueStateIterator {

    /** Knows which states have entries in a key group. */
    interface StateIndex {

        /**
         * The next state of the key group, from that one on, that is to be asked for entries; the
         * number of states, or more, when none is. Asked in the order of the savepoint.
         */
        int nextState(int keyGroup, int from) throws IOException;
    }

    private final KeyGroupRange keyGroupRange;
    private final List<KeyGroupSource> sources;
    private final StateIndex index;
    private final KeyGroupStreams streams;
    private final Closeable reading;
    private int keyGroup;
    private int stateId = -1;
    private boolean valid;
    private boolean newKeyGroup;
    private boolean newState;

    /**
     * Goes to the first entry. The position in the list is a state's number.
     *
     * @param index of those sources
     * @param streams where the writer opens the key groups' streams
     * @param reading closed with this, and if this fails
     */
    CanonicalIterator(
            KeyGroupRange keyGroupRange,
            List<KeyGroupSource> sources,
            StateIndex index,
            KeyGroupStreams streams,
            Closeable reading)
            throws IOException {
        this.keyGroupRange = keyGroupRange;
        this.sources = sources;
        this.index = index;
        this.streams = streams;
        this.reading = reading;
        this.keyGroup = keyGroupRange.getStartKeyGroup();
        this.valid = !sources.isEmpty() && keyGroupRange.getNumberOfKeyGroups() > 0;
        if (valid) {
            newKeyGroup = true;
            try {
                nextSource();
            } catch (Throwable t) {
                reading.close();
                throw t;
            }
        }
    }

    @Override
    public void next() throws IOException {
        KeyGroupSource source = sources.get(stateId);
        EntryOutput rest = newState && !source.isOrdered() ? streams.entriesOf(stateId) : null;
        newKeyGroup = false;
        newState = false;
        if (rest != null) {
            source.writeRest(rest);
            rest.flush();
            nextSource();
        } else if (!source.next()) {
            nextSource();
        }
    }

    /** Goes to the first entry of the next state, or key group, that has one. */
    private void nextSource() throws IOException {
        newState = true;
        while (true) {
            stateId = index.nextState(keyGroup, stateId + 1);
            if (stateId < sources.size()) {
                KeyGroupSource source = sources.get(stateId);
                source.seek(keyGroup);
                if (source.next()) {
                    return;
                }
            } else if (keyGroup < keyGroupRange.getEndKeyGroup()) {
                keyGroup++;
                stateId = -1;
                newKeyGroup = true;
            } else {
                valid = false;
                return;
            }
        }
    }

    @Override
    public int keyGroup() {
        return keyGroup;
    }

    @Override
    public byte[] key() {
        return sources.get(stateId).key();
    }

    @Override
    public byte[] value() {
        return sources.get(stateId).value();
    }

    @Override
    public int kvStateId() {
        return stateId;
    }

    @Override
    public boolean isNewKeyValueState() {
        return newState;
    }

    @Override
    public boolean isNewKeyGroup() {
        return newKeyGroup;
    }

    @Override
    public boolean isValid() {
        return valid;
    }

    /** The pin belongs to the resources. */
    @Override
    public void close() {
        IOUtils.closeQuietly(reading);
    }
}
