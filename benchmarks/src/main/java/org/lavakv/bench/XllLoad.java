// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.bench;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import picocli.CommandLine.Option;

/** The load of one run of {@link XllProcess}, which the suite passes as options. */
final class XllLoad {
    /** Lava's option that separates small values where this is beneficial. */
    static final String AUTOMATIC = "state.backend.lava.value-separation.automatic";

    @Option(names = "--keys", required = true)
    int keys;

    @Option(names = "--value-bytes", required = true)
    int valueBytes;

    /** Changes per second of all subtasks; 0 for as many as possible. */
    @Option(names = "--rate", required = true)
    int rate;

    /** Changes after the filling and before the measurement. */
    @Option(names = "--warmup-changes", required = true)
    int warmupChanges;

    /** Measured changes. */
    @Option(names = "--changes", required = true)
    int changes;

    @Option(names = "--parallelism", required = true)
    int parallelism;

    @Option(names = "--memory-mib", required = true)
    int memoryMiB;

    @Option(names = "--checkpoint-millis", required = true)
    int checkpointMillis;

    @Option(names = "--materialize-millis", required = true)
    int materializeMillis;

    @Option(names = "--set", paramLabel = "KEY=VALUE")
    Map<String, String> settings = new LinkedHashMap<>();

    boolean isPossible() {
        return parallelism >= 1
                && keys >= parallelism
                && valueBytes >= Long.BYTES
                && rate >= 0
                && warmupChanges >= 0
                && changes >= parallelism
                && memoryMiB >= parallelism
                && checkpointMillis >= 10
                && materializeMillis >= 1;
    }

    /** The same load as options. */
    List<String> arguments() {
        Stream<String> load =
                Stream.of(
                        "--keys=" + keys,
                        "--value-bytes=" + valueBytes,
                        "--rate=" + rate,
                        "--warmup-changes=" + warmupChanges,
                        "--changes=" + changes,
                        "--parallelism=" + parallelism,
                        "--memory-mib=" + memoryMiB,
                        "--checkpoint-millis=" + checkpointMillis,
                        "--materialize-millis=" + materializeMillis);
        Stream<String> set =
                settings.entrySet().stream()
                        .map(entry -> "--set=" + entry.getKey() + "=" + entry.getValue());
        return Stream.concat(load, set).collect(Collectors.toList());
    }

    @Override
    public String toString() {
        long bytes = (long) keys * valueBytes;
        String speed = rate == 0 ? "flat out" : rate + "/s";
        String inline = "false".equals(settings.get(AUTOMATIC)) ? ", inline" : "";
        return String.format("%dMiB of %dB, %s%s", bytes >> 20, valueBytes, speed, inline);
    }
}
