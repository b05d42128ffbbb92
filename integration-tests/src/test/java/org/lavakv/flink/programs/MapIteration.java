// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.programs;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import org.apache.flink.api.common.state.MapState;

/**
 * Iterates over a map while the consumer changes it.
 *
 * <p>On Lava an iterator shows the map as of its creation. Flink's own backends guarantee nothing:
 * hashmap throws ConcurrentModificationException, RocksDB shows some of the changes. There the
 * entries are copied first, and then the consumer's changes are made, which gives the result that
 * Lava guarantees.
 *
 * <p>The order of entries differs between backends, so the result of each change must not depend on
 * its time. An entry's own key determines the change at its visit, and two entries change the same
 * third one only in the same way.
 */
final class MapIteration extends Step {

    /** The call that creates the iterator. */
    enum Way {
        ENTRIES,
        ITERATOR,
        KEYS,
        VALUES
    }

    /** The action for each visited entry. */
    enum Change {
        NOTHING,
        REMOVE_BY_ITERATOR,
        SET_VALUE,
        REMOVE_ITSELF,
        PUT_ITSELF,
        PUT_OTHERS,
        CHANGE_A_THIRD,
        WRITE_ANOTHER_CELL
    }

    private static final int OTHERS = 40;

    private final Cell cell;
    private final Cell another;
    private final Way way;
    private final List<Change> changes;
    private final boolean clearsFirst;
    private final int number;

    /**
     * @param way not by values where expired ones may be shown, because values do not contain their
     *     keys
     * @param another of the same state, which may be written meanwhile
     * @param changes the actions; an entry's key selects one
     * @param clearsFirst whether the map is cleared at the first entry, instead of these actions
     * @param number the written values are derived from it
     */
    MapIteration(
            Cell cell,
            Cell another,
            Way way,
            List<Change> changes,
            boolean clearsFirst,
            int number) {
        this.cell = cell;
        this.another = another;
        this.way = way;
        this.changes = changes;
        this.clearsFirst = clearsFirst;
        this.number = number;
    }

    @Override
    List<Cell> cells() {
        return List.of(cell, another);
    }

    @Override
    Object run(Job job) throws Exception {
        return new Run(job).visited();
    }

    /** The iteration on one job. */
    private final class Run {
        private final boolean live;
        private final MapState<String, String> map;
        private final JobSubtask subtask;
        private final JobSubtask otherSubtask;
        private final List<String> keys = new ArrayList<>();
        private final Set<Object> expired = new HashSet<>();
        private final List<String> victims = new ArrayList<>();
        private boolean cleared;

        Run(Job job) throws Exception {
            live = job.kind().isLava();
            subtask = job.of(cell.key);
            otherSubtask = job.of(another.key);
            for (Held held : subtask.held(cell)) {
                if (held.isExpired(cell.state, job.now())) {
                    expired.add(held.userKey);
                } else {
                    keys.add((String) held.userKey);
                }
            }
            keys.stream().filter(this::isVictim).forEach(victims::add);
            map = StateSteps.map(subtask.at(cell));
        }

        private boolean isVictim(String userKey) {
            return !cell.state.updatesOnRead() && mix(userKey) % 4 == 0;
        }

        List<String> visited() throws Exception {
            List<String> visited = new ArrayList<>();
            Iterator<?> iterator = live ? iterator() : copied();
            while (iterator != null && iterator.hasNext()) {
                Object met = iterator.next();
                if (cell.state.showsExpired() && expired.contains(userKey(met))) {
                    // The entry may be shown or not.
                    continue;
                }
                visited.add(shown(met));
                if (visited.size() > keys.size() + 1) {
                    return List.of("More entries are met than there were.");
                }
                change(met, iterator);
            }
            visited.sort(null);
            return visited;
        }

