// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.programs;

import java.util.List;

/** A program: its initial setup, and its steps. Immutable. */
final class Program {

    final Setup setup;
    final List<Step> steps;

    Program(Setup setup, List<Step> steps) {
        this.setup = setup;
        this.steps = List.copyOf(steps);
    }

    Program with(List<Step> others) {
        return new Program(setup, others);
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder(setup.toString()).append('\n');
        for (int i = 0; i < steps.size(); i++) {
            text.append(i + 1).append(". ").append(steps.get(i)).append('\n');
        }
        return text.toString();
    }
}
