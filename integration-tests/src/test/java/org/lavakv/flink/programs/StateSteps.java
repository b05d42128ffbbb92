// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.programs;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import javax.annotation.Nullable;
import org.apache.flink.api.common.state.AppendingState;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.runtime.state.internal.InternalKvState;
import org.apache.flink.runtime.state.internal.InternalMergingState;

/** Steps that write, read and merge state. */
final class StateSteps {

    private StateSteps() {}

    /**
     * An operation on a cell. For kinds of state without it, the most similar operation is used.
     */
    enum Operation {
        /** Updates a value; adds an element or a number; puts an entry. */
        ADD,
        /** The same several times, in one call if possible. */
        ADD_ALL,
        /** Updates a list; puts null into a map. */
        REPLACE,
        /** Removes an entry; updates a list to be empty. */
        REMOVE,
        CLEAR
    }

    @SuppressWarnings("unchecked")
    static MapState<String, String> map(Object state) {
        return (MapState<String, String>) state;
    }

    @SuppressWarnings("unchecked")
    static ListState<String> list(Object state) {
        return (ListState<String>) state;
    }

    @SuppressWarnings("unchecked")
    static ValueState<String> value(Object state) {
        return (ValueState<String>) state;
    }

    @SuppressWarnings("unchecked")
    private static AppendingState<Object, Object> appending(Object state) {
        return (AppendingState<Object, Object>) state;
    }

    /** Adds to a reducing or aggregating state. */
    static void add(Object state, StateSpec of, int number, int size) throws Exception {
        appending(state)
                .add(
                        of.kind == StateSpec.Kind.REDUCING
                                ? (Object) Long.valueOf(number)
                                : Texts.of(number, size));
    }

    /** Null counts as empty, because Flink's backends differ in this. */
    static <T> Iterable<T> orEmpty(@Nullable Iterable<T> some) {
        return some == null ? List.of() : some;
    }

    static List<String> shown(List<String> texts) {
        List<String> shown = new ArrayList<>();
        texts.forEach(text -> shown.add(Texts.shown(text)));
        return shown;
    }

    /** Writes to one cell. */
    static final class Change extends Step {
        private final Cell cell;
        private final Operation operation;
        private final int number;
        private final int count;
        private final int size;

        /**
         * @param number the written values are derived from it
         * @param count number of elements or entries
         * @param size approximate number of characters in each
         */
        Change(Cell cell, Operation operation, int number, int count, int size) {
            this.cell = cell;
            this.operation = operation;
            this.number = number;
            this.count = operation == Operation.ADD_ALL ? count : 1;
            this.size = size;
        }

        @Override
        List<Cell> cells() {
            return List.of(cell);
        }

        @Override
        Object run(Job job) throws Exception {
            JobSubtask subtask = job.of(cell.key);
            InternalKvState<Object, Object, Object> state = subtask.at(cell);
            if (operation == Operation.CLEAR) {
                state.clear();
                return "done";
            }
            switch (cell.state.kind) {
                case VALUE:
                    value(state).update(Texts.of(number, size));
                    break;
                case LIST:
                    changeList(list(state));
                    break;
                case MAP:
                    changeMap(map(state));
                    break;
                default:
                    clearIfExpired(subtask, cell);
                    for (int i = 0; i < count; i++) {
                        add(subtask.at(cell), cell.state, number + i, size);
                    }
                    break;
            }
            return "done";
        }

        private void changeList(ListState<String> list) throws Exception {
            switch (operation) {
                case ADD:
                    list.add(Texts.of(number, size));
                    break;
                case ADD_ALL:
                    list.addAll(texts());
                    break;
                default:
                    list.update(operation == Operation.REMOVE ? List.of() : texts());
                    break;
            }
        }

        private List<String> texts() {
            List<String> texts = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                texts.add(Texts.of(number + i, size));
            }
            return texts;
        }

