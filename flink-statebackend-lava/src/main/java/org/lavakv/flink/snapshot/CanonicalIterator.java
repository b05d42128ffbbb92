// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

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
 * <p>Flink's writer takes entries one by one, but needs to see only one entry of each state in a
 * key group, because it marks the last one that it writes. Once the writer has begun with a state,
 * the remaining entries are written directly to the key group's stream, before the entry that the
 * writer holds. This is allowed because the format defines no order for a state's entries. Timers
 * keep their order, which is the fastest one to restore into a heap.
 *
 * <p>There may be a million pairs of key group and state, few of which have entries. The empty ones
 * are skipped without visiting each.
 *
 * <p>Threads: one. Ownership: keys and values are new arrays; Flink's writer changes the keys.
 * Closes the objects that it was given to close.
 */
final class CanonicalIterator implements KeyValueStateIterator {

    /** Knows which states have entries in a key group. */
    interface StateIndex {

        /**
         * The first state of the key group, from the given one on, that may have entries; the
         * number of states, or more, when there is none. Called in the order of the savepoint.
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
     * Moves to the first entry. A state's number is its position in the list.
     *
     * @param index the index of these sources
     * @param streams where the writer opens the key groups' streams
     * @param reading closed with this object, and if the constructor fails
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
        CanonicalEntryOutput rest =
                newState && !source.isOrdered() ? streams.entriesOf(stateId) : null;
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

    /** Moves to the first entry of the next state or key group that has one. */
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

    /** Does not close the pin, which belongs to the resources. */
    @Override
    public void close() {
        IOUtils.closeQuietly(reading);
    }
}
