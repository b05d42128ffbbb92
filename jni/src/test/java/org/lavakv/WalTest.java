// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Write-ahead logs, as Java sees them. */
class WalTest extends LavaTestBase {

    private static final TableOptions SEPARATED = new TableOptions().setSeparationBytes(1000);

    private Lease lease;

    @BeforeEach
    void acquire() throws Exception {
        lease = lease();
    }

    @AfterEach
    void release() {
        lease.close();
    }

    private String path(String name) {
        return directory.resolve(name).toString();
    }

    private LavaDB open(String name, DBOptions o) throws Exception {
        return LavaDB.open(o, path(name), lease, List.of());
    }

    private static TableHandle table(LavaDB db) throws Exception {
        return db.createTable("t", new TableOptions());
    }

    private static String large(String name, int i) {
        return (name + i + " ").repeat(5000);
    }

    /** Writes to two instances and then halts without closing them. */
    static final class Killed {
        public static void main(String[] args) throws Exception {
            LavaDB.loadLibrary(null);
            Lease lease = Host.acquire(64L << 20, 0.5);
            for (String name : List.of("a", "b")) {
                DBOptions o =
                        new DBOptions()
                                .setWalMode(WalMode.valueOf(args[1]))
                                .setLargeValueBytes(10_000);
                String path = Path.of(args[0], name).toString();
                LavaDB db = LavaDB.open(o, path, lease, List.of());
                TableHandle t = table(db);
                for (int i = 0; i < 1000; i++) {
                    put(db, t, "k" + i, name + i);
                }
                TableHandle large = db.createTable("large", SEPARATED);
                for (int i = 0; i < 20; i++) {
                    put(db, large, "k" + i, large(name, i));
                }
                WriteBatch batch = new WriteBatch();
                byte[] k = key("k7");
                batch.delete(t, k, 0, k.length, 0);
                db.write(batch);
            }
            Runtime.getRuntime().halt(9);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"WAL", "WAL_SYNC"})
    void whatAKilledProcessWroteIsThere(WalMode mode) throws Exception {
        ChildJvm child = ChildJvm.run(Killed.class, List.of(), directory.toString(), mode.name());
        assertThat(child.exitCode).as(child.output).isEqualTo(9);
        for (String name : List.of("a", "b")) {
            try (LavaDB db = open(name, new DBOptions().setWalMode(mode))) {
                TableHandle t = table(db);
                TableHandle large = db.createTable("large", SEPARATED);
                assertThat(db.getTableStatistics(large).largeBytes())
                        .isEqualTo(mode == WalMode.WAL ? 8 << 10 : 32 << 10);
                assertThat(db.getTableStatistics(t).largeBytes()).isZero();
                for (int i = 0; i < 20; i++) {
                    assertThat(get(db, large, "k" + i)).isEqualTo(large(name, i));
                }
                for (int i = 0; i < 1000; i++) {
                    assertThat(get(db, t, "k" + i)).isEqualTo(i == 7 ? null : name + i);
                }
            }
        }
    }

    @Test
    void anInstanceWithALogIsNotOpenedWithout() throws Exception {
        DBOptions o = new DBOptions().setWalMode(WalMode.WAL);
        open("db", o).close();
        assertThatThrownBy(() -> open("db", new DBOptions()))
                .isInstanceOf(LavaDBException.class)
                .hasMessageContaining("write-ahead log");
        DBOptions elsewhere = new DBOptions().setWalMode(WalMode.WAL).setWalDir(path("other"));
        assertThatThrownBy(() -> open("db", elsewhere))
                .isInstanceOf(LavaDBException.class)
                .hasMessageContaining(path("other"));
        open("db", o).close();
    }

    @Test
    void theLogsDirectoryIsTheUsersAlone() throws Exception {
        DBOptions o = new DBOptions().setWalMode(WalMode.WAL).setWalDir(path("logs"));
        try (LavaDB db = open("db", o)) {
            put(db, table(db), "k", "v");
            assertThat(Files.getPosixFilePermissions(Path.of(path("logs"))))
                    .hasSize(3)
                    .allMatch(permission -> permission.name().startsWith("OWNER"));
        }
    }

    @Test
    void destroyTakesFilesAndLog() throws Exception {
        DBOptions o = new DBOptions().setWalMode(WalMode.WAL);
        try (LavaDB db = open("db", o)) {
            put(db, table(db), "flushed", "v");
            db.flush();
            put(db, table(db), "logged", "v");
            assertThatThrownBy(() -> LavaDB.destroyDB(path("db"), o, lease))
                    .isInstanceOfSatisfying(
                            LavaDBException.class,
                            e -> assertThat(e.getCode()).isEqualTo(Status.Code.BUSY));
        }
        assertThatThrownBy(() -> LavaDB.destroyDB(path("db"), new DBOptions(), lease))
                .hasMessageContaining("write-ahead log");
        LavaDB.destroyDB(path("db"), o, lease);
        try (LavaDB db = open("db", o)) {
            assertThat(get(db, table(db), "flushed")).isNull();
            assertThat(get(db, table(db), "logged")).isNull();
        }
    }
}
