// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.programs;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import javax.annotation.Nullable;
import org.apache.flink.api.common.state.StateTtlConfig.StateVisibility;
import org.apache.flink.api.common.state.StateTtlConfig.UpdateType;
import org.apache.flink.runtime.state.KeyGroupRange;

/**
 * The setup of a program before its first step: keys, states, timers, backends and their options.
 */
final class Setup {

    /** The initial time of the clocks. */
    static final long BEGIN_MS = 1_700_000_000_000L;

    /** Lava's memory in each slot; the memory of the other backends is not limited. */
    private static final long MEMORY_BYTES = 8L << 20;

    /** Keys with numbers below this are used again and again. */
    static final int FEW_KEYS = 8;

    private static final List<String> NAMES =
            List.of(
                    "v",
                    "state with blanks",
                    "\u00fcn\u00ef-\u00e7\u2202\u00e9",
                    "a/b",
                    "..",
                    "x".repeat(200),
                    "tab\there",
                    "Default");

    /** Names that only some programs use. */
    private static final List<String> RARE_NAMES = List.of("", "n".repeat(5_000));

    final KeyKind keys;
    final int keyGroups;
    final long memoryBytes = MEMORY_BYTES;

    /** Whether some values and lists are larger than Lava's memory. */
    final boolean large;

    final boolean incremental;
    final boolean registersAtOnce;
    final List<StateSpec> states;
    final List<QueueSpec> queues;
    final List<BackendKind> kinds;
    final List<KeyGroupRange> ranges;
    final Map<String, String> lava;

    Setup(Random random) {
        keys = any(random, KeyKind.values());
        // A single key group has many keys and timers; above 128, numbers of key groups take two
        // bytes.
        keyGroups = any(random, 1, 2, 8, 200);
        large = random.nextInt(25) == 0 && Dimension.LARGE.isOn();
        incremental = random.nextInt(4) > 0;
        registersAtOnce = random.nextBoolean();
        states = states(random);
        queues = queues(random);
        // RocksDB takes most of a program's time.
        kinds = kinds(random, any(random, 2, 2, 3));
        ranges = ranges(random, keyGroups);
        lava = lava(random);
    }

    @SafeVarargs
    static <T> T any(Random random, T... of) {
        return of[random.nextInt(of.length)];
    }

    private static List<StateSpec> states(Random random) {
        List<StateSpec> states = new ArrayList<>();
        List<String> names = new ArrayList<>(NAMES);
        Collections.shuffle(names, random);
        if (Dimension.NAMES.isOn() && random.nextInt(8) == 0) {
            names.add(0, any(random, RARE_NAMES.toArray(String[]::new)));
        }
        int count = 3 + random.nextInt(3);
        for (int i = 0; i < count; i++) {
            StateSpec.Kind kind = any(random, StateSpec.Kind.values());
            states.add(
                    new StateSpec(
                            names.get(i), kind, any(random, Namespaces.values()), ttl(random)));
        }
        return states;
    }

    @Nullable
    private static StateSpec.Ttl ttl(Random random) {
        return random.nextBoolean()
                ? null
                : new StateSpec.Ttl(
                        any(random, 1_000L, 60_000L, 3_600_000L),
                        any(random, UpdateType.OnCreateAndWrite, UpdateType.OnReadAndWrite),
                        any(random, StateVisibility.values()),
                        random.nextBoolean());
    }

    private static List<QueueSpec> queues(Random random) {
        return List.of(
                new QueueSpec("_timer_state/event_timers", any(random, Namespaces.values())),
                new QueueSpec("_timer_state/processing_timers", any(random, Namespaces.values())));
    }

    /**
     * Hashmap, Lava and possibly RocksDB, in any order.
     *
     * @param jobs two or three
     */
    static List<BackendKind> kinds(Random random, int jobs) {
        List<BackendKind> kinds = new ArrayList<>();
        kinds.add(BackendKind.HASHMAP);
        if (jobs == 3) {
            kinds.add(BackendKind.ROCKSDB);
        }
        kinds.add(random.nextInt(4) > 0 ? BackendKind.LAVA : BackendKind.LAVA_HEAP_TIMERS);
        Collections.shuffle(kinds, random);
        return kinds;
    }

    /** All key groups, in up to three parts. */
    static List<KeyGroupRange> ranges(Random random, int keyGroups) {
        List<KeyGroupRange> ranges = new ArrayList<>();
        int parts = Math.min(keyGroups, any(random, 1, 1, 1, 2, 3));
        for (int i = 0; i < parts; i++) {
            ranges.add(KeyGroupRange.of(keyGroups * i / parts, keyGroups * (i + 1) / parts - 1));
        }
        return ranges;
    }

    private static Map<String, String> lava(Random random) {
        Map<String, String> options = new TreeMap<>();
        options.put("state.backend.lava.host.report-interval", "0 s");
        options.put("state.backend.lava.memtable.size", "64kb");
        options.put("state.backend.lava.file.target-size", "64kb");
        options.put("state.backend.lava.level.base-size", "256kb");
        options.put(
                "state.backend.lava.value-separation.threshold",
                any(random, "0", "1", "60", "4kb"));
        options.put("state.backend.lava.timer-service.cache-size", any(random, "1", "3", "128"));
        options.put("state.backend.lava.restore.on-demand", String.valueOf(random.nextInt(4) == 0));
        return options;
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        text.append("keys ").append(keys).append(", key groups ").append(keyGroups);
        text.append(" in ").append(ranges).append(", on ").append(kinds);
        text.append(incremental ? ", incremental" : ", full checkpoints");
        text.append(registersAtOnce ? ", all registered at once" : "");
        text.append(", Lava's options ").append(lava);
        states.forEach(state -> text.append("\n  state ").append(state));
        queues.forEach(queue -> text.append("\n  ").append(queue));
        return text.toString();
    }
}
