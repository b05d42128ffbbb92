// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.programs;

import static org.lavakv.flink.programs.Setup.any;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** Generates programs from seeds. Threads: one. */
final class ProgramGenerator {

    private static final int STEPS_MIN = 15;
    private static final int STEPS_MORE = 30;

    /** Enough for several pages of any iterator. */
    private static final int MANY = 300;

    private static final long TIMER_MOVE_MS = 1_000_000;

    private final Random random;
    private final Setup setup;
    private final List<Step> steps = new ArrayList<>();
    private final List<Integer> unfinished = new ArrayList<>();
    private final List<Integer> finished = new ArrayList<>();

    /** Makes the written values differ from step to step. */
    private int number = 10_000;

    private int snapshots;
    private long timerMove = TIMER_MOVE_MS;

    private ProgramGenerator(long seed) {
        random = new Random(seed * 0x9E3779B97F4A7C15L);
        setup = new Setup(random);
    }

    /** The program for a seed; deterministic. */
    static Program of(long seed) {
        ProgramGenerator generator = new ProgramGenerator(seed);
        generator.generate();
        return new Program(generator.setup, generator.steps);
    }

    private void generate() {
        int count = STEPS_MIN + (setup.large ? 0 : random.nextInt(STEPS_MORE));
        while (steps.size() < count) {
            number += 10_000;
            addStep(random.nextInt(100));
            if (setup.large && steps.size() % 5 == 0) {
                addLarge();
            }
        }
        steps.add(new JobSteps.CompareAll());
    }

    private void addStep(int which) {
        if (which < 30) {
            steps.add(change());
        } else if (which < 34) {
            addBulk();
        } else if (which < 48) {
            steps.add(
                    new StateSteps.Read(
                            cell(state()), any(random, StateSteps.Way.values()), userKey()));
        } else if (which < 53) {
            addMerge();
        } else if (which < 61) {
            addMapIteration();
        } else if (which < 65) {
            addKeyIteration();
        } else if (which < 67) {
            addListIteration();
        } else if (which < 81) {
            addTimers();
        } else if (which < 86) {
            addClock();
        } else if (which < 89) {
            steps.add(new JobSteps.Compact());
        } else if (which < 95) {
            takeSnapshot();
        } else {
            addRestart();
        }
        finishSnapshots();
    }

    // ---------------------------------------------------------------------- state

    private StateSpec state() {
        return setup.states.get(random.nextInt(setup.states.size()));
    }

    private List<StateSpec> states(Predicate<StateSpec> which) {
        return setup.states.stream().filter(which).collect(Collectors.toList());
    }

    private Object key() {
        return setup.keys.key(random.nextInt(Setup.FEW_KEYS));
    }

    private Object namespace(Namespaces of) {
        return of.get(random.nextInt(of.count()));
    }

    private Cell cell(StateSpec state) {
        return new Cell(state, key(), namespace(state.namespaces));
    }

    private int userKey() {
        return random.nextInt(20);
    }

    /** Mostly small; some go to separate value files, some fill a memtable. */
    private int size() {
        switch (random.nextInt(12)) {
            case 0:
                return 3_000 + random.nextInt(3_000);
            case 1:
            case 2:
                return 100 + random.nextInt(600);
            default:
                return random.nextInt(30);
        }
    }

    private Step change() {
        StateSpec state = state();
        StateSteps.Operation operation = any(random, StateSteps.Operation.values());
        if (random.nextInt(3) == 0) {
            operation = StateSteps.Operation.ADD;
        }
        // Entries of maps are written again.
        int from = state.kind == StateSpec.Kind.MAP ? number / 400 * 400 + userKey() : number;
        int count = random.nextInt(6) == 0 ? MANY : 1 + random.nextInt(10);
        int size = count == MANY ? random.nextInt(100) : size();
        return new StateSteps.Change(cell(state), operation, from, count, size);
    }

    private void addBulk() {
        addBulk(state(), random.nextInt(3) == 0 ? MANY : 40, random.nextInt(300));
    }

    private void addBulk(StateSpec state, int keys, int size) {
        addBulk(state, namespace(state.namespaces), keys, size);
    }

    private void addBulk(StateSpec state, Object namespace, int keys, int size) {
        steps.add(
                new StateSteps.Bulk(state, namespace, random.nextInt(4) * 100, keys, number, size));
    }

