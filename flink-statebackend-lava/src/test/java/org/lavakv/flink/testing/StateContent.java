// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.testing;

import static org.lavakv.flink.testing.BackendFixture.list;
import static org.lavakv.flink.testing.BackendFixture.map;
import static org.lavakv.flink.testing.BackendFixture.value;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;

/** Writes the three states of {@link BackendFixture} and reads them back, key by key. */
public final class StateContent {

    private StateContent() {}

    /** The content of all states for one key. */
    public static String read(AbstractKeyedStateBackend<Integer> backend, int key)
            throws Exception {
        backend.setCurrentKey(key);
        List<Integer> elements = new ArrayList<>();
        Iterable<Integer> stored = list(backend).get();
        if (stored != null) {
            stored.forEach(elements::add);
        }
        TreeMap<String, Integer> entries = new TreeMap<>();
        for (Map.Entry<String, Integer> entry : map(backend).entries()) {
            entries.put(entry.getKey(), entry.getValue());
        }
        return value(backend).value() + " " + elements + " " + entries;
    }

    /** The result of {@link #read} by key. */
    public static Map<Integer, String> read(
            AbstractKeyedStateBackend<Integer> backend, Collection<Integer> keys) throws Exception {
        Map<Integer, String> all = new TreeMap<>();
        for (int key : keys) {
            all.put(key, read(backend, key));
        }
        return all;
    }

    /**
     * One round of changes to each key: every kind of write, and some deletes; deterministic for
     * key and round.
     */
    public static void change(
            AbstractKeyedStateBackend<Integer> backend, Collection<Integer> keys, int round)
            throws Exception {
        for (int key : keys) {
            backend.setCurrentKey(key);
            if (key % 7 == round % 7) {
                value(backend).clear();
            } else {
                value(backend).update("round " + round + " of " + key);
            }
            if (key % 5 == round % 5) {
                list(backend).clear();
            }
            list(backend).add(round);
            list(backend).add(key);
            if (key % 3 == round % 3) {
                map(backend).clear();
            }
            map(backend).put("round " + round, key);
            map(backend).put("always", round);
            map(backend).remove("round " + (round - 2));
        }
    }
}
