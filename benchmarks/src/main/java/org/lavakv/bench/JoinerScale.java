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

/** The size of the joiner: options that the suite passes to its processes. */
final class JoinerScale {
    @Option(
            names = "--instances",
            defaultValue = "40",
            description = "backends in the process, each with a thread (default: ${DEFAULT-VALUE})")
    int instances;

    @Option(
            names = "--slots",
            defaultValue = "4",
            description = "slots that the backends are divided among (default: ${DEFAULT-VALUE})")
    int slots;

    @Option(
            names = "--live-mib",
            defaultValue = "50",
            description = "live values of each backend (default: ${DEFAULT-VALUE})")
    int liveMiB;

    @Option(
            names = "--memory-mib",
            defaultValue = "1024",
            description = "managed memory of all slots together (default: ${DEFAULT-VALUE})")
    int memoryMiB;

    @Option(
            names = "--set",
            paramLabel = "KEY=VALUE",
            description = "an option of Flink's or a backend's, for all processes; repeat it")
    Map<String, String> settings = new LinkedHashMap<>();

    /** Whether the options are consistent. */
    boolean isPossible() {
        return slots >= 1 && instances >= slots && liveMiB >= 1 && memoryMiB >= slots;
    }

    long liveBytes() {
        return (long) liveMiB << 20;
    }

    /** Managed memory of one slot. */
    long slotBytes() {
        return ((long) memoryMiB << 20) / slots;
    }

    Configuration configuration() {
        return Configuration.fromMap(settings);
    }

    /** The same options for another process. */
    List<String> arguments() {
        Stream<String> scale =
                Stream.of(
                        "--instances=" + instances,
                        "--slots=" + slots,
                        "--live-mib=" + liveMiB,
                        "--memory-mib=" + memoryMiB);
        Stream<String> set =
                settings.entrySet().stream()
                        .map(entry -> "--set=" + entry.getKey() + "=" + entry.getValue());
        return Stream.concat(scale, set).collect(Collectors.toList());
    }

    @Override
    public String toString() {
        return instances + "x" + liveMiB + "MiB " + memoryMiB + "MiB";
    }
}
