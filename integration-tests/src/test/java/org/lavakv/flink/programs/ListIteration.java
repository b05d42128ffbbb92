// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.programs;

import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.state.ListState;

/**
 * Iterates over a list while the consumer changes it. On Lava the iteration shows the list as of
 * its begin. Hashmap returns the list itself, so there it is copied first.
 */
final class ListIteration extends Step {

    private final Cell cell;
    private final StateSteps.Operation change;
    private final int number;

    /**
     * @param cell of a list without TTL: expiry is determined during the iteration
     * @param change the action at the first element
     */
    ListIteration(Cell cell, StateSteps.Operation change, int number) {
        this.cell = cell;
        this.change = change;
        this.number = number;
    }

    @Override
    List<Cell> cells() {
        return List.of(cell);
    }

    @Override
    Object run(Job job) throws Exception {
        JobSubtask subtask = job.of(cell.key);
        ListState<String> list = StateSteps.list(subtask.at(cell));
        Iterable<String> elements = StateSteps.orEmpty(list.get());
        if (!job.kind().isLava()) {
            List<String> copy = new ArrayList<>();
            elements.forEach(copy::add);
            elements = copy;
        }
        List<String> met = new ArrayList<>();
        for (String element : elements) {
            if (met.isEmpty()) {
                new StateSteps.Change(cell, change, number, 5, 20).run(job);
            }
            met.add(Texts.shown(element));
        }
        return met;
    }

    @Override
    public String toString() {
        return "go over the list " + cell + ", meanwhile " + change + ", number " + number;
    }
}
