// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A write that waits for background work reacts to interrupts and close, and its wait is counted.
 */
@Timeout(60)
class BusyTest extends LavaTestBase {

    private static final int BUSY = 4;
    private static final int CLOSE_BUSY = 5;
    private static final int HANG_MS = 30_000;

    @AfterEach
    void notBusy() {
        LavaLibrary.setFault0(0);
    }

    @Test
    void interruptEndsEveryWait() throws Exception {
        try (Lease lease = lease();
                LavaDB db = open(lease);
                Snapshot s = db.getSnapshot()) {
            TableHandle t = db.createTable("t", new TableOptions());
            TableHandle list = db.createTable("l", new TableOptions().setKind(TableKind.LIST));
            Map<String, NativeCalls.Call> waits = NativeCalls.writes(db, t, list);
            waits.put("flush", db::flush);
            waits.put("compactAll", db::compactAll);
            waits.put("waitFlushed", s::waitFlushed);
            waits.put("getSnapshot", db::getSnapshot);
            waits.put("setTableOptions", () -> db.setTableOptions(t, new TableOptions()));
            waits.put("dropTable", () -> db.dropTable(t));
            LavaLibrary.setFault0(BUSY);
            for (Map.Entry<String, NativeCalls.Call> wait : waits.entrySet()) {
                assertThat(whenInterrupted(wait.getValue()))
                        .as(wait.getKey())
                        .isInstanceOfSatisfying(
                                LavaDBException.class,
                                e -> assertThat(e.getCode()).isEqualTo(Status.Code.ABORTED))
                        .hasMessageContaining("interrupted");
            }
            LavaLibrary.setFault0(0);
            assertThat(get(db, t, "k")).as("nothing was written").isNull();
            assertThat(db.stalledNanos()).isPositive();
        }
    }

    /** A job is in a long system call: close keeps waiting, and preserves the interrupt. */
    @Test
    void closeWaitsForJobsInBoundedStepsAndKeepsTheInterrupt() throws Exception {
        try (Lease lease = lease()) {
            LavaDB db = open(lease);
            long objects = Host.openNativeObjects();
            LavaLibrary.setFault0(CLOSE_BUSY);
            AtomicReference<Boolean> flag = new AtomicReference<>();
            Thread closer =
                    new Thread(
                            () -> {
                                db.close();
                                flag.set(Thread.currentThread().isInterrupted());
                            });
            closer.start();
            while (db.isOpen()) {
                Thread.sleep(1);
            }
            closer.join(300);
            assertThat(closer.isAlive()).isTrue();
            closer.interrupt();
            closer.join(300);
            assertThat(closer.isAlive()).isTrue();
            assertThat(Host.openNativeObjects()).isEqualTo(objects);
            assertThat(db.isOpen()).isFalse();
            LavaLibrary.setFault0(0);
            closer.join(HANG_MS);
            assertThat(closer.isAlive()).isFalse();
            assertThat(flag.get()).isTrue();
            assertThat(Host.openNativeObjects()).isEqualTo(objects - 1);
        }
    }

    /** The exception of the call after its thread was interrupted. */
    private static Throwable whenInterrupted(NativeCalls.Call call) throws Exception {
        AtomicReference<Throwable> thrown = new AtomicReference<>();
        AtomicReference<Boolean> flag = new AtomicReference<>();
        Thread thread =
                new Thread(
                        () -> {
                            try {
                                call.call();
                            } catch (Exception e) {
                                thrown.set(e);
                                flag.set(Thread.currentThread().isInterrupted());
                            }
                        });
        thread.start();
        Thread.sleep(20);
        assertThat(thread.isAlive()).isTrue();
        thread.interrupt();
        thread.join(HANG_MS);
        assertThat(thread.isAlive()).isFalse();
        assertThat(flag.get()).as("the interrupt flag").isTrue();
        return thrown.get();
    }

    @Test
    void closeEndsAWait() throws Exception {
        try (Lease lease = lease()) {
            LavaDB db = open(lease);
            TableHandle t = db.createTable("t", new TableOptions());
            LavaLibrary.setFault0(BUSY);
            AtomicReference<Throwable> thrown = new AtomicReference<>();
            Thread writer =
                    new Thread(
                            () -> {
                                try {
                                    put(db, t, "k", "v");
                                } catch (LavaDBException | RuntimeException e) {
                                    thrown.set(e);
                                }
                            });
            writer.start();
            Thread.sleep(20);
            db.close();
            writer.join(HANG_MS);
            assertThat(thrown.get()).isInstanceOf(LavaClosedException.class);
        }
    }

    @Test
    void theWriteHappensWhenTheWaitIsOver() throws Exception {
        try (Lease lease = lease();
                LavaDB db = open(lease)) {
            TableHandle t = db.createTable("t", new TableOptions());
            long before = db.stalledNanos();
            LavaLibrary.setFault0(BUSY);
            Thread relief =
                    new Thread(
                            () -> {
                                while (db.stalledNanos() == before && !Thread.interrupted()) {
                                    Thread.yield();
                                }
                                LavaLibrary.setFault0(0);
                            });
            relief.start();
            try {
                put(db, t, "k", "v");
            } finally {
                relief.interrupt();
                relief.join();
            }
            assertThat(get(db, t, "k")).isEqualTo("v");
            assertThat(db.stalledNanos()).as("it waited").isGreaterThan(before);
        }
    }

    @Test
    void anInterruptedThreadMayWriteWhenNothingWaits() throws Exception {
        try (Lease lease = lease();
                LavaDB db = open(lease)) {
            TableHandle t = db.createTable("t", new TableOptions());
            Thread.currentThread().interrupt();
            put(db, t, "k", "v");
            assertThat(Thread.interrupted()).isTrue();
            assertThat(get(db, t, "k")).isEqualTo("v");
        }
    }
}