        private void changeMap(MapState<String, String> map) throws Exception {
            switch (operation) {
                case ADD:
                    map.put(userKey(number), Texts.of(number, size));
                    break;
                case ADD_ALL:
                    Map<String, String> all = new LinkedHashMap<>();
                    for (int i = 0; i < count; i++) {
                        all.put(userKey(number + i), Texts.of(number + i, size));
                    }
                    map.putAll(all);
                    break;
                case REPLACE:
                    map.put(userKey(number), null);
                    break;
                default:
                    map.remove(userKey(number));
                    break;
            }
        }

        @Override
        public String toString() {
            return operation
                    + " on "
                    + cell
                    + ", number "
                    + number
                    + (count == 1 ? "" : ", " + count + " of them")
                    + ", size "
                    + size;
        }
    }

    /** Keys of a map's entries: few, so that they are used again, and the first ones unusual. */
    static String userKey(int number) {
        switch (Math.floorMod(number, 400)) {
            case 0:
                return "";
            case 1:
                return "\0";
            case 2:
                return "u\0";
            case 3:
                return "u".repeat(200);
            default:
                return "u" + Math.floorMod(number, 400);
        }
    }

    /**
     * With ReturnExpiredIfNotCleanedUp, Flink adds to an expired sum, unless the backend has
     * dropped the sum, which it may do. Both answers are right, so an expired sum is removed
     * before.
     */
    private static void clearIfExpired(JobSubtask subtask, Cell cell) throws Exception {
        if (cell.state.showsExpired() && subtask.live(cell).isEmpty()) {
            subtask.at(cell).clear();
        }
    }

    /** Adds content under many keys. */
    static final class Bulk extends Step {
        private final StateSpec state;
        private final Object namespace;
        private final int firstKey;
        private final int keys;
        private final int number;
        private final int size;

        /**
         * @param firstKey the number of the first key
         * @param number the written values are derived from it
         * @param size approximate number of characters written under each key
         */
        Bulk(StateSpec state, Object namespace, int firstKey, int keys, int number, int size) {
            this.state = state;
            this.namespace = namespace;
            this.firstKey = firstKey;
            this.keys = keys;
            this.number = number;
            this.size = size;
        }

        @Override
        Object run(Job job) throws Exception {
            for (int i = 0; i < keys; i++) {
                Cell cell = new Cell(state, job.setup().keys.key(firstKey + i), namespace);
                new Change(cell, Operation.ADD, number + i, 1, size).run(job);
            }
            return "done";
        }

        @Override
        public String toString() {
            return "add to "
                    + state
                    + " in namespace "
                    + Texts.shown(namespace)
                    + " under keys number "
                    + firstKey
                    + " to "
                    + (firstKey + keys - 1)
                    + ", number "
                    + number
                    + ", size "
                    + size;
        }
    }

    /** How a cell is read. All kinds of state except maps have one way. */
    enum Way {
        GET,
        CONTAINS,
        ENTRIES,
        KEYS,
        VALUES,
        ITERATOR,
        IS_EMPTY
    }

    /**
     * Reads one cell. With ReturnExpiredIfNotCleanedUp expired values may be shown or not, so they
     * are omitted from the answer.
     */
    static final class Read extends Step {
        private final Cell cell;
        private final Way way;
        private final int number;

        Read(Cell cell, Way way, int number) {
            this.cell = cell;
            this.way = way;
            this.number = number;
        }

        @Override
        List<Cell> cells() {
            return List.of(cell);
        }

        @Override
        Object run(Job job) throws Exception {
            JobSubtask subtask = job.of(cell.key);
            Set<Object> expired = new HashSet<>();
            List<Held> all = subtask.held(cell);
            for (Held held : all) {
                if (held.isExpired(cell.state, job.now())) {
                    expired.add(cell.state.kind == StateSpec.Kind.MAP ? held.userKey : held.value);
                }
            }
            InternalKvState<Object, Object, Object> state = subtask.at(cell);
            switch (cell.state.kind) {
                case VALUE:
                    return unless(expired, value(state).value());
                case LIST:
                    List<String> elements = new ArrayList<>();
                    orEmpty(list(state).get()).forEach(elements::add);
                    elements.removeIf(element -> !mustShow(expired, element));
                    return shown(elements);
                case MAP:
                    return readMap(map(state), expired, all.size());
                default:
                    Object sum = appending(state).get();
                    return cell.state.showsExpired() && expired.size() == all.size()
                            ? "nothing, or what has expired"
                            : Texts.shown(sum);
            }
        }

        private boolean mustShow(Set<Object> expired, @Nullable Object what) {
            return !cell.state.showsExpired() || !expired.contains(what);
        }

        private String unless(Set<Object> expired, @Nullable Object what) {
            return Texts.shown(mustShow(expired, what) ? what : null);
        }

        private Object readMap(MapState<String, String> map, Set<Object> expired, int held)
                throws Exception {
            String one = userKey(number);
            switch (way) {
                case GET:
                    String value = map.get(one);
                    return Texts.shown(mustShow(expired, one) ? value : null);
                case CONTAINS:
                    boolean contains = map.contains(one);
                    return mustShow(expired, one) && contains;
                case IS_EMPTY:
                    boolean empty = map.isEmpty();
                    // It is not specified whether expired entries count.
                    return expired.isEmpty() ? empty : expired.size() == held || empty;
                case KEYS:
                    List<String> keys = new ArrayList<>();
                    orEmpty(map.keys()).forEach(keys::add);
                    keys.removeIf(key -> !mustShow(expired, key));
                    keys.sort(null);
                    return shown(keys);
                case VALUES:
                    List<String> values = new ArrayList<>();
                    orEmpty(map.values()).forEach(each -> values.add(String.valueOf(each)));
                    values.sort(null);
                    return cell.state.showsExpired() ? "maybe expired ones, too" : shown(values);
                default:
                    return shownEntries(map, expired);
            }
        }

        private String shownEntries(MapState<String, String> map, Set<Object> expired)
                throws Exception {
            TreeMap<String, String> entries = new TreeMap<>();
            Iterator<Map.Entry<String, String>> all =
                    way == Way.ITERATOR ? map.iterator() : orEmpty(map.entries()).iterator();
            while (all != null && all.hasNext()) {
                Map.Entry<String, String> entry = all.next();
                if (mustShow(expired, entry.getKey())) {
                    String before =
                            entries.put(Texts.shown(entry.getKey()), Texts.shown(entry.getValue()));
                    if (before != null) {
                        return "met twice: " + Texts.shown(entry.getKey());
                    }
                }
            }
            return entries.toString();
        }

        @Override
        public String toString() {
            return "read "
                    + cell
                    + (cell.state.kind != StateSpec.Kind.MAP
                            ? ""
                            : " by " + way + " " + Texts.shown(userKey(number)));
        }
    }

    /** Merges namespaces of one key into another, as session windows do. */
    static final class Merge extends Step {
        private final Cell target;
        private final List<Object> sources;

        Merge(Cell target, List<Object> sources) {
            this.target = target;
            this.sources = sources;
        }

        @Override
        List<Cell> cells() {
            List<Cell> cells = new ArrayList<>();
            cells.add(target);
            sources.forEach(source -> cells.add(new Cell(target.state, target.key, source)));
            return cells;
        }

        @Override
        Object run(Job job) throws Exception {
            JobSubtask subtask = job.of(target.key);
            if (target.state.kind != StateSpec.Kind.LIST) {
                for (Cell cell : cells()) {
                    clearIfExpired(subtask, cell);
                }
            }
            merging(subtask.at(target)).mergeNamespaces(target.namespace, sources);
            return "done";
        }

        @SuppressWarnings("unchecked")
        private static InternalMergingState<Object, Object, ?, ?, ?> merging(Object state) {
            return (InternalMergingState<Object, Object, ?, ?, ?>) state;
        }

        @Override
        public String toString() {
            return "merge "
                    + sources.stream().map(Texts::shown).collect(Collectors.toList())
                    + " into "
                    + target;
        }
    }
}
