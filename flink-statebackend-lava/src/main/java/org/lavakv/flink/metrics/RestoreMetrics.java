// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.metrics;

import java.util.Map;
import java.util.WeakHashMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.ToLongFunction;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.metrics.MetricGroup;
import org.lavakv.flink.engine.RestoreProgress;

/**
 * Gauges of an operator's restore, {@code lava.restore}, available during the restore and
 * afterwards.
 *
 * <p>Threads: any.
 */
public final class RestoreMetrics {

    /** A metric cannot be registered twice, but another restore may follow a failed one. */
    private static final Map<MetricGroup, AtomicReference<RestoreProgress>> REGISTERED =
            new WeakHashMap<>();

    private RestoreMetrics() {}

    /**
     * A progress object for a restore that begins now. From now on the operator's gauges show it.
     */
    public static RestoreProgress newProgress(MetricGroup operatorGroup) {
        RestoreProgress progress = new RestoreProgress();
        AtomicReference<RestoreProgress> shown;
        synchronized (REGISTERED) {
            shown = REGISTERED.get(operatorGroup);
            if (shown == null) {
                shown = new AtomicReference<>(progress);
                REGISTERED.put(operatorGroup, shown);
                register(operatorGroup.addGroup("lava").addGroup("restore"), shown);
            }
        }
        shown.set(progress);
        return progress;
    }

    private static void register(MetricGroup group, AtomicReference<RestoreProgress> shown) {
        group.gauge("files", gauge(shown, RestoreProgress::filesDone));
        group.gauge("files-left", gauge(shown, RestoreProgress::filesLeft));
        group.gauge("bytes", gauge(shown, RestoreProgress::bytesDone));
        group.gauge("bytes-left", gauge(shown, RestoreProgress::bytesLeft));
        group.gauge("bytes-per-second", gauge(shown, RestoreProgress::bytesPerSecond));
        group.gauge("seconds-left", gauge(shown, RestoreProgress::secondsLeft));
    }

    private static Gauge<Long> gauge(
            AtomicReference<RestoreProgress> shown, ToLongFunction<RestoreProgress> number) {
        return () -> number.applyAsLong(shown.get());
    }
}
