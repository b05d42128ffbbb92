// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.bench;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.flink.configuration.Configuration;
import picocli.CommandLine.Option;

/** The load of one run of {@link CheckpointProcess}, which the suite passes as options. */
final class CheckpointLoad {
    @Option(names = "--instances", required = true)
    int instances;

    @Option(names = "--states", required = true)
    int states;

    @Option(names = "--slots", required = true)
    int slots;

    @Option(names = "--memory-mib", required = true)
    int memoryMiB;

    /** Keys of all instances together. */
    @Option(names = "--keys", required = true)
    int keys;

    @Option(names = "--value-bytes", required = true)
    int valueBytes;

    /** Average updates of each key before the first checkpoint, so that there is garbage. */
    @Option(names = "--updates-before", required = true)
    double updatesBefore;

    /** Updates per second of all instances together. */
    @Option(names = "--rate", required = true)
    int rate;

    @Option(names = "--set", paramLabel = "KEY=VALUE")
    Map<String, String> settings = new LinkedHashMap<>();

    boolean isPossible() {
        return slots >= 1
                && instances >= slots
                && states >= 1
                && memoryMiB >= slots
                && keys >= instances
                && valueBytes >= 1
                && updatesBefore >= 0
                && rate >= 1;
    }

    int keysOfInstance() {
        return keys / instances;
    }

    /** Managed memory of one slot. */
    long slotBytes() {
        return ((long) memoryMiB << 20) / slots;
    }

    /** Time between two updates of an instance. */
    long gapNanos() {
        return 1_000_000_000L * instances / rate;
    }

    Configuration configuration() {
        return Configuration.fromMap(settings);
    }

    /** The same load as options. */
    List<String> arguments() {
        Stream<String> load =
                Stream.of(
                        "--instances=" + instances,
                        "--states=" + states,
                        "--slots=" + slots,
                        "--memory-mib=" + memoryMiB,
                        "--keys=" + keys,
                        "--value-bytes=" + valueBytes,
                        "--updates-before=" + updatesBefore,
                        "--rate=" + rate);
        Stream<String> set =
                settings.entrySet().stream()
                        .map(entry -> "--set=" + entry.getKey() + "=" + entry.getValue());
        return Stream.concat(load, set).collect(Collectors.toList());
    }

    @Override
    public String toString() {
        long bytes = (long) keys * valueBytes;
        return String.format(
                "%dx%d states %dMiB of %dB, %d/s",
                instances, states, bytes >> 20, valueBytes, rate);
    }
}