    /** A value or a list that exceeds Lava's memory, and may then be moved elsewhere. */
    private void addLarge() {
        StateSpec state = state();
        Cell cell = cell(state);
        boolean list = state.kind == StateSpec.Kind.LIST;
        for (int i = list ? 2 + random.nextInt(4) : 1; i > 0; i--) {
            steps.add(
                    new StateSteps.Change(
                            cell,
                            StateSteps.Operation.ADD,
                            number + i,
                            1,
                            list ? 1 << 21 : any(random, 5 << 20, 9 << 20)));
        }
        if (random.nextBoolean()) {
            addMerge();
        }
        if (random.nextBoolean()) {
            addRestart();
        }
        steps.add(new StateSteps.Read(cell, any(random, StateSteps.Way.values()), number + 1));
    }

    private void addMerge() {
        List<StateSpec> merging = states(StateSpec::canMerge);
        if (merging.isEmpty()) {
            return;
        }
        Cell target = cell(merging.get(random.nextInt(merging.size())));
        List<Object> sources = new ArrayList<>();
        for (int i = 0; i < target.state.namespaces.count(); i++) {
            Object source = target.state.namespaces.get(i);
            if (!source.equals(target.namespace) && random.nextInt(3) > 0) {
                sources.add(source);
            }
        }
        Collections.shuffle(sources, random);
        steps.add(new StateSteps.Merge(target, sources));
    }

    // ---------------------------------------------------------------------- iterators

    private void addMapIteration() {
        List<StateSpec> maps = states(state -> state.kind == StateSpec.Kind.MAP);
        if (maps.isEmpty()) {
            return;
        }
        Cell cell = cell(maps.get(random.nextInt(maps.size())));
        Cell another = new Cell(cell.state, setup.keys.key(Setup.FEW_KEYS), cell.namespace);
        if (random.nextBoolean()) {
            steps.add(
                    new StateSteps.Change(
                            cell,
                            StateSteps.Operation.ADD_ALL,
                            number / 400 * 400,
                            random.nextInt(MANY),
                            // Many large values make an open view take a snapshot.
                            random.nextInt(10) == 0 ? 6_000 : random.nextInt(40)));
        }
        List<MapIteration.Change> changes = new ArrayList<>();
        for (int i = 1 + random.nextInt(4); i > 0; i--) {
            changes.add(any(random, MapIteration.Change.values()));
        }
        if (!Dimension.MAP_VIEWS.isOn()) {
            changes.removeIf(
                    change ->
                            change != MapIteration.Change.REMOVE_BY_ITERATOR
                                    && change != MapIteration.Change.SET_VALUE);
            changes.add(MapIteration.Change.NOTHING);
        }
        boolean clears = !cell.state.updatesOnRead() && random.nextInt(8) == 0;
        steps.add(
                new MapIteration(
                        cell,
                        another,
                        cell.state.showsExpired()
                                ? MapIteration.Way.ENTRIES
                                : any(random, MapIteration.Way.values()),
                        changes,
                        clears && Dimension.MAP_VIEWS.isOn(),
                        number));
    }

    private void addKeyIteration() {
        StateSpec state = state();
        Object namespace = namespace(state.namespaces);
        if (Dimension.KEY_VIEWS.isOn() && random.nextBoolean()) {
            // Beyond its first page a stream must be told of what is written ahead of it.
            addBulk(state, namespace, MANY, random.nextInt(40));
            number += MANY; // so that the iteration writes other values
        }
        steps.add(
                new KeyIteration(
                        state,
                        namespace,
                        namespace(state.namespaces),
                        any(random, KeyIteration.Way.values()),
                        Dimension.KEY_VIEWS.isOn()
                                ? any(random, KeyIteration.Change.values())
                                : any(
                                        random,
                                        KeyIteration.Change.NOTHING,
                                        KeyIteration.Change.CLEAR),
                        number));
    }

    private void addListIteration() {
        List<StateSpec> lists =
                states(state -> state.kind == StateSpec.Kind.LIST && state.ttl == null);
        if (!lists.isEmpty()) {
            steps.add(
                    new ListIteration(
                            cell(lists.get(random.nextInt(lists.size()))),
                            any(random, StateSteps.Operation.values()),
                            number));
        }
    }

    // ---------------------------------------------------------------------- timers