        private Iterator<?> iterator() throws Exception {
            switch (way) {
                case ENTRIES:
                    return StateSteps.orEmpty(map.entries()).iterator();
                case KEYS:
                    return StateSteps.orEmpty(map.keys()).iterator();
                case VALUES:
                    return StateSteps.orEmpty(map.values()).iterator();
                default:
                    return map.iterator();
            }
        }

        private Iterator<?> copied() throws Exception {
            List<Object> copy = new ArrayList<>();
            Iterator<?> iterator = iterator();
            while (iterator != null && iterator.hasNext()) {
                Object met = iterator.next();
                copy.add(
                        met instanceof Map.Entry
                                ? Map.entry(
                                        ((Map.Entry<?, ?>) met).getKey(),
                                        String.valueOf(((Map.Entry<?, ?>) met).getValue()))
                                : met);
            }
            return copy.iterator();
        }

        private String userKey(Object met) {
            return (String) (met instanceof Map.Entry ? ((Map.Entry<?, ?>) met).getKey() : met);
        }

        private String shown(Object met) {
            return met instanceof Map.Entry
                    ? Texts.shown(((Map.Entry<?, ?>) met).getKey())
                            + "="
                            + Texts.shown(((Map.Entry<?, ?>) met).getValue())
                    : Texts.shown(met);
        }

        private void change(Object met, Iterator<?> iterator) throws Exception {
            if (clearsFirst) {
                if (!cleared) {
                    cleared = true;
                    map.clear();
                }
                return;
            }
            // Values do not contain their keys; null is not unique.
            if (way == Way.VALUES) {
                return;
            }
            String userKey = userKey(met);
            if (isVictim(userKey)) {
                return;
            }
            change(changes.get(mix(userKey) % changes.size()), userKey, met, iterator);
        }

        private void change(Change change, String userKey, Object met, Iterator<?> iterator)
                throws Exception {
            String text = Texts.of(number + mix(userKey) % 1000, 20);
            switch (change) {
                case REMOVE_BY_ITERATOR:
                    if (live) {
                        iterator.remove();
                    } else {
                        map.remove(userKey);
                    }
                    break;
                case SET_VALUE:
                    setValue(userKey, met, text);
                    break;
                case REMOVE_ITSELF:
                    map.remove(userKey);
                    break;
                case PUT_ITSELF:
                    map.put(userKey, text);
                    break;
                case PUT_OTHERS:
                    Map<String, String> others = new TreeMap<>();
                    for (int i = 0; i < OTHERS; i++) {
                        others.put(i + "|" + userKey + number, text);
                    }
                    map.putAll(others);
                    break;
                case CHANGE_A_THIRD:
                    if (!victims.isEmpty()) {
                        changeVictim(victims.get(mix(userKey) % victims.size()));
                    }
                    break;
                case WRITE_ANOTHER_CELL:
                    StateSteps.map(otherSubtask.at(another)).put(userKey, text);
                    subtask.at(cell);
                    break;
                default:
                    break;
            }
        }

        /** An entry's setValue does not reach the state below Flink's TTL wrapper. */
        @SuppressWarnings("unchecked")
        private void setValue(String userKey, Object met, String text) throws Exception {
            if (!(met instanceof Map.Entry) || cell.state.ttl != null) {
                return;
            }
            if (live) {
                ((Map.Entry<String, String>) met).setValue(text);
            } else {
                map.put(userKey, text);
            }
        }

        private void changeVictim(String victim) throws Exception {
            if (mix(victim) % 8 == 0) {
                map.remove(victim);
            } else {
                map.put(victim, Texts.of(number, 30));
            }
        }
    }

    private int mix(String userKey) {
        return Math.floorMod(Objects.hash(userKey, number) * 31, 1 << 20) >>> 3;
    }

    @Override
    public String toString() {
        return "iterate over "
                + cell
                + " by "
                + way
                + (clearsFirst ? ", clear it where the first is met" : ", meanwhile " + changes)
                + ", another cell "
                + another
                + ", number "
                + number;
    }
}
