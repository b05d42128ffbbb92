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

/** The size of the rescaled state: options that the suite passes to its processes. */
final class RescaleScale {
    /** Ensures that every subtask has keys. */
    private static final int KEYS_MIN = 1000;

    @Option(
            names = "--keys",
            defaultValue = "1000000",
            description = "of all subtasks together (default: ${DEFAULT-VALUE})")
    int keys;

    @Option(
            names = "--key-bytes",
            defaultValue = "96",
            description = "size of a key, at least 8 (default: ${DEFAULT-VALUE})")
    int keyBytes;

    @Option(
            names = "--value-bytes",
            defaultValue = "128",
            description = "size of a value (default: ${DEFAULT-VALUE})")
    int valueBytes;

    @Option(
            names = "--memory-mib",
            defaultValue = "512",
            description = "managed memory of a subtask's slot (default: ${DEFAULT-VALUE})")
    int memoryMiB;

    @Option(
            names = "--repeats",
            defaultValue = "3",
            description =
                    "of each restore in a process, which has their median (default:"
                            + " ${DEFAULT-VALUE})")
    int repeats;

    @Option(
            names = "--set",
            paramLabel = "KEY=VALUE",
            description = "an option of Flink's or a backend's, for all processes; repeat it")
    Map<String, String> settings = new LinkedHashMap<>();

    boolean isPossible() {
        return keys >= KEYS_MIN
                && keyBytes >= Long.BYTES
                && valueBytes >= 1
                && memoryMiB >= 1
                && repeats >= 1;
    }

    long memoryBytes() {
        return (long) memoryMiB << 20;
    }

    Configuration configuration() {
        return Configuration.fromMap(settings);
    }

    /** The same options for another process. */
    List<String> arguments() {
        Stream<String> scale =
                Stream.of(
                        "--keys=" + keys,
                        "--key-bytes=" + keyBytes,
                        "--value-bytes=" + valueBytes,
                        "--memory-mib=" + memoryMiB,
                        "--repeats=" + repeats);
        Stream<String> set =
                settings.entrySet().stream()
                        .map(entry -> "--set=" + entry.getKey() + "=" + entry.getValue());
        return Stream.concat(scale, set).collect(Collectors.toList());
    }

    @Override
    public String toString() {
        return keys + " keys";
    }
}
