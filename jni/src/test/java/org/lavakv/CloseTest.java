// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A call on a closed object throws; close may come at any time, in any order, repeatedly. */
class CloseTest extends LavaTestBase {

    private static final int THREADS = 8;
    private static final int ROUNDS = Integer.getInteger("lava.test.close.rounds", 300);

    @Test
    void everyCallAfterCloseThrows() throws Exception {
        Lease lease = lease();
        LavaDB db = open(lease);
        TableHandle t = db.createTable("t", new TableOptions());
        TableHandle list = db.createTable("l", new TableOptions().setKind(TableKind.LIST));
        Snapshot s = db.getSnapshot();
        Snapshot early = db.getSnapshot();
        early.close();
        checkClosed(NativeCalls.ofSnapshot(db, t, early));
        assertThat(db.isOpen()).isTrue();
        db.close();
        assertThat(db.isOpen()).isFalse();
        checkClosed(NativeCalls.ofDatabase(db, t, list));
        checkClosed(Map.of("dropTable", () -> db.dropTable(t)));
        checkClosed(NativeCalls.ofSnapshot(db, t, s));
        s.close();
        checkClosed(NativeCalls.ofSnapshot(db, t, s));
        lease.close();
        checkClosed(NativeCalls.ofLease(lease));
        checkClosed(Map.of("open", () -> LavaDB.open(new DBOptions(), "x", lease, List.of())));
        db.close();
        s.close();
        lease.close();
    }

    private static void checkClosed(Map<String, NativeCalls.Call> natives) {
        natives.forEach(
                (name, call) ->
                        assertThatThrownBy(call::call)
                                .as(name)
                                .isInstanceOf(LavaClosedException.class)
                                .hasMessageContaining("closed"));
    }

    @Test
    void allOrdersOfClosing() throws Exception {
        List<List<Integer>> orders = new ArrayList<>();
        permute(List.of(0, 1, 2, 3, 4), new ArrayList<>(), orders);
        assertThat(orders).hasSize(120);
        for (int i = 0; i < orders.size(); i++) {
            Lease lease = lease();
            LavaDB a = open(lease, "a" + i);
            LavaDB b = open(lease, "b" + i);
            TableHandle t = a.createTable("t", new TableOptions());
            put(a, t, "k", "v");
            Snapshot s1 = a.getSnapshot();
            Snapshot s2 = b.getSnapshot();
            List<AutoCloseable> objects = List.of(lease, a, b, s1, s2);
            for (int which : orders.get(i)) {
                objects.get(which).close();
                objects.get(which).close();
            }
            assertThat(Host.openNativeObjects()).as("order %s", orders.get(i)).isZero();
            assertThat(Host.getStatistics().leasesOpen()).isZero();
        }
    }

    private static void permute(List<Integer> left, List<Integer> done, List<List<Integer>> all) {
        if (left.isEmpty()) {
            all.add(List.copyOf(done));
        }
        for (Integer next : left) {
            List<Integer> rest = new ArrayList<>(left);
            rest.remove(next);
            done.add(next);
            permute(rest, done, all);
            done.remove(done.size() - 1);
        }
    }

    @Test
    @Timeout(value = 10, unit = TimeUnit.MINUTES)
    void threadsRacingClose() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(THREADS);
        try (Lease lease = lease()) {
            for (int round = 0; round < ROUNDS; round++) {
                raceOnce(threads, lease, round);
                assertThat(Host.openNativeObjects()).isEqualTo(1);
            }
        } finally {
            threads.shutdownNow();
            assertThat(threads.awaitTermination(1, TimeUnit.MINUTES)).isTrue();
        }
    }

    private void raceOnce(ExecutorService threads, Lease lease, int round) throws Exception {
        LavaDB db = open(lease, "race" + round);
        TableHandle t = db.createTable("t", new TableOptions());
        TableHandle list = db.createTable("l", new TableOptions().setKind(TableKind.LIST));
        Snapshot s = db.getSnapshot();
        CountDownLatch started = new CountDownLatch(THREADS);
        List<Future<Integer>> results = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            long seed = round * 100L + i;
            results.add(threads.submit(() -> callUntilClosed(db, t, list, s, started, seed)));
        }
        started.await();
        Thread.sleep(0, 200_000 * (round % 5));
        if (round % 2 == 0) {
            s.close();
        }
        // Two concurrent closes: both return only when the database is closed.
        Future<?> second = threads.submit(db::close);
        db.close();
        assertThat(db.isOpen()).isFalse();
        second.get(30, TimeUnit.SECONDS);
        for (Future<Integer> result : results) {
            assertThat(result.get(30, TimeUnit.SECONDS)).isNotNegative();
        }
        s.close();
    }

    /** Calls at random until the database is closed, and a little beyond. */
    private static int callUntilClosed(
            LavaDB db,
            TableHandle t,
            TableHandle list,
            Snapshot s,
            CountDownLatch started,
            long seed)
            throws Exception {
        List<NativeCalls.Call> natives =
                new ArrayList<>(NativeCalls.ofDatabase(db, t, list).values());
        natives.addAll(NativeCalls.ofSnapshot(db, t, s).values());
        Collections.shuffle(natives, new Random(seed));
        int calls = 0;
        started.countDown();
        for (int closed = 0; closed < natives.size(); ) {
            try {
                natives.get(calls % natives.size()).call();
                assertThat(calls++).isNotNegative();
            } catch (LavaClosedException e) {
                calls++;
                closed++;
            } catch (LavaDBException e) {
                // Work interrupted by close, or files requested before the flush.
                assertThat(e.getCode())
                        .isIn(
                                Status.Code.ABORTED,
                                Status.Code.CLOSED,
                                Status.Code.BUSY,
                                Status.Code.INVALID_ARGUMENT);
                calls++;
            }
        }
        return calls;
    }

    @Test
    void closeWaitsForACallInFlight() throws Exception {
        try (Lease lease = lease()) {
            LavaDB db = open(lease);
            TableHandle t = db.createTable("t", new TableOptions());
            byte[] big = new byte[32 << 20];
            byte[] k = key("k");
            Thread writer =
                    new Thread(
                            () -> {
                                try {
                                    while (true) {
                                        db.put(t, k, 0, k.length, 0, big, 0, 1 << 20);
                                    }
                                } catch (LavaClosedException | LavaDBException e) {
                                    Thread.currentThread().interrupt();
                                }
                            });
            writer.start();
            Thread.sleep(20);
            db.close();
            writer.join(30_000);
            assertThat(writer.isAlive()).isFalse();
        }
    }

    @Test
    void closingAnInterruptedThreadsDatabaseWorksAndKeepsTheFlag() throws Exception {
        try (Lease lease = lease()) {
            LavaDB db = open(lease);
            Thread.currentThread().interrupt();
            assertThatCode(db::close).doesNotThrowAnyException();
            assertThat(Thread.interrupted()).isTrue();
            assertThat(db.isOpen()).isFalse();
        }
    }
}