    private void addTimers() {
        QueueSpec queue = setup.queues.get(random.nextInt(setup.queues.size()));
        long time = random.nextInt(400) - 100;
        switch (random.nextInt(8)) {
            case 0:
                boolean all = random.nextInt(4) == 0;
                steps.add(
                        new TimerSteps.Fire(
                                queue,
                                all ? Long.MAX_VALUE : time,
                                all || random.nextBoolean() ? 0 : 1 + random.nextInt(200)));
                break;
            case 1:
            case 2:
                addTimerIteration(queue);
                break;
            default:
                boolean many = random.nextInt(5) == 0;
                steps.add(
                        new TimerSteps.Change(
                                queue,
                                random.nextInt(4) > 0,
                                random.nextInt(Setup.FEW_KEYS),
                                many ? 60 : 1 + random.nextInt(3),
                                namespace(queue.namespaces),
                                time,
                                many ? 8 : 1 + random.nextInt(3)));
                break;
        }
    }

    private void addTimerIteration(QueueSpec queue) {
        TimerSteps.Meanwhile meanwhile = any(random, TimerSteps.Meanwhile.values());
        timerMove *= 3;
        steps.add(
                new TimerSteps.Iterate(
                        queue,
                        Dimension.TIMER_VIEWS.isOn() ? meanwhile : TimerSteps.Meanwhile.NOTHING,
                        timerMove));
    }

    // ---------------------------------------------------------------------- jobs

    private void addClock() {
        List<StateSpec> expiring = states(state -> state.ttl != null);
        int which = random.nextInt(8);
        if (expiring.isEmpty() || which > 3) {
            steps.add(new JobSteps.StepClock(any(random, 1L, 500L, 1_000L, 30_000L, 1_800_000L)));
        } else if (which > 1) {
            addStepBack(expiring.get(random.nextInt(expiring.size())));
        } else {
            addStepAheadAndBack(expiring.get(random.nextInt(expiring.size())));
        }
    }

    /**
     * The clock steps back. Values written afterwards are flushed and compacted before the engine
     * is told the time again.
     */
    private void addStepBack(StateSpec state) {
        if (!Dimension.CLOCK_BACK.isOn()) {
            return;
        }
        steps.add(new JobSteps.StepClock(-any(random, 1L, 999L, 60_000L, 7_200_000L)));
        for (int i = random.nextInt(3); i >= 0; i--) {
            addBulk(state, 3 * MANY, 200);
        }
        steps.add(new JobSteps.CompareAll());
    }

    /** The clock is ahead for a while, and files are written meanwhile and afterwards. */
    private void addStepAheadAndBack(StateSpec state) {
        if (!Dimension.CLOCK_AHEAD_AND_BACK.isOn()) {
            return;
        }
        long millis = any(random, 60_000L, 7_200_000L);
        steps.add(new JobSteps.StepClock(millis));
        addBulk(state, MANY, random.nextInt(300));
        if (random.nextBoolean()) {
            steps.add(new JobSteps.Compact());
        }
        if (random.nextBoolean()) {
            takeSnapshot();
        }
        steps.add(new JobSteps.StepClock(-millis));
        for (int i = random.nextInt(3); i > 0; i--) {
            addBulk(state, 3 * MANY, 200);
        }
        steps.add(new JobSteps.CompareAll());
    }

    private void takeSnapshot() {
        int id = ++snapshots;
        steps.add(
                new JobSteps.Take(
                        id,
                        random.nextBoolean()
                                ? Snapshot.Kind.CHECKPOINT
                                : any(random, Snapshot.Kind.values())));
        unfinished.add(id);
    }

    private void finishSnapshots() {
        if (!unfinished.isEmpty() && random.nextInt(3) == 0) {
            int id = unfinished.remove(random.nextInt(unfinished.size()));
            JobSteps.End end =
                    random.nextInt(3) > 0
                            ? JobSteps.End.COMPLETE
                            : any(random, JobSteps.End.values());
            steps.add(new JobSteps.Finish(id, end));
            if (end != JobSteps.End.ABORT) {
                finished.add(id);
            }
        }
    }

    /** Usually from a new snapshot, sometimes from an older one. */
    private void addRestart() {
        int id;
        if (finished.isEmpty() || random.nextInt(4) > 0) {
            id = ++snapshots;
            steps.add(
                    new JobSteps.Take(
                            id,
                            random.nextBoolean()
                                    ? Snapshot.Kind.CANONICAL_SAVEPOINT
                                    : any(random, Snapshot.Kind.values())));
            steps.add(
                    new JobSteps.Finish(
                            id, any(random, JobSteps.End.COMPLETE, JobSteps.End.UNHEARD)));
            finished.add(id);
        } else {
            id = finished.get(random.nextInt(finished.size()));
        }
        steps.add(
                new JobSteps.Restart(
                        id,
                        Setup.ranges(random, setup.keyGroups),
                        Setup.kinds(random, setup.kinds.size())));
        unfinished.clear();
    }
}
