// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.bench;

import picocli.CommandLine;
import picocli.CommandLine.Command;

/** {@code bin/bench SUITE}: one subcommand for each suite. */
@Command(
        name = "bench",
        description = "Runs one benchmark suite with Lava's peers and prints a table of ratios.",
        footer = {
            "",
            "bin/bench kv, diffkv, files, fs, cache, host and log are native suites, see bin/bench kv --help."
        },
        subcommands = {
            StateSuite.class,
            JoinerSuite.class,
            JoinerProcess.class,
            CheckpointSuite.class,
            CheckpointProcess.class,
            RescaleSuite.class,
            RescaleProcess.class,
            SavepointSuite.class,
            XllSuite.class,
            XllProcess.class
        },
        mixinStandardHelpOptions = true)
public final class Main {
    private Main() {}

    public static void main(String[] arguments) {
        CommandLine commandLine = new CommandLine(new Main());
        if (arguments.length == 0) {
            commandLine.usage(System.out);
            System.exit(2);
        }
        System.exit(commandLine.execute(arguments));
    }
}
