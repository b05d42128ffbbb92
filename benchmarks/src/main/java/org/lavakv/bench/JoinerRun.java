// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.bench;

import com.fasterxml.jackson.core.type.TypeReference;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Starts a {@link JoinerProcess} and waits for its metrics. One thread. */
final class JoinerRun {
    private static final int OTHER_MINUTES_MAX = 40; // to fill, settle, close

    private final JoinerScale scale;
    private final ChildProcess process;

    /** See {@link ChildProcess}. */
    JoinerRun(JoinerScale scale, int heapMiB, Path parent) {
        this.scale = scale;
        this.process = new ChildProcess(heapMiB, parent);
    }

    /**
     * @param rate operations per second of all instances together; 0: as many as possible,
     *     including the time that their background work takes
     * @throws IOException if the process failed; it has printed the reason on its standard error
     */
    Map<JoinerMetric, Double> run(String backend, int rate, int warmupSeconds, int seconds)
            throws IOException, InterruptedException {
        List<String> arguments = new ArrayList<>(scale.arguments());
        arguments.add("--backend=" + backend);
        arguments.add("--rate=" + rate);
        arguments.add("--warmup-seconds=" + warmupSeconds);
        arguments.add("--seconds=" + seconds);
        long secondsMax = TimeUnit.MINUTES.toSeconds(OTHER_MINUTES_MAX) + warmupSeconds + seconds;
        return process.run(
                "joiner-process",
                arguments,
                secondsMax,
                new TypeReference<Map<JoinerMetric, Double>>() {});
    }
}
