// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.bench;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.StateBackendOptions;
import org.apache.flink.runtime.state.KeyedStateHandle;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * The process that {@link CheckpointSuite} starts for one run of one backend. It fills the
 * instances, takes a first checkpoint that does not count, offers the load while it takes
 * checkpoints, and writes the resulting {@link CheckpointMetric}s. Every instance has a thread,
 * like tasks, and asynchronous parts have as many threads as they need.
 */
@Command(name = "checkpoint-process", hidden = true)
final class CheckpointProcess implements Callable<Integer> {
    private static final long CHECKPOINT_MINUTES_MAX = 10;

    @Mixin private CheckpointLoad load;

    @Option(names = "--backend", required = true)
    private String type;

    /** Load without checkpoints, before the first one. */
    @Option(names = "--warmup-millis", required = true)
    private int warmupMillis;

    @Option(names = "--checkpoints", required = true)
    private int checkpoints;

    /** Time between two triggers, unless a checkpoint takes longer. */
    @Option(names = "--interval-millis", required = true)
    private int intervalMillis;

    /** Empty directory for the backends' files and the checkpoints. */
    @Option(names = "--directory", required = true)
    private Path directory;

    /** File for the metrics, as a JSON object. */
    @Option(names = "--out", required = true)
    private File out;

    private final List<Backends.Slot> slots = new ArrayList<>();
    private final List<Backends.Open<Long>> opened = new ArrayList<>();
    private final List<CheckpointInstance> instances = new ArrayList<>();
    private final ExecutorService rest = Executors.newCachedThreadPool();
    private CheckpointStore store;
    private volatile boolean stopping;

    @Override
    public Integer call() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(load.instances);
        try {
            open();
            fill(threads);
            new ObjectMapper().writeValue(out, measure(threads));
        } finally {
            stopping = true;
            threads.shutdown();
            rest.shutdown();
            // A backend must not be disposed while a thread works in it.
            if (threads.awaitTermination(1, TimeUnit.MINUTES)
                    && rest.awaitTermination(1, TimeUnit.MINUTES)) {
                close();
            }
        }
        return 0;
    }

    private void open() throws Exception {
        store = new CheckpointStore(Files.createDirectory(directory.resolve("checkpoints")));
        Configuration configuration = load.configuration();
        configuration.set(StateBackendOptions.STATE_BACKEND, type);
        for (int i = 0; i < load.slots; i++) {
            slots.add(new Backends.Slot(load.slotBytes()));
        }
        CheckpointValues values = new CheckpointValues(load.valueBytes);
        for (int i = 0; i < load.instances; i++) {
            Backends.Open<Long> open =
                    Backends.open(
                            configuration,
                            LongSerializer.INSTANCE,
                            slots.get(i % load.slots),
                            directory);
            opened.add(open);
            instances.add(new CheckpointInstance(open.backend, load, values, i));
        }
    }

    private void close() throws Exception {
        for (Backends.Open<Long> open : opened) {
            open.close();
        }
        slots.forEach(Backends.Slot::close);
        Backends.deleteRecursively(directory.resolve("checkpoints"));
    }

    private void fill(ExecutorService threads) throws Exception {
        List<Future<?>> fills = new ArrayList<>();
        for (CheckpointInstance instance : instances) {
            fills.add(
                    threads.submit(
                            () -> {
                                instance.fill();
                                return null;
                            }));
        }
        for (Future<?> fill : fills) {
            fill.get();
        }
        EngineThreads.awaitIdle();
    }

    private Map<CheckpointMetric, Double> measure(ExecutorService threads) throws Exception {
        // Uploads everything for the first time, and waits for the resulting background work.
        long begin = System.nanoTime();
        List<Future<?>> runs = new ArrayList<>();
        start(threads, begin, TimeUnit.DAYS.toNanos(1), runs);
        take(0, new CheckpointFigures(begin, load.rate), runs);
        stop(runs);
        EngineThreads.awaitIdle();

        stopping = false;
        begin = System.nanoTime();
        CheckpointFigures figures = new CheckpointFigures(begin, load.rate);
        List<Progress> progress = start(threads, begin, load.gapNanos(), runs);
        long uploaded = store.writtenBytes();
        long next = begin + TimeUnit.MILLISECONDS.toNanos(warmupMillis);
        for (int id = 1; id <= checkpoints; id++) {
            sleepUntil(next, runs);
            next = Math.max(next, System.nanoTime()) + interval();
            take(id, figures, runs);
        }
        sleepUntil(next, runs);
        long end = System.nanoTime();
        stop(runs);
        return figures.of(progress, store.writtenBytes() - uploaded, end);
    }

    private long interval() {
        return TimeUnit.MILLISECONDS.toNanos(intervalMillis);
    }

    /** Starts all instances, each a little later than the previous one. */
    private List<Progress> start(
            ExecutorService threads, long begin, long gapNanos, List<Future<?>> runs) {
        List<Progress> all = new ArrayList<>();
        for (int i = 0; i < instances.size(); i++) {
            CheckpointInstance instance = instances.get(i);
            long firstDue = begin + gapNanos / instances.size() * (i + 1);
            Progress progress = new Progress(begin, firstDue, gapNanos);
            all.add(progress);
            runs.add(
                    threads.submit(
                            () -> {
                                instance.run(progress, () -> stopping);
                                return null;
                            }));
        }
        return all;
    }

    private void stop(List<Future<?>> runs) throws InterruptedException, ExecutionException {
        stopping = true;
        for (Future<?> run : runs) {
            run.get();
        }
        runs.clear();
    }

    /**
     * Takes one checkpoint of all instances, and waits until it is complete and they are notified.
     */
    private void take(long id, CheckpointFigures figures, List<Future<?>> runs) throws Exception {
        long trigger = System.nanoTime();
        List<CheckpointInstance.Taken> taken = new ArrayList<>();
        for (CheckpointInstance instance : instances) {
            taken.add(instance.checkpoint(store, id, rest));
        }
        List<CheckpointInstance.Sync> syncs = new ArrayList<>();
        List<KeyedStateHandle> handles = new ArrayList<>();
        for (CheckpointInstance.Taken one : taken) {
            syncs.add(await(one.sync, runs));
            handles.add(await(one.handle, runs));
        }
        figures.add(trigger, System.nanoTime(), syncs);
        store.completed(id, handles);
        instances.forEach(instance -> instance.completed(id));
    }

    private static <T> T await(CompletableFuture<T> future, List<Future<?>> runs) throws Exception {
        long end = System.nanoTime() + TimeUnit.MINUTES.toNanos(CHECKPOINT_MINUTES_MAX);
        while (System.nanoTime() < end) {
            try {
                return future.get(1, TimeUnit.SECONDS);
            } catch (TimeoutException e) {
                failIfOneFailed(runs);
            }
        }
        throw new TimeoutException(
                "A checkpoint took longer than " + CHECKPOINT_MINUTES_MAX + " minutes");
    }

    private static void sleepUntil(long nanos, List<Future<?>> runs)
            throws InterruptedException, ExecutionException {
        for (long wait = nanos - System.nanoTime(); wait > 0; wait = nanos - System.nanoTime()) {
            TimeUnit.NANOSECONDS.sleep(Math.min(wait, TimeUnit.MILLISECONDS.toNanos(100)));
            failIfOneFailed(runs);
        }
    }

    private static void failIfOneFailed(List<Future<?>> runs)
            throws InterruptedException, ExecutionException {
        for (Future<?> run : runs) {
            if (run.isDone()) {
                run.get();
            }
        }
    }
}
