// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** An instance that is closed before its snapshots logs where they were opened. */
class LeakLogTest extends LavaTestBase {

    private final Logger logger = Logger.getLogger(LavaDB.class.getName());
    private final List<LogRecord> records = new ArrayList<>();
    private final Handler handler =
            new Handler() {
                @Override
                public void publish(LogRecord logged) {
                    records.add(logged);
                }

                @Override
                public void flush() {}

                @Override
                public void close() {}
            };

    @BeforeEach
    void listen() {
        logger.addHandler(handler);
        logger.setUseParentHandlers(false);
    }

    @AfterEach
    void listenNoMore() {
        logger.removeHandler(handler);
        logger.setUseParentHandlers(true);
    }

    @Test
    void snapshotsLeftOpenAreLoggedOnceWithTheirStacks() throws Exception {
        List<Snapshot> left = new ArrayList<>();
        LavaDB db;
        try (Lease lease = lease()) {
            db = open(lease);
            left.add(takenByName(db));
            db.getSnapshot().close();
            Thread other =
                    new Thread(
                            () -> {
                                try {
                                    left.add(db.getSnapshot());
                                } catch (LavaDBException e) {
                                    throw new AssertionError(e);
                                }
                            },
                            "another thread");
            other.start();
            other.join();
            db.close();
            db.close();
        }
        left.forEach(Snapshot::close);
        db.close();
        assertThat(records).hasSize(1);
        assertThat(records.get(0).getLevel()).isEqualTo(Level.WARNING);
        assertThat(records.get(0).getMessage())
                .contains(db.path(), "with 2 snapshots of it open", "snapshots open: 2")
                .containsPattern(
                        "(?s)by thread '"
                                + Thread.currentThread().getName()
                                + "' \\d+ ms ago.*by thread 'another thread' \\d+ ms ago")
                .doesNotContain("leak.trace");
        Throwable[] stacks = records.get(0).getThrown().getSuppressed();
        assertThat(stacks).hasSize(2);
        assertThat(stacks[0].getStackTrace())
                .anyMatch(frame -> frame.getMethodName().equals("takenByName"));
        assertThat(stacks[1]).hasMessageContaining("'another thread'");
    }

    private static Snapshot takenByName(LavaDB db) throws LavaDBException {
        return db.getSnapshot();
    }

    @Test
    void noMoreThanEightAreDescribed() throws Exception {
        List<Snapshot> left = new ArrayList<>();
        try (Lease lease = lease();
                LavaDB db = open(lease)) {
            for (int i = 0; i < 11; i++) {
                left.add(db.getSnapshot());
            }
        }
        left.forEach(Snapshot::close);
        assertThat(records).hasSize(1);
        String message = records.get(0).getMessage();
        assertThat(message).contains("with 11 snapshots of it open", "and 3 later ones");
        assertThat(message.split("a snapshot, by thread", -1)).hasSize(8 + 1);
        assertThat(records.get(0).getThrown().getSuppressed()).hasSize(8);
    }

    @Test
    void nothingIsLoggedOfSnapshotsThatWereClosedOrWillBe() throws Exception {
        try (Lease lease = lease()) {
            LavaDB db = open(lease);
            db.getSnapshot().close();
            Snapshot late = db.getSnapshot();
            late.expectLateClose();
            db.close();
            late.close();
        }
        assertThat(records).isEmpty();
    }

    /** Leaves a snapshot open in a JVM that keeps no stacks. */
    static final class WithoutStacks {
        public static void main(String[] args) throws Exception {
            LavaDB.loadLibrary(null);
            try (Lease lease = Host.acquire(64L << 20, 0.5)) {
                LavaDB db = LavaDB.open(new DBOptions(), args[0], lease, List.of());
                Snapshot left = db.getSnapshot();
                db.close();
                left.close();
            }
        }
    }

    @Test
    void withoutTheSwitchThereAreThreadAndAgeOnly() throws Exception {
        ChildJvm child =
                ChildJvm.run(
                        WithoutStacks.class, List.of("-da"), directory.resolve("db").toString());
        assertThat(child.exitCode).as(child.output).isZero();
        assertThat(child.output)
                .containsPattern(
                        "with 1 snapshot of it open.*\\s+a snapshot, by thread 'main' \\d+ ms")
                .contains("Set -Dorg.lavakv.leak.trace=true")
                .doesNotContain("opened here");
    }

    /** A snapshot that the garbage collector finds while its database stays open. */
    static final class Collected {
        public static void main(String[] args) throws Exception {
            LavaDB.loadLibrary(null);
            try (Lease lease = Host.acquire(64L << 20, 0.5);
                    LavaDB db = LavaDB.open(new DBOptions(), args[0], lease, List.of())) {
                Exercise.check(db.getSnapshot() != null);
                for (int i = 0; i < 200 && Host.leakedNativeObjects() == 0; i++) {
                    System.gc();
                    Thread.sleep(20);
                }
            }
        }
    }

    @Test
    void whatTheCleanerHasLoggedTheCloseDoesNotLogAgain() throws Exception {
        ChildJvm child =
                ChildJvm.run(Collected.class, List.of("-da"), directory.resolve("db").toString());
        assertThat(child.exitCode).as(child.output).isZero();
        assertThat(child.output)
                .contains("a snapshot of", "became unreachable", "It was opened by thread 'main'")
                .doesNotContain("of it open");
    }
}
