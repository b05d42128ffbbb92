// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The library's effect on its JVM: the JVM's own checks and its exit show no problem. */
class JvmTest {

    @TempDir Path directory;

    /** All calls, including refused ones, under the JVM's check of native calls. */
    static final class Checked {
        public static void main(String[] args) throws Exception {
            Exercise.check(new Exercise().call() == 0);
            System.out.println("checked");
        }
    }

    @Test
    void checkJniFindsNothing() throws Exception {
        ChildJvm child = ChildJvm.run(Checked.class, List.of());
        assertThat(child.output)
                .contains("checked")
                .doesNotContain("WARNING", "FATAL ERROR", "JNI local refs");
        assertThat(child.exitCode).as(child.output).isZero();
    }

    /** Ends its main method while everything is open and background work is running. */
    static final class OpenAtExit {
        private static Object kept;

        public static void main(String[] args) throws Exception {
            LavaDB.loadLibrary(null);
            Lease lease = Host.acquire(64L << 20, 0.5);
            DBOptions o = new DBOptions().setMemtableBytes(256 << 10);
            LavaDB db = LavaDB.open(o, args[0], lease, List.of());
            TableHandle t = db.createTable("t", new TableOptions());
            byte[] value = new byte[10_000];
            for (int i = 0; i < 2000; i++) {
                db.put(t, new byte[] {1, (byte) i, (byte) (i >> 8)}, 0, 3, 0, value, 0, 10_000);
            }
            kept = new Object[] {lease, db, db.getSnapshot()};
            Exercise.check(kept != null);
            ChildJvm.sayEnd();
        }
    }

    @Test
    void jvmEndsWithinFiveSecondsWhileNativeThreadsRun() throws Exception {
        ChildJvm child =
                ChildJvm.run(OpenAtExit.class, List.of(), directory.resolve("db").toString());
        assertThat(child.exitCode).as(child.output).isZero();
        assertThat(child.millisAfterMain()).as(child.output).isLessThan(5000);
    }

    /** Native threads that were attached would be among the JVM's threads. */
    static final class Threads {
        public static void main(String[] args) throws Exception {
            Thread.getAllStackTraces();
            Set<String> before = names();
            LavaDB.loadLibrary(null);
            try (Lease lease = Host.acquire(64L << 20, 0.5);
                    LavaDB db = LavaDB.open(new DBOptions(), args[0], lease, List.of())) {
                Exercise.use(db);
                Set<String> now = names();
                now.removeAll(before);
                now.remove("Cleaner-0");
                Exercise.check(Host.getStatistics().threads() > 0);
                System.out.println("new threads: " + now);
            }
        }

        private static Set<String> names() {
            return Thread.getAllStackTraces().keySet().stream()
                    .map(Thread::getName)
                    .collect(Collectors.toSet());
        }
    }

    @Test
    void nativeThreadsDoNotAttach() throws Exception {
        ChildJvm child = ChildJvm.run(Threads.class, List.of(), directory.resolve("db").toString());
        assertThat(child.output).contains("new threads: []");
        assertThat(child.exitCode).as(child.output).isZero();
    }

    /** Drops open objects; the cleaner must find, log and free them. */
    static final class Leaks {
        public static void main(String[] args) throws Exception {
            LavaDB.loadLibrary(null);
            leak(args[0]);
            Exercise.check(Host.openNativeObjects() == 3);
            for (int i = 0; i < 200 && Host.leakedNativeObjects() < 3; i++) {
                System.gc();
                Thread.sleep(20);
            }
            System.out.println("open: " + Host.openNativeObjects());
            System.out.println("leaked: " + Host.leakedNativeObjects());
            System.out.println("leases: " + Host.getStatistics().leasesOpen());
        }

        private static void leak(String path) throws LavaDBException {
            Lease lease = Host.acquire(64L << 20, 0.5);
            LavaDB db = LavaDB.open(new DBOptions(), path, lease, List.of());
            Exercise.check(db.getSnapshot() != null);
        }
    }

    @Test
    void forgottenObjectsAreFreedCountedAndLogged() throws Exception {
        ChildJvm child =
                ChildJvm.run(
                        Leaks.class,
                        List.of("-D" + Origin.TRACE_PROPERTY + "=true"),
                        directory.resolve("db").toString());
        assertThat(child.exitCode).as(child.output).isZero();
        assertThat(child.output)
                .contains("open: 0", "leaked: 3", "leases: 0")
                .contains("was not closed before it became unreachable")
                .contains("a snapshot of", "a memory lease", "a database")
                .contains("opened here, by thread 'main'", "JvmTest$Leaks.leak");
    }

    /** The check would report local references that accumulate. */
    static final class ManyCalls {
        public static void main(String[] args) throws Exception {
            LavaDB.loadLibrary(null);
            try (Lease lease = Host.acquire(64L << 20, 0.5);
                    LavaDB db = LavaDB.open(new DBOptions(), args[0], lease, List.of())) {
                TableHandle t = db.createTable("t", new TableOptions());
                byte[] k = {1, 2};
                db.put(t, k, 0, 2, 0, k, 0, 2);
                for (int i = 0; i < 1_000_000; i++) {
                    Exercise.check(db.get(t, k, 0, 2, 0).length == 2);
                }
                for (int i = 0; i < 10_000; i++) {
                    try {
                        MetadataInfo.read(k);
                    } catch (LavaDBException e) {
                        Exercise.check(e.getCode() == Status.Code.CORRUPTION);
                    }
                }
            }
            System.out.println("done");
        }
    }

    @Test
    void aMillionCallsLeaveNoReferences() throws Exception {
        ChildJvm child =
                ChildJvm.run(ManyCalls.class, List.of(), directory.resolve("db").toString());
        assertThat(child.exitCode).as(child.output).isZero();
        assertThat(child.output).contains("done").doesNotContain("WARNING");
    }
}
