// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.flink.core.fs.CloseableRegistry;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class ParallelTransferTest {

    private final ParallelTransfer transfer = new ParallelTransfer(2, "test-transfer");
    private final CloseableRegistry registry = new CloseableRegistry();
    private final ConcurrentLinkedQueue<Integer> undone = new ConcurrentLinkedQueue<>();

    @AfterEach
    void close() {
        transfer.close();
    }

    private List<Integer> run(List<ParallelTransfer.Task<Integer>> tasks) throws Exception {
        return transfer.run(tasks, registry, undone::add, 0);
    }

    @Test
    void resultsKeepTheOrderOfTheTasks() throws Exception {
        List<ParallelTransfer.Task<Integer>> tasks = new ArrayList<>();
        List<Integer> expected = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            int result = i;
            tasks.add(streams -> result);
            expected.add(i);
        }
        assertThat(run(tasks)).isEqualTo(expected);
        assertThat(undone).isEmpty();
        assertThat(registry.getNumberOfRegisteredCloseables()).isZero();
    }

    @Test
    void noMoreThanTheThreadsRunAtATime() throws Exception {
        AtomicInteger running = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        List<ParallelTransfer.Task<Integer>> tasks = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            tasks.add(
                    streams -> {
                        most.accumulateAndGet(running.incrementAndGet(), Math::max);
                        Thread.sleep(2);
                        return running.decrementAndGet();
                    });
        }
        run(tasks);
        assertThat(most.get()).isEqualTo(2);
    }

    @Test
    void failureUndoesWhatWasFinished() {
        List<ParallelTransfer.Task<Integer>> tasks = new ArrayList<>();
        CountDownLatch first = new CountDownLatch(1);
        tasks.add(
                streams -> {
                    first.countDown();
                    return 17;
                });
        tasks.add(
                streams -> {
                    first.await();
                    Thread.sleep(20);
                    throw new IOException("no space");
                });
        assertThatThrownBy(() -> run(tasks)).hasMessage("no space");
        assertThat(undone).containsExactly(17);
    }

    @Test
    void cancelReturnsAtOnceFromACopyThatHangsAndTheStragglerIsUndone() throws Exception {
        CountDownLatch hanging = new CountDownLatch(1);
        CountDownLatch wake = new CountDownLatch(1);
        FutureTask<List<Integer>> run =
                new FutureTask<>(
                        () ->
                                run(
                                        List.of(
                                                streams -> {
                                                    hanging.countDown();
                                                    wake.await();
                                                    return 5;
                                                })));
        new Thread(run).start();
        hanging.await();
        registry.close();
        // The copy hangs until the latch releases it.
        assertThatThrownBy(() -> run.get(30, TimeUnit.SECONDS)).hasMessageContaining("cancelled");
        wake.countDown();
        while (undone.isEmpty()) {
            Thread.sleep(1);
        }
        assertThat(undone).containsExactly(5);
    }

    @Test
    void cancelClosesTheStreamsOfTheCopies() throws Exception {
        CountDownLatch registered = new CountDownLatch(1);
        CountDownLatch closed = new CountDownLatch(1);
        FutureTask<List<Integer>> run =
                new FutureTask<>(
                        () ->
                                run(
                                        List.of(
                                                streams -> {
                                                    streams.registerCloseable(closed::countDown);
                                                    registered.countDown();
                                                    closed.await();
                                                    throw new IOException("stream closed");
                                                })));
        new Thread(run).start();
        registered.await();
        registry.close();
        assertThat(closed.await(5, TimeUnit.SECONDS)).isTrue();
        assertThatThrownBy(() -> run.get(5, TimeUnit.SECONDS)).hasMessageContaining("cancelled");
    }

    @Test
    void interruptStopsTheWait() throws Exception {
        CountDownLatch wake = new CountDownLatch(1);
        FutureTask<List<Integer>> run =
                new FutureTask<>(
                        () ->
                                run(
                                        List.of(
                                                streams -> {
                                                    wake.await();
                                                    return 1;
                                                })));
        Thread thread = new Thread(run);
        thread.start();
        thread.interrupt();
        assertThatThrownBy(() -> run.get(5, TimeUnit.SECONDS))
                .hasCauseInstanceOf(InterruptedException.class);
        wake.countDown();
    }

    @Test
    void interruptBesideTheLastCopyLosesNoResult() throws Exception {
        for (int i = 0; i < 500; i++) {
            undone.clear();
            CountDownLatch go = new CountDownLatch(1);
            List<ParallelTransfer.Task<Integer>> tasks =
                    List.of(
                            streams -> {
                                go.countDown();
                                return 1;
                            });
            FutureTask<List<Integer>> run =
                    new FutureTask<>(() -> transfer.run(tasks, registry, undone::add, 10_000));
            Thread thread = new Thread(run);
            thread.start();
            go.await();
            thread.interrupt();
            thread.join();
            try {
                assertThat(run.get()).containsExactly(1);
                assertThat(undone).isEmpty();
            } catch (ExecutionException e) {
                assertThat(e).hasCauseInstanceOf(InterruptedException.class);
                assertThat(undone).containsExactly(1);
            }
        }
    }

    @Test
    void closedRegistryRefusesAtOnce() throws Exception {
        registry.close();
        assertThatThrownBy(() -> run(List.of(streams -> 1))).isInstanceOf(IOException.class);
    }

    @Test
    void nothingToCopyIsDoneAtOnce() throws Exception {
        assertThat(run(List.of())).isEmpty();
    }
}
