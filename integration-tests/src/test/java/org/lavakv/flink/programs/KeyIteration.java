// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.programs;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.State;
import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.runtime.state.KeyedStateFunction;

/**
 * Iterates over the keys of a state while the consumer changes states.
 *
 * <p>On Lava a stream shows the keys as of its creation. Flink's own backends guarantee nothing, so
 * there the keys are copied first. Keys with only expired content are omitted from the answer:
 * hashmap, for example, shows the key of a map that an iterator emptied.
 */
final class KeyIteration extends Step {

    /** The call that iterates over keys. */
    enum Way {
        GET_KEYS,
        GET_KEYS_AND_NAMESPACES,
        APPLY_TO_ALL_KEYS
    }

    /** The action for each visited key. */
    enum Change {
        NOTHING,
        CLEAR,
        WRITE,
        WRITE_OTHER_KEYS,
        WRITE_ANOTHER_NAMESPACE
    }

    private static final int OTHER_KEYS = 3;

    private final StateSpec state;
    private final Object namespace;
    private final Object anotherNamespace;
    private final Way way;
    private final Change change;
    private final int number;

    /**
     * @param namespace the iteration covers the keys under it; with namespaces, the keys under all
     * @param number of the first newly written key; the written values are derived from it
     */
    KeyIteration(
            StateSpec state,
            Object namespace,
            Object anotherNamespace,
            Way way,
            Change change,
            int number) {
        this.state = state;
        this.namespace = namespace;
        this.anotherNamespace = anotherNamespace;
        this.way = way;
        this.change = change;
        this.number = number;
    }

    @Override
    boolean comparesAll() {
        return change != Change.NOTHING;
    }

    @Override
    Object run(Job job) throws Exception {
        List<String> visited = new ArrayList<>();
        for (JobSubtask subtask : job.subtasks()) {
            visited.addAll(new Run(job, subtask).visited());
        }
        visited.sort(null);
        return visited;
    }

    /** The iteration on one subtask. */
    private final class Run {
        private final Job job;
        private final JobSubtask subtask;
        private final Set<String> before = new HashSet<>();
        private final Set<String> live = new HashSet<>();
        private final List<String> visited = new ArrayList<>();
        private int met;

        Run(Job job, JobSubtask subtask) throws Exception {
            this.job = job;
            this.subtask = subtask;
            for (Cell cell : subtask.cells(state)) {
                before.add(cell.toString());
                if (!subtask.live(cell).isEmpty()) {
                    live.add(cell.toString());
                }
            }
        }

        List<String> visited() throws Exception {
            subtask.state(state);
            switch (way) {
                case GET_KEYS:
                    try (Stream<Object> keys = subtask.backend.getKeys(state.name, namespace)) {
                        copied(keys).forEach(key -> meet(key, namespace));
                    }
                    break;
                case GET_KEYS_AND_NAMESPACES:
                    try (Stream<Tuple2<Object, Object>> keys =
                            subtask.backend.getKeysAndNamespaces(state.name)) {
                        copied(keys).forEach(each -> meet(each.f0, each.f1));
                    }
                    break;
                default:
                    apply(subtask.descriptor(state));
                    break;
            }
            return visited;
        }

        @SuppressWarnings("unchecked")
        private <S extends State> void apply(StateDescriptor<S, ?> descriptor) throws Exception {
            KeyedStateFunction<Object, S> function = (key, ignored) -> meet(key, namespace);
            subtask.backend.applyToAllKeys(
                    namespace,
                    state.namespaces.serializer(),
                    (StateDescriptor<S, Object>) descriptor,
                    function);
        }

        private <T> Stream<T> copied(Stream<T> stream) {
            if (job.kind().isLava()) {
                return stream;
            }
            List<T> copy = new ArrayList<>();
            stream.forEach(copy::add);
            return copy.stream();
        }

        private void meet(Object key, Object under) {
            Cell cell = new Cell(state, key, under);
            met++;
            if (met > 100_000) {
                throw new IllegalStateException("Going over the keys does not end.");
            }
            if (!before.contains(cell.toString())) {
                visited.add(cell + ", which was written meanwhile");
                return;
            }
            if (!live.contains(cell.toString())) {
                return;
            }
            visited.add(cell.toString());
            try {
                change(key, under);
            } catch (Exception e) {
                throw new IllegalStateException("Changing " + cell + " failed.", e);
            }
        }

        private void change(Object key, Object under) throws Exception {
            int own = number + Math.floorMod(key.hashCode(), 1000);
            switch (change) {
                case CLEAR:
                    subtask.at(new Cell(state, key, under)).clear();
                    break;
                case WRITE:
                    write(key, under, own);
                    break;
                case WRITE_OTHER_KEYS:
                    for (int i = 0; i < OTHER_KEYS; i++) {
                        Object other = job.setup().keys.key(own + i);
                        if (job.of(other) == subtask) {
                            write(other, under, 7);
                        }
                    }
                    break;
                case WRITE_ANOTHER_NAMESPACE:
                    write(key, anotherNamespace, number);
                    break;
                default:
                    break;
            }
        }

        /** Writes a value that does not depend on the previous one. */
        private void write(Object key, Object under, int text) throws Exception {
            Object at = subtask.at(new Cell(state, key, under));
            switch (state.kind) {
                case VALUE:
                    StateSteps.value(at).update(Texts.of(text, 30));
                    break;
                case LIST:
                    ListState<String> list = StateSteps.list(at);
                    list.update(List.of(Texts.of(text, 10), Texts.of(text + 1, 10)));
                    break;
                case MAP:
                    StateSteps.map(at).put("met" + text, Texts.of(text, 30));
                    break;
                default:
                    subtask.at(new Cell(state, key, under)).clear();
                    StateSteps.add(at, state, text, 20);
                    break;
            }
        }
    }

    @Override
    public String toString() {
        return "go over the keys of "
                + state
                + " by "
                + way
                + " under "
                + Texts.shown(namespace)
                + ", meanwhile "
                + change
                + ", number "
                + number;
    }
}
