// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.apache.flink.test.state;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.apache.flink.test.state.BackendSwitchSpecs.BackendSwitchSpec;
import org.apache.flink.testutils.junit.extensions.parameterized.ParameterizedTestExtension;
import org.apache.flink.testutils.junit.extensions.parameterized.Parameters;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.extension.ExtendWith;
import org.lavakv.flink.LavaOptions.TimerService;

/** Flink's own test of switching backends, for every ordered pair that includes Lava. */
@ExtendWith(ParameterizedTestExtension.class)
class LavaSavepointStateBackendSwitchTest extends SavepointStateBackendSwitchTestBase {

    private static final List<LavaSpec> SPECS = new ArrayList<>();

    LavaSavepointStateBackendSwitchTest(BackendSwitchSpec from, BackendSwitchSpec to) {
        super(from, to);
    }

    /** Flink's test closes no spec. */
    @AfterAll
    static void closeSpecs() throws Exception {
        for (LavaSpec spec : SPECS) {
            spec.close();
        }
        SPECS.clear();
    }

    @Parameters(name = "from: {0} to: {1}")
    static Collection<BackendSwitchSpec[]> pairs() {
        List<BackendSwitchSpec[]> pairs = new ArrayList<>();
        for (int from = 0; from < specs().size(); from++) {
            for (int to = 0; to < specs().size(); to++) {
                // Specs hold resources: each pair has its own.
                BackendSwitchSpec source = specs().get(from);
                BackendSwitchSpec target = specs().get(to);
                remember(source);
                remember(target);
                if (source instanceof LavaSpec || target instanceof LavaSpec) {
                    pairs.add(new BackendSwitchSpec[] {source, target});
                }
            }
        }
        return pairs;
    }

    private static void remember(BackendSwitchSpec spec) {
        if (spec instanceof LavaSpec) {
            SPECS.add((LavaSpec) spec);
        }
    }

    private static List<BackendSwitchSpec> specs() {
        return List.of(
                BackendSwitchSpecs.HEAP,
                BackendSwitchSpecs.ROCKS,
                BackendSwitchSpecs.ROCKS_HEAP_TIMERS,
                new LavaSpec(TimerService.LAVA),
                new LavaSpec(TimerService.HEAP));
    }
}
