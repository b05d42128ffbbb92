// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.bench;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.StateBackendOptions;
import org.apache.flink.runtime.state.KeyedStateHandle;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * The process that {@link RescaleSuite} starts for one run of one backend. It takes checkpoints of
 * one and of two subtasks, restores them with other parallelisms in all of the backend's modes, and
 * writes the {@link RescaleMetric}s of each case. Everything is first done with few keys, so that
 * code is loaded and compiled.
 */
@Command(name = "rescale-process", hidden = true)
final class RescaleProcess implements Callable<Integer> {
    private static final int KEYS_MIN = 1000;
    private static final int WARMUP_SHARE = 50;

    @Mixin private RescaleScale scale;

    @Option(names = "--backend", required = true)
    private String type;

    /** Empty directory for the backends' files and the checkpoints. */
    @Option(names = "--directory", required = true)
    private Path directory;

    /** File for the metrics, as a JSON object: by mode, by case, by metric. */
    @Option(names = "--out", required = true)
    private File out;

    @Override
    public Integer call() throws Exception {
        measure(Math.max(KEYS_MIN, scale.keys / WARMUP_SHARE), false);
        new ObjectMapper().writeValue(out, measure(scale.keys, true));
        return 0;
    }

    private Map<RescaleMode, Map<String, Map<RescaleMetric, Double>>> measure(
            int keys, boolean settle) throws Exception {
        Path parent = Files.createTempDirectory(directory, "rescale");
        Map<RescaleMode, Map<String, Map<RescaleMetric, Double>>> all =
                new EnumMap<>(RescaleMode.class);
        for (RescaleMode mode : RescaleMode.values()) {
            if (mode.backend.equals(type)) {
                all.put(mode, new LinkedHashMap<>());
            }
        }
        try (RescaleState state =
                new RescaleState(scale, configuration(), keys, 1, settle, parent)) {
            for (Map.Entry<RescaleMode, Map<String, Map<RescaleMetric, Double>>> entry :
                    all.entrySet()) {
                measure(state, 1, entry.getKey(), entry.getValue());
                measure(state, 2, entry.getKey(), entry.getValue());
            }
            all.values().iterator().next().put("canonical", canonical(state));
        }
        try (RescaleState state =
                new RescaleState(scale, configuration(), keys, 2, settle, parent)) {
            for (Map.Entry<RescaleMode, Map<String, Map<RescaleMetric, Double>>> entry :
                    all.entrySet()) {
                measure(state, 1, entry.getKey(), entry.getValue());
            }
        }
        Backends.deleteRecursively(parent);
        return all;
    }

    private Configuration configuration() {
        Configuration configuration = scale.configuration();
        configuration.set(StateBackendOptions.STATE_BACKEND, type);
        return configuration;
    }

    private void measure(
            RescaleState state,
            int parallelism,
            RescaleMode mode,
            Map<String, Map<RescaleMetric, Double>> cases)
            throws Exception {
        String name = state.parallelism() + "->" + parallelism;
        if (mode.differsWithLocalFiles()) {
            cases.put(name + " local", restore(state, mode, state::localHandles, parallelism));
        }
        cases.put(name + " transfer", restore(state, mode, state::remoteHandles, parallelism));
    }

    private Map<RescaleMetric, Double> restore(
            RescaleState state,
            RescaleMode mode,
            Supplier<Collection<KeyedStateHandle>> handles,
            int parallelism)
            throws Exception {
        Map<RescaleMetric, double[]> figures = new EnumMap<>(RescaleMetric.class);
        for (int i = 0; i < scale.repeats; i++) {
            state.checkpoint();
            Map<RescaleMetric, Double> once = state.restore(mode, handles.get(), parallelism);
            for (Map.Entry<RescaleMetric, Double> figure : once.entrySet()) {
                figures.computeIfAbsent(figure.getKey(), metric -> new double[scale.repeats])[i] =
                        figure.getValue();
            }
        }
        Map<RescaleMetric, Double> medians = new EnumMap<>(RescaleMetric.class);
        figures.forEach((metric, values) -> medians.put(metric, Report.median(values)));
        return medians;
    }

    private Map<RescaleMetric, Double> canonical(RescaleState state) throws Exception {
        RescaleMode mode =
                List.of(RescaleMode.values()).stream()
                        .filter(one -> one.backend.equals(type))
                        .findFirst()
                        .orElseThrow();
        double[] millis = new double[scale.repeats];
        KeyedStateHandle savepoint = null;
        for (int i = 0; i < millis.length; i++) {
            if (savepoint != null) {
                savepoint.discardState();
            }
            long begin = System.nanoTime();
            savepoint = state.savepoint();
            millis[i] = (System.nanoTime() - begin) / 1e6;
        }
        Collection<KeyedStateHandle> handles = List.of(savepoint);
        Map<RescaleMetric, Double> metrics = restore(state, mode, () -> handles, 1);
        metrics.put(RescaleMetric.SAVEPOINT, Report.median(millis));
        return metrics;
    }
}
