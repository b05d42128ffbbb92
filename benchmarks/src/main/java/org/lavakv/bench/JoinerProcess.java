// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.bench;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.File;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.ToLongFunction;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.api.common.typeutils.base.array.BytePrimitiveArraySerializer;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.StateBackendOptions;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * The process that {@link JoinerSuite} starts for one run of one backend. It fills the instances,
 * offers the load for the warm-up and the measured time, and writes the resulting {@link
 * JoinerMetric}s. Every instance has a thread, like tasks.
 */
@Command(name = "joiner-process", hidden = true)
final class JoinerProcess implements Callable<Integer> {
    private static final long PEAK_NANOS = TimeUnit.SECONDS.toNanos(10);

    @Mixin private JoinerScale scale;

    @Option(names = "--backend", required = true)
    private String type;

    /**
     * Operations per second of all instances together. 0: as many as possible, over the measured
     * time and until the resulting background work is done.
     */
    @Option(names = "--rate", required = true)
    private int rate;

    @Option(names = "--warmup-seconds", required = true)
    private int warmupSeconds;

    @Option(names = "--seconds", required = true)
    private int seconds;

    /** Empty directory for the backends' files. */
    @Option(names = "--directory", required = true)
    private Path directory;

    /** File for the metrics, as a JSON object. */
    @Option(names = "--out", required = true)
    private File out;

    private final List<Backends.Slot> slots = new ArrayList<>();
    private final List<Backends.Open<Long>> opened = new ArrayList<>();
    private final List<JoinerInstance> instances = new ArrayList<>();
    private volatile boolean stopping;

    @Override
    public Integer call() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(scale.instances);
        try {
            open();
            fill(threads);
            new ObjectMapper().writeValue(out, measure(threads));
        } finally {
            stopping = true;
            threads.shutdown();
            // A backend must not be disposed while a thread works in it.
            if (threads.awaitTermination(1, TimeUnit.MINUTES)) {
                close();
            }
        }
        return 0;
    }

    private void open() throws Exception {
        Configuration configuration = scale.configuration();
        configuration.set(StateBackendOptions.STATE_BACKEND, type);
        for (int i = 0; i < scale.slots; i++) {
            slots.add(new Backends.Slot(scale.slotBytes()));
        }
        JoinerValues values = new JoinerValues();
        long clockNanos = JoinerInstance.clockNanos();
        for (int i = 0; i < scale.instances; i++) {
            Backends.Open<Long> open =
                    Backends.open(
                            configuration,
                            LongSerializer.INSTANCE,
                            slots.get(i % scale.slots),
                            directory);
            opened.add(open);
            ValueState<byte[]> state =
                    open.backend.getPartitionedState(
                            VoidNamespace.INSTANCE,
                            VoidNamespaceSerializer.INSTANCE,
                            new ValueStateDescriptor<>(
                                    "joiner", BytePrimitiveArraySerializer.INSTANCE));
            instances.add(new JoinerInstance(open.backend, state, values, clockNanos, i));
        }
    }

    private void close() throws Exception {
        for (Backends.Open<Long> open : opened) {
            open.close();
        }
        slots.forEach(Backends.Slot::close);
    }

    private void fill(ExecutorService threads) throws Exception {
        List<Future<?>> fills = new ArrayList<>();
        for (JoinerInstance instance : instances) {
            fills.add(
                    threads.submit(
                            () -> {
                                instance.fill(scale.liveBytes());
                                return null;
                            }));
        }
        for (Future<?> fill : fills) {
            fill.get();
        }
    }

    private Map<JoinerMetric, Double> measure(ExecutorService threads) throws Exception {
        if (warmupSeconds > 0) {
            offer(threads, warmupSeconds);
        }
        // The schedule starts anew, so that work left over from a stall of the warm-up is not
        // added.
        long before = sum(JoinerInstance::operations);
        ProcessSampler sampler =
                new ProcessSampler(directory, () -> sum(JoinerInstance::callNanos));
        long begin = System.nanoTime();
        sampler.start();
        long lateNanos = offer(threads, seconds);
        if (rate == 0) {
            // Includes postponed background work: an engine could not accept load in excess of it
            // for long.
            EngineThreads.awaitIdle();
        }
        sampler.stop();
        double took = (System.nanoTime() - begin) / 1e9;
        Map<JoinerMetric, Double> metrics = metrics(sampler);
        metrics.put(JoinerMetric.OPERATIONS, (sum(JoinerInstance::operations) - before) / took);
        metrics.put(JoinerMetric.LATE_PEAK, lateNanos / 1e9);
        return metrics;
    }

    /**
     * Runs all instances at the rate for this time, and waits until they have stopped. Returns the
     * maximum delay of an operation in nanoseconds.
     */
    private long offer(ExecutorService threads, int forSeconds) throws Exception {
        long gapNanos =
                rate == 0 ? 0 : TimeUnit.SECONDS.toNanos(1) * scale.instances / Math.max(rate, 1);
        stopping = false;
        List<Future<Long>> runs = new ArrayList<>();
        for (JoinerInstance instance : instances) {
            runs.add(threads.submit(() -> instance.run(gapNanos, () -> stopping)));
        }
        sleep(runs, forSeconds);
        stopping = true;
        long lateNanos = 0;
        for (Future<Long> run : runs) {
            lateNanos = Math.max(lateNanos, run.get());
        }
        return lateNanos;
    }

    /** Ends early with the failure when an instance's thread failed. */
    private static void sleep(List<Future<Long>> runs, int seconds)
            throws InterruptedException, ExecutionException {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
        while (System.nanoTime() < end) {
            TimeUnit.MILLISECONDS.sleep(100);
            for (Future<?> run : runs) {
                if (run.isDone()) {
                    run.get();
                }
            }
        }
    }

    private long sum(ToLongFunction<JoinerInstance> of) {
        return instances.stream().mapToLong(of).sum();
    }

    private static Map<JoinerMetric, Double> metrics(ProcessSampler sampler) {
        Map<JoinerMetric, Double> metrics = new EnumMap<>(JoinerMetric.class);
        metrics.put(JoinerMetric.CPU_AVERAGE, sampler.engineAndCalls().average());
        metrics.put(JoinerMetric.CPU_PEAK, sampler.engineAndCalls().peak(PEAK_NANOS));
        metrics.put(JoinerMetric.THREADS_AVERAGE, sampler.engine().average());
        metrics.put(JoinerMetric.THREADS_PEAK, sampler.engine().peak(PEAK_NANOS));
        metrics.put(JoinerMetric.CALLS_AVERAGE, sampler.calls().average());
        metrics.put(JoinerMetric.CALLS_PEAK, sampler.calls().peak(PEAK_NANOS));
        metrics.put(JoinerMetric.PROCESS_AVERAGE, sampler.process().average());
        metrics.put(JoinerMetric.DISK_AVERAGE, sampler.diskBytesAverage());
        metrics.put(JoinerMetric.DISK_PEAK, (double) sampler.diskBytesPeak());
        metrics.put(JoinerMetric.RESIDENT_PEAK, (double) sampler.residentBytesPeak());
        return metrics;
    }
}
