// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.testing;

import java.util.Map;
import java.util.TreeMap;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.metrics.Histogram;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.metrics.groups.UnregisteredMetricsGroup;

/** Records gauges and histograms by the path of their groups. Threads: one. */
public final class RecordingMetricGroup extends UnregisteredMetricsGroup {

    private final String path;
    private final Map<String, Gauge<?>> gauges;
    private final Map<String, Histogram> histograms;

    public RecordingMetricGroup() {
        this("", new TreeMap<>(), new TreeMap<>());
    }

    private RecordingMetricGroup(
            String path, Map<String, Gauge<?>> gauges, Map<String, Histogram> histograms) {
        this.path = path;
        this.gauges = gauges;
        this.histograms = histograms;
    }

    /** By path; each part follows a dot. */
    public Map<String, Gauge<?>> gauges() {
        return gauges;
    }

    /** By path; each part follows a dot. */
    public Map<String, Histogram> histograms() {
        return histograms;
    }

    @Override
    public <T, G extends Gauge<T>> G gauge(String name, G gauge) {
        gauges.put(path + "." + name, gauge);
        return gauge;
    }

    @Override
    public <H extends Histogram> H histogram(String name, H histogram) {
        histograms.put(path + "." + name, histogram);
        return histogram;
    }

    @Override
    public MetricGroup addGroup(String name) {
        return new RecordingMetricGroup(path + "." + name, gauges, histograms);
    }

    @Override
    public MetricGroup addGroup(String key, String value) {
        return addGroup(key).addGroup(value);
    }
}
