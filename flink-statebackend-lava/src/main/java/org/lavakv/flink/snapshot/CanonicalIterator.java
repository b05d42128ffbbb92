package org.lavakv.flink.snapshot;

import java.io.IOException;
import java.util.List;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyValueStateIterator;

/**
 * All entries of a savepoint, ordered by key group and then by state.
 *
 * <p>Threads: one. Ownership: keys and values are fresh arrays; Flink's writer changes the keys.
 */
final class CanonicalIterator implements KeyValueStateIterator {

    private final KeyGroupRange keyGroupRange;
    private final List<KeyGroupSource> sources;
    private int keyGroup;
    private int stateId = -1;
    private boolean valid;
    private boolean newKeyGroup;
    private boolean newState;

    /** Goes to the first entry. The position in the list is a state's number. */
    CanonicalIterator(KeyGroupRange keyGroupRange, List<KeyGroupSource> sources)
            throws IOException {
        this.keyGroupRange = keyGroupRange;
        this.sources = sources;
        this.keyGroup = keyGroupRange.getStartKeyGroup();
        this.valid = !sources.isEmpty() && keyGroupRange.getNumberOfKeyGroups() > 0;
        if (valid) {
            newKeyGroup = true;
            nextSource();
        }
    }

    @Override
    public void next() throws IOException {
        newKeyGroup = false;
        newState = false;
        if (!sources.get(stateId).next()) {
            nextSource();
        }
    }

    /** Goes to the first entry of the next state, or key group, that has one. */
    private void nextSource() throws IOException {
        newState = true;
        do {
            stateId++;
            if (stateId == sources.size()) {
                stateId = 0;
                keyGroup++;
                newKeyGroup = true;
                if (keyGroup > keyGroupRange.getEndKeyGroup()) {
                    valid = false;
                    return;
                }
            }
            sources.get(stateId).seek(keyGroup);
        } while (!sources.get(stateId).next());
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
    public void close() {}
}
